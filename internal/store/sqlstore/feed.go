package sqlstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// feedRow is the row of the table feed.
type feedRow struct {
	epoch     string
	trimmed   int64
	trimmedAt int64
}

func (f feedRow) cursor(id int64) feed.Cursor { return feed.Cursor{Epoch: f.epoch, ID: id} }

func readFeed(ctx context.Context, tx Tx, lock string) (feedRow, error) {
	var f feedRow
	err := tx.QueryRow(ctx, `SELECT epoch, trimmed, trimmed_at FROM feed WHERE one = 1`+lock, nil, &f.epoch, &f.trimmed, &f.trimmedAt)
	if err != nil {
		return feedRow{}, fmt.Errorf("read the feed's row: %w", err)
	}
	return f, nil
}

// ends returns the feed's ends. No change that may be read yet has an id above settled.
func (f feedRow) ends(settled int64) store.FeedEnds {
	return store.FeedEnds{Oldest: f.cursor(f.trimmed), Newest: f.cursor(max(f.trimmed, settled))}
}

// check returns an error for an invalid cursor. No change has an id above used.
func (f feedRow) check(c feed.Cursor, used int64) error {
	switch {
	case c.Epoch != f.epoch:
		return feed.ErrEpoch
	case c.ID < f.trimmed:
		return feed.ErrTrimmed
	case c.ID > max(used, f.trimmed):
		return feed.ErrAhead
	}
	return nil
}

// end returns up to where the feed is settled, for those who ask where it ends now. A process
// that has just begun may not know: if it took the oldest end for now, a new sink would send the whole
// feed.
func (s *Store) end(ctx context.Context) (Settled, error) {
	settled, err := s.engine.Settled(ctx, OrderedChanges)
	if err == nil && !settled.Known {
		err = fmt.Errorf("%w: where it ends now is not known before a transaction has ended that was writing when this program began; try again", store.ErrUnavailable)
	}
	return settled, err
}

// FeedEnds implements store.Feed.
func (s *Store) FeedEnds(ctx context.Context) (store.FeedEnds, error) {
	settled, err := s.end(ctx)
	if err != nil {
		return store.FeedEnds{}, fmt.Errorf("ends of the feed: %w", err)
	}
	ends, err := read(ctx, s, func(tx Tx) (store.FeedEnds, error) {
		f, err := readFeed(ctx, tx, "")
		return f.ends(settled.ID), err
	})
	if err != nil {
		return store.FeedEnds{}, fmt.Errorf("ends of the feed: %w", err)
	}
	return ends, nil
}

// Changes implements store.Feed. It finds the settled ids first: the reading transaction
// begins after all of them were committed.
func (s *Store) Changes(ctx context.Context, p store.ChangesParams) (store.ChangesPage, error) {
	settled, err := s.engine.Settled(ctx, OrderedChanges)
	if err != nil {
		return store.ChangesPage{}, fmt.Errorf("read the feed: %w", err)
	}
	page, err := read(ctx, s, func(tx Tx) (store.ChangesPage, error) { return s.changes(ctx, tx, p, settled) })
	if err != nil {
		return store.ChangesPage{}, fmt.Errorf("read the feed: %w", err)
	}
	return page, nil
}

const changeColumns = `id, crawl_id, page_id, at, visit, seq, kind, data`

func (s *Store) changes(ctx context.Context, tx Tx, p store.ChangesParams, settled Settled) (store.ChangesPage, error) {
	f, err := readFeed(ctx, tx, "")
	if err == nil {
		err = f.check(p.After, settled.Used)
	}
	if err != nil {
		return store.ChangesPage{}, err
	}
	// The cursor comes from a caller, perhaps in another process, that knew it was
	// settled.
	newest := max(settled.ID, p.After.ID)
	through := min(newest, p.After.ID+store.FeedStep)
	page := store.ChangesPage{FeedEnds: f.ends(newest)}
	limit := store.FeedStep
	if p.Limit > 0 {
		limit = min(p.Limit, limit)
	}
	query := `SELECT ` + changeColumns + ` FROM changes WHERE id > $1 AND id <= $2`
	args := []any{p.After.ID, through, limit}
	if p.CrawlID != 0 {
		query += ` AND (crawl_id = $4 OR crawl_id = 0)`
		args = append(args, p.CrawlID)
	}
	if len(p.Kinds) > 0 {
		query += ` AND kind IN (` + kindList(p.Kinds) + `)`
	} else {
		query += ` AND ` + isChange
	}
	page.Changes, err = collect(ctx, tx, query+` ORDER BY id LIMIT $3`, args, scanChange)
	if err != nil {
		return store.ChangesPage{}, err
	}
	// The page ends where the search ended, never at the newest.
	if n := len(page.Changes); n == limit {
		through = page.Changes[n-1].ID
	}
	page.Through = f.cursor(through)
	if p.CrawlID != 0 {
		page.Changes, err = s.ofCrawl(ctx, tx, page.Changes, p.CrawlID)
	}
	return page, err
}

