package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// evictionsPerTx is how many old evictions one Swap forgets.
const evictionsPerTx = 100

// Collection implements store.Ranks.
func (s *Store) Collection(ctx context.Context, crawlID int64) (store.CollectionRecord, error) {
	rec, err := read(ctx, s, func(tx Tx) (store.CollectionRecord, error) {
		l, err := queryLimits(ctx, tx, crawlID, "")
		if err != nil {
			return store.CollectionRecord{}, err
		}
		living, err := l.living(ctx, tx, crawlID)
		if err != nil {
			return store.CollectionRecord{}, err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return store.CollectionRecord{}, err
		}
		rec := store.CollectionRecord{MaxPages: int(l.maxPages), Living: int(living)}
		out := fmt.Sprintf(`SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM crawl_counts WHERE crawl_id = $1 AND kind = 'state' AND code = %d`, crawl.Evicted)
		if err := tx.QueryRow(ctx, out, []any{crawlID}, &rec.Out); err != nil {
			return store.CollectionRecord{}, err
		}
		rec.Evicted, err = countEvictions(ctx, tx, crawlID, now, 24*time.Hour)
		return rec, err
	})
	if err != nil {
		return store.CollectionRecord{}, fmt.Errorf("collection of crawl %d: %w", crawlID, err)
	}
	return rec, nil
}

// countEvictions counts the evictions of a crawl within a time before now.
func countEvictions(ctx context.Context, tx Tx, crawlID, now int64, within time.Duration) (n int, err error) {
	query := `SELECT COUNT(*) FROM evictions e WHERE e.crawl_id = $1 AND e.at > $2`
	err = tx.QueryRow(ctx, query, []any{crawlID, now - within.Microseconds()}, &n)
	return n, err
}

// Swap implements store.Ranks.
func (s *Store) Swap(ctx context.Context, p store.SwapParams) (store.Eviction, bool, error) {
	e, err := write(ctx, s, func(tx Tx) (store.Eviction, error) { return s.swap(ctx, tx, p) })
	if errors.Is(err, errNoSwap) {
		return store.Eviction{}, false, nil
	}
	if err != nil {
		return store.Eviction{}, false, fmt.Errorf("swap pages of crawl %d: %w", p.CrawlID, err)
	}
	return e, true, nil
}

// errNoSwap: a swap turned out to be impossible after a part of it was done.
var errNoSwap = errors.New("the swap is not possible any more")

func (s *Store) swap(ctx context.Context, tx Tx, p store.SwapParams) (store.Eviction, error) {
	// The crawl's lock makes swaps take turns with admissions: max_pages holds.
	l, err := queryLimits(ctx, tx, p.CrawlID, s.lock())
	if err != nil {
		return store.Eviction{}, err
	}
	rows, err := s.lockSwapped(ctx, tx, p)
	if err != nil {
		return store.Eviction{}, err
	}
	if err := canSwap(ctx, tx, p, l, rows); err != nil {
		return store.Eviction{}, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return store.Eviction{}, err
	}
	d := newDeltas(p.CrawlID, p.Out)
	if out, ok := rows[p.Out]; ok {
		if err := s.evictFor(ctx, tx, out, p, now, d); err != nil {
			return store.Eviction{}, err
		}
	}
	if in, ok := rows[p.In]; ok {
		if err := s.admitFor(ctx, tx, in, rows[p.Out], l.window, now, d); err != nil {
			return store.Eviction{}, err
		}
	}
	if err := d.apply(ctx, s, tx); err != nil {
		return store.Eviction{}, err
	}
	e, err := s.loadEviction(ctx, tx, p.Out, p.In)
	e.At, e.Reason = fromMicros(now), p.Reason
	return e, err
}

// lockSwapped locks the pages of a swap that exist, and returns them.
func (s *Store) lockSwapped(ctx context.Context, tx Tx, p store.SwapParams) (map[int64]frontierRow, error) {
	rows := map[int64]frontierRow{}
	for _, id := range []int64{min(p.In, p.Out), max(p.In, p.Out)} {
		row, err := s.lockPage(ctx, tx, id)
		if errors.Is(err, store.ErrNotFound) || err == nil && row.crawlID != p.CrawlID {
			continue
		}
		if err != nil {
			return nil, err
		}
		rows[id] = row
	}
	return rows, nil
}

// canSwap returns errNoSwap unless the locked pages of a swap and the crawl's limits
// still allow it.
func canSwap(ctx context.Context, tx Tx, p store.SwapParams, l limits, rows map[int64]frontierRow) error {
	in, comes := rows[p.In]
	out, leaves := rows[p.Out]
	living, err := l.living(ctx, tx, p.CrawlID)
	if err != nil {
		return err
	}
	places := int64(math.MaxInt64)
	if l.maxPages > 0 {
		places = l.maxPages - living
	}
	missing := comes != (p.In != 0) || leaves != (p.Out != 0) || !comes && !leaves
	stays := leaves && (!out.state.Lives() || out.seed)
	unfit := comes && in.state != crawl.Known && in.state != crawl.Evicted
	full := comes && !leaves && places <= 0 || comes && leaves && places < 0 || !comes && places >= 0
	if l.state == crawl.CrawlStopped || missing || stays || unfit || full {
		return errNoSwap
	}
	return nil
}

