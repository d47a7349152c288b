package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/trap"
	"recrawl/internal/urlkey"
)

// copied is the least resemblance at which a page counts as a copy. Near versions,
// which a crawl may list from any resemblance on, have contents of their own.
var copied = fmt.Sprint(change.DefaultThreshold)

// growingStates are the page states that count in a check of a crawl's growth.
var growingStates = slices.DeleteFunc(crawl.PageStates(), func(state crawl.PageState) bool { return state == crawl.Kept })

// GrownPages implements store.Guard. A page that is committed after others with higher ids
// would be passed, and never counted. So it finds the settled ids first, as Changes does.
func (s *Store) GrownPages(ctx context.Context, crawlID int64, limit int) (store.Growth, error) {
	settled, err := s.engine.Settled(ctx, OrderedPages)
	if err != nil {
		return store.Growth{}, fmt.Errorf("growth of crawl %d: %w", crawlID, err)
	}
	growth, err := read(ctx, s, func(tx Tx) (store.Growth, error) {
		var g store.Growth
		err := tx.QueryRow(ctx, `SELECT through FROM guarded WHERE crawl_id = $1`, []any{crawlID}, &g.From)
		if err := ignoreNotFound(err); err != nil {
			return g, err
		}
		ids, err := mergeStates(growingStates, limitOr(limit), func(state crawl.PageState, through int64) ([]int64, error) {
			query := fmt.Sprintf(`SELECT f.page_id FROM frontier f WHERE f.crawl_id = $1 AND f.state = %d AND f.page_id > $2 AND f.page_id <= $4 ORDER BY f.page_id LIMIT $3`, state)
			return collect(ctx, tx, query, []any{crawlID, g.From, limitOr(limit), min(settled.ID, through)}, scanID)
		})
		if err != nil {
			return g, err
		}
		if g.Pages, err = s.loadGrown(ctx, tx, ids); err != nil {
			return g, err
		}
		g.Through = g.From
		if len(ids) > 0 {
			g.Through = ids[len(ids)-1]
		}
		return g, nil
	})
	if err != nil {
		return store.Growth{}, fmt.Errorf("growth of crawl %d: %w", crawlID, err)
	}
	return growth, nil
}

func scanGrown(row Row) (store.GrownPage, error) {
	var p store.GrownPage
	var state, attempted uint8
	var priority float64
	err := row.Scan(&p.PageID, &p.HostID, &p.URL, &state, &attempted, &priority)
	p.State, p.Attempted, p.Requisite = crawl.PageState(state), attempted != 0, isRequisite(priority)
	return p, err
}

// loadGrown loads pages by id.
func (s *Store) loadGrown(ctx context.Context, tx Tx, ids []int64) ([]store.GrownPage, error) {
	query := `SELECT f.page_id, f.host_id, p.url, f.state, f.attempted, f.priority FROM ` + s.records(1, "r", "id bigint") + `
			CROSS JOIN frontier f CROSS JOIN pages p
		WHERE f.page_id = r.id AND p.id = r.id ORDER BY f.page_id`
	return collect(ctx, tx, query, []any{idList(ids)}, scanGrown)
}

// PagesAfter implements store.Guard.
func (s *Store) PagesAfter(ctx context.Context, p store.PagesAfterParams) ([]store.GrownPage, error) {
	pages, err := read(ctx, s, func(tx Tx) ([]store.GrownPage, error) {
		query := fmt.Sprintf(`SELECT f.page_id FROM frontier f WHERE f.crawl_id = $1 AND f.state = %d AND f.page_id > $2 ORDER BY f.page_id LIMIT $3`, crawl.Known)
		args := []any{p.CrawlID, p.After, limitOr(p.Limit)}
		if p.Host != "" {
			var host int64
			err := tx.QueryRow(ctx, `SELECT id FROM hosts WHERE host = $1`, []any{s.grouping.Unit(clean(p.Host))}, &host)
			if err != nil {
				return nil, ignoreNotFound(err)
			}
			query = `SELECT f.page_id FROM frontier f WHERE f.crawl_id = $1 AND f.page_id > $2 AND f.host_id = $4 ORDER BY f.page_id LIMIT $3`
			args = append(args, host)
		}
		ids, err := collect(ctx, tx, query, args, scanID)
		if err != nil {
			return nil, err
		}
		return s.loadGrown(ctx, tx, ids)
	})
	if err != nil {
		return nil, fmt.Errorf("pages of crawl %d after %d: %w", p.CrawlID, p.After, err)
	}
	return pages, nil
}

