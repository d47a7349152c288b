-- The view for people has only changes: not the rows of the feed for visits that found
-- another version of the same text (kind 20), which are for exports.
DROP VIEW recrawl_changes;
CREATE VIEW recrawl_changes AS
SELECT c.id, 'c1.' || f.epoch || '.' || c.id AS cursor, w.name AS crawl,
    CASE c.kind
        WHEN 1 THEN 'page.new' WHEN 2 THEN 'page.changed' WHEN 3 THEN 'page.gone' WHEN 4 THEN 'page.back'
        WHEN 5 THEN 'page.moved' WHEN 6 THEN 'page.failing' WHEN 7 THEN 'page.recovered' WHEN 8 THEN 'page.excluded'
        WHEN 9 THEN 'page.duplicate' WHEN 10 THEN 'page.stopped' WHEN 11 THEN 'page.evicted' WHEN 12 THEN 'page.resumed'
        WHEN 13 THEN 'page.forgotten' WHEN 14 THEN 'crawl.state' WHEN 15 THEN 'crawl.spec' WHEN 16 THEN 'trap.held'
        WHEN 17 THEN 'host.blocked' WHEN 18 THEN 'sink.paused' WHEN 19 THEN 'feed.gap' END AS kind,
    strftime('%Y-%m-%dT%H:%M:%SZ', c.at / 1000000, 'unixepoch') AS at,
    NULLIF(c.page_id, 0) AS page_id, p.url, h.host, x.title, NULLIF(c.visit, 0) AS visit, NULLIF(v.status, 0) AS status, NULLIF(v.location, '') AS location,
    NULLIF(c.seq, 0) AS version,
    CASE WHEN c.data <> '' THEN CAST(c.data ->> '$.from' AS INTEGER) WHEN c.kind = 2 THEN NULLIF(c.seq - 1, 0) WHEN c.kind BETWEEN 3 AND 9 THEN NULLIF(c.seq, 0) END AS version_before,
    CASE WHEN c.data <> '' THEN CAST(c.data ->> '$.returned_to' AS INTEGER) END AS returned_to,
    CASE WHEN c.data <> '' THEN c.data ->> '$.was' WHEN c.kind = 4 THEN 'gone' WHEN c.kind = 7 THEN 'failing' WHEN c.kind = 12 THEN 'stopped' WHEN c.kind <= 11 THEN 'active' END AS was,
    CASE WHEN c.data <> '' THEN c.data ->> '$.state' WHEN c.kind = 3 THEN 'gone' WHEN c.kind = 5 THEN 'redirect' WHEN c.kind = 6 THEN 'failing' WHEN c.kind = 8 THEN 'excluded'
        WHEN c.kind = 9 THEN 'duplicate' WHEN c.kind = 10 THEN 'stopped' WHEN c.kind = 11 THEN 'evicted' WHEN c.kind <= 12 THEN 'active' END AS state,
    NULLIF(c.data, '') AS data
FROM feed f CROSS JOIN changes c
    LEFT JOIN crawls w ON w.id = c.crawl_id
    LEFT JOIN pages p ON p.id = c.page_id
    LEFT JOIN hosts h ON h.id = COALESCE(p.host_id, CASE WHEN c.data <> '' THEN CAST(c.data ->> '$.host_id' AS INTEGER) END)
    LEFT JOIN visits v ON v.page_id = c.page_id AND v.visit = c.visit
    LEFT JOIN versions x ON x.page_id = c.page_id AND x.seq = c.seq
WHERE c.kind <> 20;