// admitFor admits a locked page in the place of another, zero for none, if the window
// of its host has room. It comes after evictFor: host_crawls after places.
func (s *Store) admitFor(ctx context.Context, tx Tx, in, out frontierRow, window, now int64, d *deltas) error {
	taken, err := s.lockWindows(ctx, tx, in.crawlID, map[int64]int64{in.pageID: in.hostID})
	if err != nil {
		return err
	}
	if out.hostID == in.hostID {
		taken[in.hostID] -= count(out.takesPlace())
	}
	if taken[in.hostID] >= window {
		return errNoSwap
	}
	d.moves(in.hostID, in.state, crawl.Active, 1)
	d.unattempted(in.hostID, 1)
	if err := noteStanding(ctx, tx, in, crawl.Active); err != nil {
		return err
	}
	return s.place(ctx, tx, []int64{in.pageID}, placement{state: crawl.Active, nextAt: now, at: now})
}

// evictFor evicts a locked page and records the page that takes its place.
func (s *Store) evictFor(ctx context.Context, tx Tx, out frontierRow, p store.SwapParams, now int64, d *deltas) error {
	// The turns of the others in its line are left to maintenance.
	if _, err := s.leaveLine(ctx, tx, out.pageID); err != nil {
		return fmt.Errorf("leave the line: %w", err)
	}
	if err := evict(ctx, tx, out); err != nil {
		return err
	}
	if err := noteStanding(ctx, tx, out, crawl.Evicted); err != nil {
		return err
	}
	d.moves(out.hostID, out.state, crawl.Evicted, 1)
	d.unattempted(out.hostID, -count(out.takesPlace()))
	_, err := tx.Exec(ctx, `INSERT INTO evictions (page_id, at, crawl_id, by_page, told, reason) VALUES ($1, $2, $3, $4, 0, $5)
		ON CONFLICT (page_id, at) DO NOTHING`, out.pageID, now, p.CrawlID, p.In, jsonText(p.Reason))
	if err != nil {
		return fmt.Errorf("note the eviction: %w", err)
	}
	old := fmt.Sprintf(`DELETE FROM evictions WHERE (page_id, at) IN
		(SELECT e.page_id, e.at FROM evictions e WHERE e.crawl_id = $1 AND e.at < $2 AND e.told = 1 LIMIT %d)`, evictionsPerTx)
	if _, err := tx.Exec(ctx, old, p.CrawlID, now-store.EvictionsKept.Microseconds()); err != nil {
		return fmt.Errorf("forget old evictions: %w", err)
	}
	return nil
}

// evict makes a locked page Evicted.
func evict(ctx context.Context, tx Tx, page frontierRow) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	query := fmt.Sprintf(`UPDATE frontier SET state = %d, attempted = 1, evicted_as = $2, placed_at = $3 WHERE page_id = $1`, crawl.Evicted)
	if _, err := tx.Exec(ctx, query, page.pageID, int64(page.state), now); err != nil {
		return fmt.Errorf("evict a page: %w", err)
	}
	return nil
}

// loadEviction loads the pages of an eviction; ids may be 0.
func (s *Store) loadEviction(ctx context.Context, tx Tx, out, in int64) (store.Eviction, error) {
	pages, err := s.loadPages(ctx, tx, []int64{out, in})
	var e store.Eviction
	for _, p := range pages {
		if p.PageID == out {
			e.Page = p
		} else {
			e.By = p
		}
	}
	return e, err
}

// Evictions implements store.Ranks.
func (s *Store) Evictions(ctx context.Context, crawlID int64, untold bool, limit int) ([]store.Eviction, error) {
	query := `SELECT e.page_id, e.by_page, e.at, e.reason FROM evictions e WHERE e.crawl_id = $1`
	if untold {
		query += ` AND e.told = 0`
	}
	query += ` ORDER BY e.at DESC LIMIT $2`
	all, err := read(ctx, s, func(tx Tx) ([]store.Eviction, error) {
		found, err := collect(ctx, tx, query, []any{crawlID, limitOr(limit)}, scanEviction)
		for i := range found {
			pages, err := s.loadEviction(ctx, tx, found[i].Page.PageID, found[i].By.PageID)
			if err != nil {
				return nil, err
			}
			found[i].Page, found[i].By = pages.Page, pages.By
		}
		return found, err
	})
	if err != nil {
		return nil, fmt.Errorf("evictions of crawl %d: %w", crawlID, err)
	}
	return all, nil
}

// scanEviction scans an eviction with the ids of its pages only.
func scanEviction(row Row) (store.Eviction, error) {
	var e store.Eviction
	var at int64
	var reason string
	if err := row.Scan(&e.Page.PageID, &e.By.PageID, &at, &reason); err != nil {
		return store.Eviction{}, err
	}
	e.At = fromMicros(at)
	if err := json.Unmarshal([]byte(reason), &e.Reason); err != nil {
		return store.Eviction{}, fmt.Errorf("decode why page %d was evicted: %w", e.Page.PageID, err)
	}
	return e, nil
}

// SetTold implements store.Ranks.
func (s *Store) SetTold(ctx context.Context, crawlID int64, pages []int64) error {
	query := `UPDATE evictions SET told = 1 WHERE crawl_id = $2 AND told = 0 AND page_id IN (` + s.ids(1) + `)`
	_, err := write(ctx, s, func(tx Tx) (int64, error) { return tx.Exec(ctx, query, idList(pages), crawlID) })
	if err != nil {
		return fmt.Errorf("note that pages of crawl %d know of their eviction: %w", crawlID, err)
	}
	return nil
}