// Evidence implements store.Guard. The pages are chosen, by indexes alone, before anything else
// is read about them. Most are among both the newest of their host and its newest admitted ones.
func (s *Store) Evidence(ctx context.Context, p store.EvidenceParams) ([]store.EvidencePage, error) {
	look := s.engine.Read
	if len(p.Hosts) == 1 && p.Admitted {
		look = s.engine.Glance // a visit asks
	}
	pages, err := inTx(ctx, look, func(tx Tx) ([]store.EvidencePage, error) {
		all := s.chosenEvidence(p)
		if len(all) == 1 {
			query := evidenceOf(`(SELECT *`+all[0].from+`) AS f`) + ` ORDER BY f.page_id`
			return collect(ctx, tx, query, []any{p.CrawlID, all[0].about, limitOr(p.Each)}, scanEvidence)
		}
		var ids []int64
		for _, c := range all {
			some, err := collect(ctx, tx, `SELECT page_id`+c.from, []any{p.CrawlID, c.about, limitOr(p.Each)}, scanID)
			if err != nil {
				return nil, err
			}
			ids = append(ids, some...)
		}
		slices.Sort(ids)
		listed := s.records(1, "r", "id bigint") + ` CROSS JOIN frontier f`
		return collect(ctx, tx, evidenceOf(listed)+` AND f.page_id = r.id ORDER BY f.page_id`, []any{idList(slices.Compact(ids))}, scanEvidence)
	})
	if err != nil {
		return nil, fmt.Errorf("evidence of crawl %d: %w", p.CrawlID, err)
	}
	return pages, nil
}

// chosen are the newest pages of a host, or of a state.
type chosen struct {
	from  string // with the crawl, the host or state, and the limit as arguments
	about int64
}

func (s *Store) chosenEvidence(p store.EvidenceParams) []chosen {
	newest := func(index, which, order string, about int64) chosen {
		from := ` FROM frontier` + s.engine.Dialect().Index(index) + ` WHERE crawl_id = $1 AND ` + which + ` ORDER BY ` + order + ` LIMIT $3`
		return chosen{from, about}
	}
	// The host is a part of the place, as in HostRequests: in the order of the pages alone,
	// Postgres walks through all newer pages of the crawl until it has some of the host.
	const byHost = `host_id DESC, crawl_id DESC, page_id DESC`
	ofHost := s.engine.Dialect().Within("host_id, crawl_id", "$2, $1")
	var all []chosen
	for _, host := range p.Hosts {
		if !p.Admitted {
			all = append(all, newest("frontier_host", ofHost, byHost, host))
		}
		all = append(all, newest("frontier_admitted", ofHost+" AND state BETWEEN 2 AND 7", byHost, host))
	}
	if len(p.Hosts) == 0 {
		for _, state := range crawl.LivingStates() {
			all = append(all, newest("frontier_state", "state = $2", "page_id DESC", int64(state)))
		}
	}
	return all
}