// isChange selects the rows of the feed that are changes.
var isChange = fmt.Sprintf("kind <> %d", feed.VersionOnly)

// kindList are kinds as SQL.
func kindList(kinds []feed.Kind) string {
	var list []string
	for _, k := range slices.Compact(slices.Sorted(slices.Values(kinds))) {
		list = append(list, strconv.Itoa(int(k)))
	}
	return strings.Join(list, ", ")
}

func scanChange(row Row) (feed.Change, error) {
	var c feed.Change
	var at int64
	var kind uint8
	var data string
	if err := row.Scan(&c.ID, &c.CrawlID, &c.PageID, &at, &c.Visit, &c.Seq, &kind, &data); err != nil {
		return feed.Change{}, err
	}
	c.Kind, c.At = feed.Kind(kind), fromMicros(at)
	var err error
	if c.Data, err = feed.DecodeData(data, c.Kind, c.Seq); err != nil {
		return feed.Change{}, fmt.Errorf("change %d: %w", c.ID, err)
	}
	return c, nil
}

// ofCrawl leaves out changes of hosts on which a crawl has no pages.
func (s *Store) ofCrawl(ctx context.Context, tx Tx, changes []feed.Change, crawlID int64) ([]feed.Change, error) {
	hosts := map[int64]bool{}
	for _, c := range changes {
		if c.CrawlID == 0 {
			hosts[c.Data.HostID] = false
		}
	}
	if len(hosts) == 0 {
		return changes, nil
	}
	query := `SELECT host_id FROM host_crawls WHERE (host_id, crawl_id) IN (` + s.hostsOf(1, 2) + `)`
	own, err := collect(ctx, tx, query, []any{idList(slices.Sorted(maps.Keys(hosts))), crawlID}, scanID)
	if err != nil {
		return nil, fmt.Errorf("hosts of crawl %d: %w", crawlID, err)
	}
	for _, id := range own {
		hosts[id] = true
	}
	return slices.DeleteFunc(changes, func(c feed.Change) bool { return c.CrawlID == 0 && !hosts[c.Data.HostID] }), nil
}

// ChangeBefore implements store.Feed. Times rise with ids, except among transactions
// that ran at the same time: after the binary search, a stretch before the result is
// searched, too.
func (s *Store) ChangeBefore(ctx context.Context, at time.Time) (feed.Cursor, error) {
	settled, err := s.end(ctx)
	if err != nil {
		return feed.Cursor{}, fmt.Errorf("find the change before %s: %w", at, err)
	}
	c, err := read(ctx, s, func(tx Tx) (feed.Cursor, error) {
		f, err := readFeed(ctx, tx, "")
		if err != nil {
			return feed.Cursor{}, err
		}
		if f.trimmed > 0 && f.trimmedAt >= micros(at) {
			return feed.Cursor{}, feed.ErrTrimmed
		}
		id, err := changeBefore(ctx, tx, f.trimmed, max(f.trimmed, settled.ID), micros(at))
		return f.cursor(id), err
	})
	if err != nil {
		return feed.Cursor{}, fmt.Errorf("find the change before %s: %w", at, err)
	}
	return c, nil
}

// changeBefore returns the highest id from low to high for which no change from low up to
// it was made at or later.
func changeBefore(ctx context.Context, tx Tx, low, high, at int64) (int64, error) {
	first := low
	for last := high; first < last; {
		middle := first + (last-first)/2
		var id, of int64
		err := tx.QueryRow(ctx, `SELECT id, at FROM changes WHERE id > $1 AND id <= $2 ORDER BY id LIMIT 1`, []any{middle, last}, &id, &of)
		switch {
		case ignoreNotFound(err) != nil:
			return 0, err
		case err != nil || of >= at: // none, or none that is older
			last = middle
		default:
			first = id
		}
	}
	query := `SELECT COALESCE(MIN(id), 0) FROM changes WHERE id > $1 AND id <= $2 AND at >= $3`
	var earlier int64
	err := tx.QueryRow(ctx, query, []any{max(low, first-store.FeedStep), first, at}, &earlier)
	if earlier > 0 {
		first = earlier - 1
	}
	return first, err
}

// NewEpoch implements store.Feed.
func (s *Store) NewEpoch(ctx context.Context) error {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		return tx.Exec(ctx, `UPDATE feed SET epoch = $1 WHERE one = 1`, hex.EncodeToString(b[:]))
	})
	if err != nil {
		return fmt.Errorf("give the feed another epoch: %w", err)
	}
	return nil
}
