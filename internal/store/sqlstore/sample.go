package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// sampleStretches is how many stretches of ids a sample has at most. Pages of neighbouring
// ids were found together and are alike, so many short stretches say more than a few long
// ones.
const sampleStretches = 200

// stretch is the ids from Low on, below High.
type stretch struct {
	Low  int64 `json:"low"`
	High int64 `json:"high"`
}

// SampleEntries implements store.Schedules.
func (s *Store) SampleEntries(ctx context.Context, p store.SampleParams) ([]store.EntryRecord, error) {
	columns, pages := entryColumns(p.URLs)
	query := fmt.Sprintf(`SELECT %s
		FROM %s CROSS JOIN frontier f%s
		WHERE f.crawl_id = $2 AND f.state = %%d AND f.page_id >= r.low AND f.page_id < r.high AND f.visit > 0`,
		columns, s.records(1, "r", "low bigint", "high bigint"), pages)
	entries, err := read(ctx, s, func(tx Tx) ([]store.EntryRecord, error) {
		low, high, err := livingIDs(ctx, tx, p.CrawlID)
		if err != nil {
			return nil, err
		}
		stretches := jsonText(stretchesOf(low, high, int64(max(p.Every, 1))))
		all := []store.EntryRecord{}
		for _, state := range crawl.LivingStates() {
			some, err := collect(ctx, tx, fmt.Sprintf(query, state), []any{stretches, p.CrawlID}, scanEntry)
			if err != nil {
				return nil, fmt.Errorf("%s pages: %w", state, err)
			}
			all = append(all, some...)
		}
		slices.SortFunc(all, func(a, b store.EntryRecord) int { return cmp.Compare(a.PageID, b.PageID) })
		return all, nil
	})
	if err != nil {
		return nil, fmt.Errorf("sample of the entries of crawl %d: %w", p.CrawlID, err)
	}
	return entries, nil
}

// livingIDs returns the first and the last id of the crawl's living pages, 0 and 0 if there
// are none. It asks state by state, since that is how an index has the ids in order.
func livingIDs(ctx context.Context, tx Tx, crawlID int64) (low, high int64, err error) {
	var columns []string
	var ends []any
	found := make([]int64, 2*len(crawl.LivingStates()))
	for i, state := range crawl.LivingStates() {
		for j, end := range []string{"MIN", "MAX"} {
			columns = append(columns, fmt.Sprintf(`COALESCE((SELECT %s(page_id) FROM frontier WHERE crawl_id = c.id AND state = %d), 0)`, end, state))
			ends = append(ends, &found[2*i+j])
		}
	}
	if err := tx.QueryRow(ctx, `SELECT `+strings.Join(columns, ", ")+` FROM crawls c WHERE c.id = $1`, []any{crawlID}, ends...); err != nil {
		return 0, 0, err
	}
	for i := 0; i < len(found); i += 2 {
		if first := found[i]; first > 0 && (low == 0 || first < low) {
			low = first
		}
		high = max(high, found[i+1])
	}
	return low, high, nil
}

// stretchesOf returns stretches that have one of so many of the ids from low to high. Each
// lies somewhere in a part of its own, so that ids that follow a pattern do no harm.
func stretchesOf(low, high, every int64) []stretch {
	ids := high - low + 1
	if low == 0 || every <= 1 {
		return []stretch{{low, high + 1}}
	}
	n := min(max(ids/every, 1), sampleStretches)
	part := ids / n
	width := max(part/every, 1)
	all := make([]stretch, n)
	for i := range all {
		free := uint64(part - width + 1)
		at := low + int64(i)*part + int64((uint64(i+1)*0x9E3779B97F4A7C15>>32)%free)
		all[i] = stretch{at, at + width}
	}
	return all
}