// evidenceOf reads about the rows f of the frontier, in the order of their pages.
func evidenceOf(from string) string {
	return `SELECT f.page_id, f.host_id, p.url, f.state, f.attempted, f.priority, p.found_from, CASE WHEN f.version_id > 0 THEN 1 ELSE 0 END,
			COALESCE((SELECT d.of_page FROM duplicates d WHERE f.version_id > 0 AND d.page_id = f.page_id AND d.version_id = f.version_id AND d.resemblance >= ` + copied + `), 0),
			COALESCE((SELECT k.looked FROM sketches k WHERE k.version_id = f.version_id), 0),
			CASE WHEN f.version_id > 0 AND EXISTS (SELECT 1 FROM pending_links l WHERE l.version_id = f.version_id) THEN 1 ELSE 0 END,
			COALESCE(y.phrases, -1), y.sample
		FROM ` + from + ` CROSS JOIN pages p LEFT JOIN wordings y ON y.page_id = f.page_id
		WHERE p.id = f.page_id`
}

func scanEvidence(row Row) (store.EvidencePage, error) {
	var e store.EvidencePage
	var state, attempted uint8
	var content, compared, pending, phrases int
	var priority float64
	var sample []byte
	err := row.Scan(&e.PageID, &e.HostID, &e.URL, &state, &attempted, &priority, &e.Finder, &content, &e.Of, &compared, &pending, &phrases, &sample)
	if err != nil {
		return store.EvidencePage{}, err
	}
	e.State, e.Attempted, e.Content, e.Copy, e.Pending = crawl.PageState(state), attempted != 0, content != 0, e.Of != 0, pending != 0
	e.Compared = compared != 0
	e.Requisite = isRequisite(priority)
	if e.Said, err = decodeWording(phrases, sample); err != nil {
		return store.EvidencePage{}, fmt.Errorf("page %d: %w", e.PageID, err)
	}
	return e, nil
}

// prefixRow is a row of prefixes to be added to.
type prefixRow struct {
	HostID int64  `json:"host_id"`
	Prefix string `json:"prefix"`
	Pages  int    `json:"pages"`
}

