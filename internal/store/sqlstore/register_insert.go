package sqlstore

import (
	"context"
	"fmt"

	"recrawl/internal/crawl"
	"recrawl/internal/rank"
	"recrawl/internal/store"
)

// insertFound inserts what is new of URLs: pages, sources, links and their places in the frontier.
func (s *Store) insertFound(ctx context.Context, tx Tx, p store.RegisterParams, urls []foundURL, d *deltas, now int64) error {
	if err := s.insertPages(ctx, tx, p, urls, now); err != nil {
		return err
	}
	if err := s.insertSources(ctx, tx, p.CrawlID, urls, now); err != nil {
		return err
	}
	if err := s.countBrought(ctx, tx, p, urls); err != nil {
		return err
	}
	if err := s.settleRequisites(ctx, tx, urls, d); err != nil {
		return err
	}
	if err := s.insertLinks(ctx, tx, p.From, urls, d); err != nil {
		return err
	}
	if err := s.settleTraps(ctx, tx, p, urls); err != nil {
		return err
	}
	return s.insertFrontier(ctx, tx, p, urls, d)
}

// insertPages inserts the URLs that the crawl has not seen and finds out the
// ids and states of all: ID, isNew, isCloser.
func (s *Store) insertPages(ctx context.Context, tx Tx, p store.RegisterParams, urls []foundURL, now int64) error {
	hash := s.engine.Dialect().Unhex("r.hash")
	list := jsonText(urls)
	insert := `INSERT INTO pages (crawl_id, url_hash, url, host_id, level, hops, kind, found_at, found_from)
		SELECT CAST($2 AS BIGINT), ` + hash + `, r.url, r.host_id, r.level, r.hops, r.kind, CAST($3 AS BIGINT), CAST($4 AS BIGINT)
		FROM ` + s.records(1, "r", "hash text", "url text", "host_id bigint", "level bigint", "hops bigint", "kind bigint") + `
		WHERE NOT EXISTS (SELECT 1 FROM pages p WHERE p.crawl_id = ` + ofEach(2, "r.level") + ` AND p.url_hash = ` + hash + `)
		ORDER BY r.hash
		ON CONFLICT (crawl_id, url_hash) DO NOTHING
		RETURNING id`
	isNew := map[int64]bool{}
	inserted := Step{Query: insert, Args: []any{list, p.CrawlID, now, p.From}, Scan: func(row Row) error {
		id, err := scanID(row)
		isNew[id] = true
		return err
	}}
	found := 0
	if err := tx.Pipeline(ctx, inserted, s.findIDs(p.CrawlID, list, urls, isNew, &found)); err != nil {
		return fmt.Errorf("insert and find pages: %w", err)
	}
	if found != len(urls) {
		return fmt.Errorf("find pages: %d of %d are there after their insertion: %w", found, len(urls), errVanished)
	}
	return nil
}

// findIDs sets ID, isNew and isCloser of those URLs that are in the table, and counts them.
func (s *Store) findIDs(crawlID int64, list string, urls []foundURL, isNew map[int64]bool, found *int) Step {
	byHash := make(map[string]*foundURL, len(urls))
	for i := range urls {
		byHash[urls[i].Hash] = &urls[i]
	}
	query := `SELECT p.id, r.hash, p.url, p.level, p.hops, p.kind
		FROM ` + s.records(1, "r", "hash text") + ` CROSS JOIN pages p
		WHERE p.crawl_id = ` + ofEach(2, "length(r.hash)") + ` AND p.url_hash = ` + s.engine.Dialect().Unhex("r.hash")
	return Step{Query: query, Args: []any{list, crawlID}, Scan: func(row Row) error {
		var id, kind int64
		var hash, url string
		var level, hops int
		if err := row.Scan(&id, &hash, &url, &level, &hops, &kind); err != nil {
			return err
		}
		u := byHash[hash]
		if u.URL != url {
			return collisionError(url, u.URL)
		}
		u.ID, u.was, u.isNew, u.isCloser = id, kind, isNew[id], u.Level < level || u.Hops < hops
		*found++
		return nil
	}}
}

// insertLinks inserts the links from a page and marks those that were new.
func (s *Store) insertLinks(ctx context.Context, tx Tx, from int64, urls []foundURL, d *deltas) error {
	if from == 0 {
		return nil
	}
	byID := make(map[int64]*foundURL, len(urls))
	ids := make([]int64, 0, len(urls))
	for i := range urls {
		if urls[i].ID != from && !urls[i].listed {
			byID[urls[i].ID] = &urls[i]
			ids = append(ids, urls[i].ID)
		}
	}
	query := `INSERT INTO links (src, dst)
		SELECT CAST($2 AS BIGINT), r.id FROM ` + s.records(1, "r", "id bigint") + `
		WHERE true ORDER BY r.id
		ON CONFLICT (src, dst) DO NOTHING
		RETURNING dst`
	added, err := collect(ctx, tx, query, []any{idList(ids), from}, scanID)
	if err != nil {
		return fmt.Errorf("insert links: %w", err)
	}
	for _, dst := range added {
		byID[dst].newLink = true
	}
	d.total(totalLinks, int64(len(added)))
	return nil
}

// frontierRecord is a new row of frontier.
type frontierRecord struct {
	ID        int64   `json:"id"`
	HostID    int64   `json:"host_id"`
	State     int64   `json:"state"`
	TrapID    int64   `json:"trap_id"`
	Priority  float64 `json:"priority"`
	Backlinks int     `json:"backlinks"`
	Spelling  string  `json:"spelling"`
}

// insertFrontier makes the new pages Known, or Held.
func (s *Store) insertFrontier(ctx context.Context, tx Tx, p store.RegisterParams, urls []foundURL, d *deltas) error {
	var rows []frontierRecord
	for _, u := range urls {
		if !u.isNew {
			continue
		}
		rec := frontierRecord{ID: u.ID, HostID: u.HostID, State: int64(crawl.Known), Priority: u.priority(), Spelling: u.spelling}
		if u.trap != 0 {
			rec.State, rec.TrapID = int64(crawl.Held), u.trap
			d.held(u.trap, 1)
		}
		if u.newLink {
			rec.Backlinks = 1
		}
		rows = append(rows, rec)
		d.moves(u.HostID, 0, crawl.PageState(rec.State), 1)
	}
	if len(rows) == 0 {
		return nil
	}
	query := `INSERT INTO frontier (page_id, crawl_id, host_id, state, trap_id, priority, backlinks, spelling)
		SELECT r.id, CAST($2 AS BIGINT), r.host_id, r.state, r.trap_id, r.priority, r.backlinks, r.spelling
		FROM ` + s.records(1, "r", "id bigint", "host_id bigint", "state bigint", "trap_id bigint", "priority float", "backlinks bigint", "spelling text") + `
		WHERE true ORDER BY r.id`
	if err := tx.Queue(ctx, query, jsonText(rows), p.CrawlID); err != nil {
		return fmt.Errorf("insert into the frontier: %w", err)
	}
	return nil
}

// priority orders a host's known pages for admission until they are ranked, highest
// first: the pages nearest to a seed, the sources that they name before them.
// Sources that an index names are spread over the levels, so that a long index keeps
// no page from its turn.
func (u foundURL) priority() float64 {
	kind := u.Kind
	if !u.isNew {
		kind = u.was
	}
	switch crawl.PageKind(kind) {
	case crawl.KindPage:
		return rank.Priority(u.Level, 0)
	case crawl.KindRequisite:
		return requisitePriority
	}
	// Never 0, which is a seed's.
	return 0.45 - float64(u.Level) - float64(u.place)/sourcesPerLevel
}
