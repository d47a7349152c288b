package sqlstore

import (
	"context"
	"fmt"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// requisitePriority is that of all requisites: below any page's, so that they come after all
// pages of their host. The index frontier_requisites has the rows that have it.
const requisitePriority = -1_000_000

// areRequisites selects them among rows of the frontier, in the words of the index.
const areRequisites = `f.priority <= -1000000`

func isRequisite(priority float64) bool { return priority <= requisitePriority }

// livingRequisites counts the requisites of a crawl that are on their way to a visit. They
// take no place of a page.
func livingRequisites(ctx context.Context, tx Tx, crawlID int64) (n int64, err error) {
	query := fmt.Sprintf(`SELECT COUNT(*) FROM frontier f WHERE f.crawl_id = $1 AND `+areRequisites+` AND f.state BETWEEN %d AND %d`, crawl.Active, crawl.Excluded)
	if err := tx.QueryRow(ctx, query, []any{crawlID}, &n); err != nil {
		return 0, fmt.Errorf("count requisites on their way: %w", err)
	}
	return n, nil
}

// knownRequisites lists up to n requisites that wait for admission at hosts with room in
// their windows: they can come in while the collection is full.
func (s *Store) knownRequisites(ctx context.Context, tx Tx, crawlID, window int64, n int) ([]int64, error) {
	query := fmt.Sprintf(`SELECT f.page_id FROM frontier f%s CROSS JOIN host_crawls hc
		WHERE f.crawl_id = $1 AND `+areRequisites+` AND f.state = %d
			AND hc.host_id = f.host_id AND hc.crawl_id = f.crawl_id AND hc.unattempted < $2
		ORDER BY f.page_id LIMIT $3`, s.engine.Dialect().Index("frontier_requisites"), crawl.Known)
	ids, err := collect(ctx, tx, query, []any{crawlID, window, n}, scanID)
	if err != nil {
		return nil, fmt.Errorf("requisites that wait: %w", err)
	}
	return ids, nil
}

// settleRequisites decides the kind of known pages that were found as another kind than
// before. A page without content that pages show becomes a requisite, if its address looks
// like one; a requisite without a copy to which a page links becomes a page, unless its
// address looks like a requisite's. A page with content keeps its kind.
func (s *Store) settleRequisites(ctx context.Context, tx Tx, urls []foundURL, d *deltas) error {
	var requisites []int64
	var pages []levelRecord
	for i, u := range urls {
		switch {
		case u.isNew:
		case crawl.PageKind(u.Kind) == crawl.KindRequisite && crawl.PageKind(u.was) == crawl.KindPage && u.looks:
			requisites = append(requisites, u.ID)
		case crawl.PageKind(u.Kind) == crawl.KindPage && crawl.PageKind(u.was) == crawl.KindRequisite && !u.looks:
			pages = append(pages, levelRecord{ID: u.ID, Level: u.Level, Hops: u.Hops})
			urls[i].isCloser = false
		}
	}
	made, err := s.makeRequisites(ctx, tx, requisites)
	if err != nil {
		return fmt.Errorf("make requisites of pages: %w", err)
	}
	for i, u := range urls {
		if made[u.ID] {
			urls[i].was = int64(crawl.KindRequisite)
		}
	}
	if err := s.makePages(ctx, tx, pages, d); err != nil {
		return fmt.Errorf("make pages of requisites: %w", err)
	}
	return nil
}

// makeRequisites turns pages without content, except seeds, into requisites. One that has a
// workflow is visited as a requisite when it is due. It returns those that it changed.
func (s *Store) makeRequisites(ctx context.Context, tx Tx, ids []int64) (map[int64]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	query := fmt.Sprintf(`UPDATE frontier SET priority = %d, rank = 0, weight = 0, linking_hosts = 0, inner_links = 0
		WHERE page_id IN (%s) AND version_id = 0 AND priority <> 0 AND (state = %d OR state BETWEEN %d AND %d)
			AND EXISTS (SELECT 1 FROM pages p WHERE p.id = frontier.page_id AND p.kind = %d)`,
		requisitePriority, s.ids(1), crawl.Known, crawl.Active, crawl.Excluded, crawl.KindPage)
	if _, err := tx.Exec(ctx, query, idList(ids)); err != nil {
		return nil, err
	}
	query = fmt.Sprintf(`UPDATE pages SET kind = %d WHERE id IN (%s) AND kind = %d
		AND EXISTS (SELECT 1 FROM frontier f WHERE f.page_id = pages.id AND +f.priority <= %d) RETURNING id`,
		crawl.KindRequisite, s.ids(1), crawl.KindPage, requisitePriority)
	made := map[int64]bool{}
	err := tx.Query(ctx, query, []any{idList(ids)}, func(row Row) error {
		var id int64
		err := row.Scan(&id)
		made[id] = true
		return err
	})
	return made, err
}

// makePages turns requisites without a copy and without a workflow into known pages.
func (s *Store) makePages(ctx context.Context, tx Tx, found []levelRecord, d *deltas) error {
	if len(found) == 0 {
		return nil
	}
	ids := make([]int64, len(found))
	for i, p := range found {
		ids[i] = p.ID
	}
	query := fmt.Sprintf(`SELECT f.page_id, f.host_id, f.state FROM frontier f
		WHERE f.page_id IN (%s) AND f.version_id = 0 AND f.state IN (%d, %d) ORDER BY f.page_id`, s.ids(1), crawl.Known, crawl.Kept) + s.lock()
	free := map[int64]bool{}
	err := tx.Query(ctx, query, []any{idList(ids)}, func(row Row) error {
		var id, host int64
		var state uint8
		err := row.Scan(&id, &host, &state)
		free[id] = true
		d.moves(host, crawl.PageState(state), crawl.Known, 1)
		return err
	})
	if err != nil {
		return err
	}
	var made []levelRecord
	for _, p := range found {
		if p.Priority = float64(-p.Level); free[p.ID] {
			made = append(made, p)
		}
	}
	if len(made) == 0 {
		return nil
	}
	from := s.records(1, "r", "id bigint", "level bigint", "hops bigint", "priority float")
	update := fmt.Sprintf(`UPDATE pages SET kind = %d, level = r.level, hops = r.hops FROM %s WHERE pages.id = r.id`, crawl.KindPage, from)
	if _, err := tx.Exec(ctx, update, jsonText(made)); err != nil {
		return err
	}
	update = fmt.Sprintf(`UPDATE frontier SET state = %d, next_at = 0, priority = r.priority FROM %s WHERE frontier.page_id = r.id`, crawl.Known, from)
	_, err = tx.Exec(ctx, update, jsonText(made))
	return err
}

// wakeRequisites makes those requisites of the list known again whose time is over, and
// returns their hosts. That time was decided by the last visit.
func (s *Store) wakeRequisites(ctx context.Context, tx Tx, urls []foundURL, d *deltas) ([]int64, error) {
	var ids []int64
	for _, u := range urls {
		if !u.isNew && crawl.PageKind(u.Kind) == crawl.KindRequisite {
			ids = append(ids, u.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	query := fmt.Sprintf(`SELECT page_id, host_id FROM frontier
		WHERE page_id IN (%s) AND state = %d AND next_at <= $2 ORDER BY page_id`, s.ids(1), crawl.Kept) + s.lock()
	var woken, hosts []int64
	err = tx.Query(ctx, query, []any{idList(ids), now}, func(row Row) error {
		var id, host int64
		err := row.Scan(&id, &host)
		woken, hosts = append(woken, id), append(hosts, host)
		d.moves(host, crawl.Kept, crawl.Known, 1)
		return err
	})
	if err == nil && len(woken) > 0 {
		_, err = tx.Exec(ctx, fmt.Sprintf(`UPDATE frontier SET state = %d, next_at = 0 WHERE page_id IN (%s)`, crawl.Known, s.ids(1)), idList(woken))
	}
	if err != nil {
		return nil, fmt.Errorf("wake requisites: %w", err)
	}
	return hosts, nil
}

// candidatesBesides lists candidates while the collection is full: requisites take no place
// in it.
func (s *Store) candidatesBesides(ctx context.Context, tx Tx, p store.CandidateParams, l limits) ([]store.PageRecord, error) {
	limit := limitOr(p.Limit)
	if p.Engine != nil {
		allowed, err := s.allow(ctx, tx, p.CrawlID, *p.Engine)
		if err != nil {
			return nil, err
		}
		limit = min(limit, allowed.room)
	}
	if limit == 0 {
		return []store.PageRecord{}, nil
	}
	ids, err := s.knownRequisites(ctx, tx, p.CrawlID, l.window, limit)
	if err != nil {
		return nil, err
	}
	return s.loadPages(ctx, tx, ids)
}