// EndLook implements store.Guard.
func (s *Store) EndLook(ctx context.Context, p store.EndLookParams) ([]store.PrefixRecord, error) {
	rows := make([]prefixRow, 0, len(p.Found))
	for _, f := range p.Found {
		rows = append(rows, prefixRow{f.HostID, storedPrefix(f.Prefix), f.Pages})
	}
	rows = added(rows)
	counts, err := write(ctx, s, func(tx Tx) ([]store.PrefixRecord, error) {
		if err := moveGuard(ctx, tx, p); err != nil {
			return nil, err
		}
		if err := s.stillThere(ctx, tx, p.Pages); err != nil {
			return nil, err
		}
		query := `INSERT INTO prefixes (crawl_id, host_id, prefix, pages)
			SELECT CAST($2 AS BIGINT), r.host_id, r.prefix, r.pages
			FROM ` + s.records(1, "r", "host_id bigint", "prefix text", "pages bigint") + `
			WHERE true ORDER BY r.host_id, r.prefix
			ON CONFLICT (crawl_id, host_id, prefix) DO UPDATE SET pages = prefixes.pages + excluded.pages
			RETURNING host_id, prefix, pages`
		return collect(ctx, tx, query, []any{jsonText(rows), p.CrawlID}, func(row Row) (c store.PrefixRecord, err error) {
			err = row.Scan(&c.HostID, &c.Prefix, &c.Pages)
			return c, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("end the look at crawl %d: %w", p.CrawlID, err)
	}
	return counts, nil
}

// storedPrefix is the part of a prefix that counts.
func storedPrefix(prefix string) string {
	if prefix = clean(prefix); len(prefix) > store.MaxPrefix {
		prefix = clean(prefix[:store.MaxPrefix])
	}
	return prefix
}

// uncountPrefixes takes pages of a crawl, with the hosts of their rows, out of the counts by
// prefix, if the guard has counted them. A prefix without pages goes: it may be the address of the
// only page that it ever had. The lock keeps the guard from counting them just now.
func (s *Store) uncountPrefixes(ctx context.Context, tx Tx, crawlID int64, pages []store.GrownPage) error {
	var through int64
	err := tx.QueryRow(ctx, `SELECT through FROM guarded WHERE crawl_id = $1`+s.lock(), []any{crawlID}, &through)
	if err != nil {
		return ignoreNotFound(err)
	}
	pages = slices.DeleteFunc(pages, func(p store.GrownPage) bool { return p.PageID > through || p.Requisite })
	var rows []prefixRow
	for _, p := range pages {
		u, err := urlkey.Canonical(p.URL)
		if err != nil {
			continue
		}
		for _, prefix := range trap.Prefixes(u) {
			rows = append(rows, prefixRow{p.HostID, storedPrefix(prefix), 1})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	list := jsonText(added(rows))
	each := s.records(1, "r", "host_id bigint", "prefix text", "pages bigint")
	_, err = tx.Exec(ctx, `UPDATE prefixes SET pages = prefixes.pages - r.pages FROM `+each+`
		WHERE prefixes.crawl_id = `+ofEach(2, "r.pages")+` AND prefixes.host_id = r.host_id AND prefixes.prefix = r.prefix`, list, crawlID)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM prefixes WHERE pages <= 0
		AND (crawl_id, host_id, prefix) IN (SELECT `+ofEach(2, "r.pages")+`, r.host_id, r.prefix FROM `+each+`)`, list, crawlID)
	return err
}

// added merges rows with the same key, which one statement must not write twice.
func added(rows []prefixRow) []prefixRow {
	slices.SortFunc(rows, func(a, b prefixRow) int {
		return cmp.Or(cmp.Compare(a.HostID, b.HostID), cmp.Compare(a.Prefix, b.Prefix))
	})
	sum := rows[:0]
	for _, r := range rows {
		if n := len(sum); n > 0 && sum[n-1].HostID == r.HostID && sum[n-1].Prefix == r.Prefix {
			sum[n-1].Pages += r.Pages
		} else {
			sum = append(sum, r)
		}
	}
	return sum
}

// moveGuard records how far the guard has read.
func moveGuard(ctx context.Context, tx Tx, p store.EndLookParams) error {
	moved, err := tx.Exec(ctx, `UPDATE guarded SET through = $3 WHERE crawl_id = $1 AND through = $2`, p.CrawlID, p.From, p.Through)
	if err == nil && moved == 0 && p.From == 0 {
		moved, err = tx.Exec(ctx, `INSERT INTO guarded (crawl_id, through) VALUES ($1, $2) ON CONFLICT (crawl_id) DO NOTHING`, p.CrawlID, p.Through)
	}
	if err == nil && moved == 0 {
		err = fmt.Errorf("%w: %w", store.ErrConflict, errNotFrom)
	}
	return err
}

// stillThere returns a conflict if a page has been removed since it was looked at: nothing would
// take it out of the counts any more.
func (s *Store) stillThere(ctx context.Context, tx Tx, ids []int64) error {
	var n int
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM `+s.records(1, "r", "id bigint")+` CROSS JOIN frontier f WHERE f.page_id = r.id`, []any{idList(ids)}, &n)
	if err == nil && n < len(ids) {
		err = fmt.Errorf("%w: %d of the pages are gone", store.ErrConflict, len(ids)-n)
	}
	return err
}

var errNotFrom = errors.New("the pages have been counted")

// Dominating implements store.Guard.
func (s *Store) Dominating(ctx context.Context, crawlID int64, limit int) ([]store.PrefixRecord, error) {
	query := `SELECT x.host_id, h.host, x.prefix, x.pages
		FROM (SELECT * FROM prefixes WHERE crawl_id = $1 ORDER BY pages DESC LIMIT $2) AS x CROSS JOIN hosts h
		WHERE h.id = x.host_id ORDER BY x.pages DESC, x.host_id, x.prefix`
	found, err := read(ctx, s, func(tx Tx) ([]store.PrefixRecord, error) {
		return collect(ctx, tx, query, []any{crawlID, limitOr(limit)}, func(row Row) (c store.PrefixRecord, err error) {
			err = row.Scan(&c.HostID, &c.Host, &c.Prefix, &c.Pages)
			return c, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("dominating prefixes of crawl %d: %w", crawlID, err)
	}
	return found, nil
}
