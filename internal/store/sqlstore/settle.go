package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// ContentsOf implements store.Duplicates.
func (s *Store) ContentsOf(ctx context.Context, pages []int64) ([]store.ContentRecord, error) {
	if len(pages) == 0 {
		return nil, nil
	}
	contents, err := read(ctx, s, func(tx Tx) ([]store.ContentRecord, error) { return s.loadContents(ctx, tx, pages) })
	if err != nil {
		return nil, fmt.Errorf("contents of pages: %w", err)
	}
	return contents, nil
}

// Unlooked implements store.Duplicates. Contents that were not looked at stay for as long as their
// pages are gone or evicted, and may be most of a crawl.
func (s *Store) Unlooked(ctx context.Context, crawlID, after int64, limit int) ([]int64, error) {
	step := pageStep{`SELECT k.page_id FROM sketches k WHERE k.page_id > $1 AND k.crawl_id = $2 AND k.looked = 0 ORDER BY k.page_id`, []any{crawlID}}
	query := `SELECT k.page_id FROM sketches k CROSS JOIN frontier f
		WHERE k.crawl_id = $1 AND k.looked = 0 AND k.page_id > $2 AND k.page_id <= $3 AND f.page_id = k.page_id AND f.version_id = k.version_id
			AND f.state IN (` + standing + `)
		ORDER BY k.page_id LIMIT $4`
	ids, err := s.walkSteps(ctx, crawlID, after, limit, step, query)
	if err != nil {
		return nil, fmt.Errorf("new contents of crawl %d: %w", crawlID, err)
	}
	return ids, nil
}

// Unsettled implements store.Duplicates. Most records hold. The table is in the order of the pages, of
// all crawls. The sum keeps the engine from the index of one crawl's records, which has another order.
func (s *Store) Unsettled(ctx context.Context, crawlID, after int64, limit int) ([]int64, error) {
	step := pageStep{`SELECT d.page_id FROM duplicates d WHERE d.page_id > $1 ORDER BY d.page_id`, nil}
	query := fmt.Sprintf(`SELECT d.page_id FROM duplicates d CROSS JOIN frontier f CROSS JOIN frontier o
		WHERE d.crawl_id + 0 = $1 AND d.page_id > $2 AND d.page_id <= $3 AND f.page_id = d.page_id AND o.page_id = d.of_page AND d.version_id <= f.version_id
			AND f.state IN (%s) AND (NOT (%s) OR (d.exact = 1 AND f.state = %d))
		ORDER BY d.page_id LIMIT $4`, standing, holding, crawl.Active)
	ids, err := s.walkSteps(ctx, crawlID, after, limit, step, query)
	if err != nil {
		return nil, fmt.Errorf("duplicates of crawl %d that do not hold: %w", crawlID, err)
	}
	return ids, nil
}

// pageStep is a query for the ids after $1 of rows that a walk reads, in their order, with its other
// arguments.
type pageStep struct {
	query string
	args  []any
}

// walkSteps lists pages that a query finds between two ids, in steps of store.SearchStep rows: in a
// large crawl at rest, to find none takes longer than a statement may.
func (s *Store) walkSteps(ctx context.Context, crawlID, after int64, limit int, step pageStep, query string) ([]int64, error) {
	limit = limitOr(limit)
	end := step.query + fmt.Sprintf(` LIMIT 1 OFFSET %d`, store.SearchStep-1)
	return read(ctx, s, func(tx Tx) ([]int64, error) {
		found := []int64{}
		for through := after; len(found) < limit && through < math.MaxInt64; {
			from := through
			err := tx.QueryRow(ctx, end, append([]any{from}, step.args...), &through)
			if errors.Is(err, store.ErrNotFound) {
				through, err = math.MaxInt64, nil
			}
			if err != nil {
				return nil, err
			}
			ids, err := collect(ctx, tx, query, []any{crawlID, from, through, limit - len(found)}, scanID)
			if err != nil {
				return nil, err
			}
			found = append(found, ids...)
		}
		return found, nil
	})
}

