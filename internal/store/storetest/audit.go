package storetest

// Audits are queries, for both databases, that return a text for each delta-counted
// number that differs from a real count, and for each row whose page is gone.
// Drivers run them on stores that have been through Run.
func Audits() map[string]string { return audits }

var audits = map[string]string{
	"host_crawls": `SELECT hc.host_id || '/' || hc.crawl_id || ': ' || hc.known || ' known, ' || hc.unattempted || ' unattempted, ' || hc.living || ' living'
		FROM host_crawls hc
		WHERE hc.known <> (SELECT COUNT(*) FROM frontier f WHERE f.host_id = hc.host_id AND f.crawl_id = hc.crawl_id AND f.state = 1)
			OR hc.unattempted <> (SELECT COUNT(*) FROM frontier f
				WHERE f.host_id = hc.host_id AND f.crawl_id = hc.crawl_id AND f.state BETWEEN 2 AND 7 AND f.attempted = 0)
			OR hc.living <> (SELECT COUNT(*) FROM frontier f
				WHERE f.host_id = hc.host_id AND f.crawl_id = hc.crawl_id AND f.state BETWEEN 2 AND 7)`,
	"host_crawls of pages": `SELECT f.host_id || '/' || f.crawl_id FROM frontier f
		WHERE NOT EXISTS (SELECT 1 FROM host_crawls hc WHERE hc.host_id = f.host_id AND hc.crawl_id = f.crawl_id)`,
	"pages by state": `SELECT n.crawl_id || '/' || n.code || ': ' || SUM(n.n) FROM crawl_counts n
		WHERE n.kind = 'state' GROUP BY n.crawl_id, n.code
		HAVING SUM(n.n) <> (SELECT COUNT(*) FROM frontier f WHERE f.crawl_id = n.crawl_id AND f.state = n.code)`,
	"pages of traps": `SELECT n.crawl_id || '/' || n.code || ': ' || SUM(n.n) FROM crawl_counts n
		WHERE n.kind = 'trap' GROUP BY n.crawl_id, n.code
		HAVING SUM(n.n) <> (SELECT COUNT(*) FROM frontier f WHERE f.trap_id = n.code AND f.state = 10)`,
	"held pages of traps": `SELECT CAST(f.page_id AS TEXT) FROM frontier f
		WHERE f.state = 10 AND NOT EXISTS (SELECT 1 FROM traps t WHERE t.id = f.trap_id AND t.crawl_id = f.crawl_id AND t.state IN (1, 2, 3))`,
	"visits by outcome": `SELECT n.crawl_id || '/' || n.code || ': ' || SUM(n.n) FROM crawl_counts n
		WHERE n.kind = 'outcome' GROUP BY n.crawl_id, n.code
		HAVING SUM(n.n) <> (SELECT COUNT(*) FROM visits v JOIN pages p ON p.id = v.page_id WHERE p.crawl_id = n.crawl_id AND v.outcome = n.code)`,
	"totals": `SELECT n.crawl_id || '/' || n.code || ': ' || SUM(n.n) FROM crawl_counts n
		WHERE n.kind = 'total' GROUP BY n.crawl_id, n.code
		HAVING SUM(n.n) <> CASE n.code
			WHEN 1 THEN (SELECT COUNT(*) FROM visits v JOIN pages p ON p.id = v.page_id WHERE p.crawl_id = n.crawl_id)
			WHEN 2 THEN (SELECT COUNT(*) FROM versions v JOIN pages p ON p.id = v.page_id WHERE p.crawl_id = n.crawl_id)
			WHEN 3 THEN (SELECT COUNT(*) FROM links l JOIN pages p ON p.id = l.src WHERE p.crawl_id = n.crawl_id)
			WHEN 4 THEN (SELECT COUNT(*) FROM frontier f WHERE f.crawl_id = n.crawl_id AND f.state BETWEEN 2 AND 7 AND f.attempted = 0) END`,
	"backlinks": `SELECT f.page_id || ': ' || f.backlinks FROM frontier f
		WHERE f.backlinks <> (SELECT COUNT(*) FROM links l WHERE l.dst = f.page_id)`,
	"frontier": `SELECT CAST(p.id AS TEXT) FROM pages p LEFT JOIN frontier f ON f.page_id = p.id AND f.crawl_id = p.crawl_id AND f.host_id = p.host_id
		WHERE f.page_id IS NULL OR p.kind = 0 AND ((f.priority = 0) <> (p.level = 0) OR f.weight = 0 AND f.priority <> -p.level)`,
	"requisites by priority": `SELECT CAST(p.id AS TEXT) FROM pages p JOIN frontier f ON f.page_id = p.id
		WHERE (p.kind = 3) <> (f.priority <= -1000000)`,
	"visits in order": `SELECT CAST(f.page_id AS TEXT) FROM frontier f JOIN crawls c ON c.id = f.crawl_id
		WHERE (f.visit <> (SELECT COUNT(*) FROM visits v WHERE v.page_id = f.page_id) AND c.spec LIKE '%"max_visits":0%')
			OR f.visit <> (SELECT COALESCE(MAX(v.visit), 0) FROM visits v WHERE v.page_id = f.page_id)`,
	"contents": `SELECT c.digest || ': ' || c.refs FROM contents c
		WHERE c.refs <> (SELECT COUNT(*) FROM versions v WHERE v.digest = c.digest)`,
	"contents of versions": `SELECT v.digest FROM versions v
		WHERE v.digest <> '' AND NOT EXISTS (SELECT 1 FROM contents c WHERE c.digest = v.digest)`,
	"lines": `SELECT l.host_id || '/' || l.crawl_id || '/' || l.class || ': ' || l.waiting FROM lines l
		WHERE l.waiting <> (SELECT COUNT(*) FROM places p
			WHERE p.host_id = l.host_id AND p.crawl_id = l.crawl_id AND p.class = l.class AND p.state = 1 AND p.lapsed_at = 0)`,
	"links of pages": `SELECT l.src || ' to ' || l.dst FROM links l
		WHERE NOT EXISTS (SELECT 1 FROM pages p WHERE p.id = l.src) OR NOT EXISTS (SELECT 1 FROM pages p WHERE p.id = l.dst)`,
	"sketches of last versions": `SELECT 'page ' || k.page_id FROM sketches k JOIN frontier f ON f.page_id = k.page_id
		WHERE k.version_id < f.version_id AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.id = k.version_id AND v.back_visit > f.visit)
			OR k.crawl_id <> f.crawl_id`,
	"keys of sketches": `SELECT 'page ' || t.page_id FROM sketch_keys t
		WHERE NOT EXISTS (SELECT 1 FROM sketches k WHERE k.page_id = t.page_id AND k.crawl_id = t.crawl_id)`,
	"duplicates of their originals": `SELECT 'page ' || d.page_id FROM duplicates d
		WHERE NOT EXISTS (SELECT 1 FROM pages p WHERE p.id = d.of_page AND p.crawl_id = d.crawl_id)`,
	"places of pages":        ofPages("places"),
	"variants of pages":      ofPages("variants"),
	"sketches of pages":      ofPages("sketches"),
	"duplicates of pages":    ofPages("duplicates"),
	"frontier of pages":      ofPages("frontier"),
	"evictions of pages":     ofPages("evictions"),
	"visits of pages":        ofPages("visits"),
	"versions of pages":      ofPages("versions"),
	"pending links of pages": ofPages("pending_links"),
	"sources of pages":       ofPages("sources"),
	"wordings of pages":      ofPages("wordings"),
	"changes of crawls":      `SELECT 'change ' || n.id FROM changes n WHERE n.crawl_id <> 0 AND NOT EXISTS (SELECT 1 FROM crawls c WHERE c.id = n.crawl_id)`,
	"sinks of crawls":        `SELECT n.name FROM sinks n WHERE NOT EXISTS (SELECT 1 FROM crawls c WHERE c.id = n.crawl_id)`,
	"undelivered of sinks": `SELECT 'change ' || u.change_id FROM undelivered u
		WHERE NOT EXISTS (SELECT 1 FROM sinks n WHERE n.crawl_id = u.crawl_id AND n.name = u.sink)`,
	"undelivered of pages": `SELECT 'change ' || u.change_id FROM undelivered u JOIN changes n ON n.id = u.change_id AND n.kind < 13
		WHERE NOT EXISTS (SELECT 1 FROM pages p WHERE p.id = u.page_id)`,
	"sources by kind": `SELECT CAST(p.id AS TEXT) FROM pages p LEFT JOIN sources o ON o.page_id = p.id
		WHERE CASE p.kind WHEN 3 THEN 0 ELSE p.kind END <> COALESCE(o.kind, 0) OR o.crawl_id <> p.crawl_id OR o.host_id <> p.host_id`,
}

// ofPages finds rows of a table whose page is gone.
func ofPages(table string) string {
	return `SELECT 'page ' || t.page_id FROM ` + table + ` t WHERE NOT EXISTS (SELECT 1 FROM pages p WHERE p.id = t.page_id)`
}
