package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// hostWindow is how full a crawl's window at a host is.
type hostWindow struct {
	limits
	hostRoom
}

// low reports whether at least half of the window is free.
func (w hostWindow) low() bool { return w.unattempted <= w.mark() }

// mark is where a window that empties is filled up. Half a window keeps the host busy
// meanwhile, and brings in as many pages by one Discover as the other half holds.
func (w hostWindow) mark() int64 { return w.window / 2 }

// fillsRoom reports whether whoever made a visit, which is counted, is to admit pages. Of
// many first visits that find the window low only two say so: the one that brought it there,
// and the last, should the first have come to nothing.
func (s *Store) fillsRoom(ctx context.Context, tx Tx, page frontierRow, p store.RecordParams) (bool, error) {
	first := page.takesPlace()
	return s.anyToFill(ctx, tx, page.crawlID, append([]int64{page.hostID}, p.Touched...), func(w hostWindow) bool {
		if w.hostID == page.hostID && (w.unattempted == 0 || first && w.unattempted == w.mark()) {
			return true
		}
		return slices.Contains(p.Touched, w.hostID) && w.low()
	})
}

// fillsRoomAgain is fillsRoom for a visit that was recorded before, whose answer may have
// been lost.
func (s *Store) fillsRoomAgain(ctx context.Context, tx Tx, page frontierRow, p store.RecordParams) (bool, error) {
	return s.anyToFill(ctx, tx, page.crawlID, append([]int64{page.hostID}, p.Touched...), hostWindow.low)
}

// anyToFill reports whether one of the hosts has known pages and a window that is to be
// filled, while the crawl may have more pages.
func (s *Store) anyToFill(ctx context.Context, tx Tx, crawlID int64, hosts []int64, toFill func(hostWindow) bool) (bool, error) {
	slices.Sort(hosts)
	query := `SELECT hc.host_id, hc.unattempted, c.state, c.window_size, c.max_pages
		FROM ` + s.records(2, "r", "id bigint") + ` CROSS JOIN host_crawls hc CROSS JOIN crawls c
		WHERE hc.host_id = r.id AND hc.crawl_id = $1 AND hc.known > 0 AND c.id = $1`
	windows, err := collect(ctx, tx, query, []any{crawlID, idList(slices.Compact(hosts))}, func(row Row) (hostWindow, error) {
		var w hostWindow
		var state uint8
		err := row.Scan(&w.hostID, &w.unattempted, &state, &w.window, &w.maxPages)
		w.state = crawl.CrawlState(state)
		return w, err
	})
	if err != nil {
		return false, fmt.Errorf("windows of hosts: %w", err)
	}
	i := slices.IndexFunc(windows, toFill)
	if i < 0 {
		return false, nil
	}
	free, err := windows[i].free(ctx, tx, crawlID)
	return free > 0, err
}