// MarkLooked implements store.Duplicates. It works in several transactions.
func (s *Store) MarkLooked(ctx context.Context, looked []store.PageVersion, again []int64) error {
	for some := range slices.Chunk(looked, duplicatesPerTx) {
		ids := make([]int64, len(some))
		for i, v := range some {
			ids[i] = v.Version
		}
		slices.Sort(ids)
		_, err := write(ctx, s, func(tx Tx) (int64, error) {
			return tx.Exec(ctx, `UPDATE sketches SET looked = 1 WHERE version_id IN (`+s.ids(1)+`)`, idList(ids))
		})
		if err != nil {
			return fmt.Errorf("mark contents as looked at: %w", err)
		}
	}
	for some := range slices.Chunk(again, duplicatesPerTx) {
		_, err := write(ctx, s, func(tx Tx) (struct{}, error) { return struct{}{}, s.lookAgain(ctx, tx, some) })
		if err != nil {
			return fmt.Errorf("have contents looked at again: %w", err)
		}
	}
	return nil
}

// stands reports whether a page in a state stands for its content.
func stands(state crawl.PageState) bool {
	return state == crawl.Active || state == crawl.Failing || state == crawl.Duplicate
}

// leavesContent makes sure that the content of a page that stops standing for it is
// compared again if the page comes back.
func (s *Store) leavesContent(ctx context.Context, tx Tx, page int64, from, to crawl.PageState) error {
	if !stands(from) || stands(to) {
		return nil
	}
	return s.lookAgain(ctx, tx, []int64{page})
}

// lookAgain marks the last contents of pages to be compared with all others again.
func (s *Store) lookAgain(ctx context.Context, tx Tx, pages []int64) error {
	return tx.Queue(ctx, `UPDATE sketches SET looked = 0
		WHERE version_id IN (SELECT version_id FROM frontier WHERE page_id IN (`+s.ids(1)+`))`, idList(pages))
}

// SettleDuplicates implements store.Duplicates. It works in a transaction for each page.
func (s *Store) SettleDuplicates(ctx context.Context, crawlID int64, settled []store.Settlement) ([]store.PageRecord, error) {
	settled = slices.SortedFunc(slices.Values(settled), func(a, b store.Settlement) int { return cmp.Compare(a.PageID, b.PageID) })
	var are []int64
	for _, one := range settled {
		is, err := write(ctx, s, func(tx Tx) (bool, error) { return s.settleDuplicate(ctx, tx, crawlID, one) })
		if err != nil {
			return nil, fmt.Errorf("settle page %d of crawl %d: %w", one.PageID, crawlID, err)
		}
		if is {
			are = append(are, one.PageID)
		}
	}
	pages, err := read(ctx, s, func(tx Tx) ([]store.PageRecord, error) { return s.loadPages(ctx, tx, are) })
	if err != nil {
		return nil, fmt.Errorf("settled pages of crawl %d: %w", crawlID, err)
	}
	return pages, nil
}

func (s *Store) settleDuplicate(ctx context.Context, tx Tx, crawlID int64, one store.Settlement) (bool, error) {
	from, to := crawl.Active, crawl.Duplicate
	if !one.Duplicate {
		from, to = to, from
	}
	page, err := s.lockPage(ctx, tx, one.PageID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil // forgotten meanwhile
	}
	if err != nil || page.crawlID != crawlID || page.versionID != one.Version || page.state != from {
		return err == nil && page.crawlID == crawlID && page.versionID == one.Version && page.state == to, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return false, err
	}
	// One that is due, or stands in its host's line, does not sleep.
	_, err = tx.Exec(ctx, `UPDATE frontier SET state = $2, next_at = CASE WHEN next_at > $4 AND `+notInLine("frontier.page_id")+` THEN $3 ELSE next_at END
		WHERE page_id = $1`, one.PageID, int64(to), max(micros(one.NextAt), now), now)
	if err != nil {
		return false, err
	}
	kind := feed.PageBack
	if one.Duplicate {
		kind = feed.PageDuplicate
	}
	if err := notePage(ctx, tx, page, kind, to); err != nil {
		return false, err
	}
	d := newDeltas(crawlID, one.PageID)
	d.moves(page.hostID, from, to, 1)
	return true, d.apply(ctx, s, tx)
}
