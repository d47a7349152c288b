package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// samplePages reads a sample of pages, and of each page only the columns that show how
// fresh it is: a whole page is four times as much, and a sample is read each time that
// somebody looks at a crawl.
func (s *Store) samplePages(ctx context.Context, tx Tx, f store.PageFilter) ([]store.PageRecord, error) {
	ids, err := s.sampleIDs(ctx, tx, f)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	steering, err := querySteering(ctx, tx, f.CrawlID, false)
	if err != nil {
		return nil, err
	}
	query := `SELECT p.id, p.url, h.host, p.host_id, f.state, f.visit, f.last_at, f.next_at, f.weight, f.version_id, f.belief,
			COALESCE(u.prior_a, 0.0), COALESCE(u.prior_b, 0.0), COALESCE(u.site, '')
		FROM ` + s.records(1, "r", "id bigint") + ` CROSS JOIN pages p JOIN frontier f ON f.page_id = p.id JOIN hosts h ON h.id = p.host_id
			LEFT JOIN host_steering u ON u.crawl_id = p.crawl_id AND u.host_id = p.host_id
		WHERE p.id = r.id ORDER BY p.id`
	return collect(ctx, tx, query, []any{idList(ids)}, func(row Row) (store.PageRecord, error) {
		p := store.PageRecord{PageRef: crawl.PageRef{CrawlID: f.CrawlID, Store: s.id}, Steering: steering.Steering}
		var state uint8
		var lastAt, nextAt int64
		var belief, site string
		err := row.Scan(&p.PageID, &p.URL, &p.Host, &p.HostID, &state, &p.Visits, &lastAt, &nextAt, &p.Weight, &p.Last.ID, &belief,
			&p.HostSteering.Prior.A, &p.HostSteering.Prior.B, &site)
		p.State, p.LastAt, p.NextAt, p.Belief = crawl.PageState(state), fromMicros(lastAt), fromMicros(nextAt), []byte(belief)
		p.HostSteering.Site = schedule.DecodeSite(site)
		return p, err
	})
}

// sampleIDs returns the ids of a sample of pages, in order. Each state has its share of it,
// by the counts. A sample costs the same however many pages there are.
func (s *Store) sampleIDs(ctx context.Context, tx Tx, f store.PageFilter) ([]int64, error) {
	sizes, total := map[crawl.PageState]int{}, 0
	query := `SELECT code, CAST(SUM(n) AS BIGINT) FROM crawl_counts WHERE crawl_id = $1 AND kind = 'state' GROUP BY code`
	err := tx.Query(ctx, query, []any{f.CrawlID}, func(row Row) error {
		var state uint8
		var n int
		err := row.Scan(&state, &n)
		if slices.Contains(f.States, crawl.PageState(state)) {
			sizes[crawl.PageState(state)], total = n, total+n
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count pages: %w", err)
	}
	var all []int64
	for _, state := range f.States {
		share := sizes[state]
		if total > f.Sample {
			share = (share*f.Sample + total - 1) / total
		}
		ids, err := s.sampleState(ctx, tx, f.CrawlID, state, share, share == sizes[state])
		if err != nil {
			return nil, fmt.Errorf("%s pages: %w", state, err)
		}
		all = append(all, ids...)
	}
	slices.Sort(all)
	return all, nil
}

// sampleState returns about n pages in a state: the first after each of n points that divide
// the range of their ids evenly, or, if that is all of them, as they come.
func (s *Store) sampleState(ctx context.Context, tx Tx, crawlID int64, state crawl.PageState, n int, all bool) ([]int64, error) {
	if n <= 0 {
		return nil, nil
	}
	from := ` FROM frontier f` + s.engine.Dialect().Index("frontier_state") + fmt.Sprintf(` WHERE f.crawl_id = $1 AND f.state = %d`, state)
	if all {
		return collect(ctx, tx, `SELECT f.page_id`+from+` ORDER BY f.page_id LIMIT $2`, []any{crawlID, n}, scanID)
	}
	var ends [2]int64
	for i, end := range []string{"MIN", "MAX"} { // in one query they would be searched for, not looked up
		if err := tx.QueryRow(ctx, `SELECT COALESCE(`+end+`(f.page_id), 0)`+from, []any{crawlID}, &ends[i]); err != nil {
			return nil, err
		}
	}
	step := float64(ends[1]-ends[0]) / float64(n)
	points := make([]int64, n)
	for i := range points {
		points[i] = ends[0] + int64((float64(i)+0.5)*step)
	}
	ids, err := collect(ctx, tx, `SELECT p.id FROM (SELECT (SELECT f.page_id`+from+` AND f.page_id >= r.id ORDER BY f.page_id LIMIT 1) AS id
		FROM `+s.records(2, "r", "id bigint")+`) p WHERE p.id IS NOT NULL`,
		[]any{crawlID, idList(points)}, scanID)
	slices.Sort(ids)
	return slices.Compact(ids), err
}
