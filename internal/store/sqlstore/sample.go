package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

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
	from := `f.page_id FROM frontier f` + s.engine.Dialect().Index("frontier_state") + fmt.Sprintf(` WHERE f.crawl_id = $1 AND f.state = %d`, state)
	if all {
		return collect(ctx, tx, `SELECT `+from+` ORDER BY f.page_id LIMIT $2`, []any{crawlID, n}, scanID)
	}
	var ends []int64
	for _, order := range []string{"", " DESC"} {
		id, err := collect(ctx, tx, `SELECT `+from+` ORDER BY f.page_id`+order+` LIMIT 1`, []any{crawlID}, scanID)
		if err != nil || len(id) == 0 {
			return nil, err
		}
		ends = append(ends, id[0])
	}
	step := float64(ends[1]-ends[0]) / float64(n)
	points := make([]int64, n)
	for i := range points {
		points[i] = ends[0] + int64((float64(i)+0.5)*step)
	}
	ids, err := collect(ctx, tx, `SELECT (SELECT `+from+` AND f.page_id >= r.id ORDER BY f.page_id LIMIT 1) FROM `+s.records(2, "r", "id bigint"),
		[]any{crawlID, idList(points)}, scanID)
	slices.Sort(ids)
	return slices.Compact(ids), err
}
