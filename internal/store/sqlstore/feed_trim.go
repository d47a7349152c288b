package sqlstore

import (
	"context"
	"fmt"
	"time"

	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// trimmedPerTx is how many changes one transaction of TrimChanges removes.
const trimmedPerTx = 1000

// TrimChanges implements store.Feed. It works in several transactions.
func (s *Store) TrimChanges(ctx context.Context, before time.Time, limit int) (more bool, err error) {
	settled, err := s.engine.Settled(ctx, OrderedChanges)
	if err != nil {
		return false, fmt.Errorf("trim the feed: %w", err)
	}
	if limit <= 0 {
		limit = trimmedPerTx
	}
	for more = true; more && limit > 0; {
		some := min(limit, trimmedPerTx)
		n, err := write(ctx, s, func(tx Tx) (int, error) { return s.trim(ctx, tx, settled.ID, micros(before), some) })
		if err != nil {
			return true, fmt.Errorf("trim the feed: %w", err)
		}
		limit -= n
		more = n == some
	}
	return more, nil
}

// trim removes changes from the feed's old end, up to the first that is not before a time,
// or not settled.
func (s *Store) trim(ctx context.Context, tx Tx, settled, before int64, limit int) (int, error) {
	f, err := readFeed(ctx, tx, s.lock())
	if err != nil {
		return 0, err
	}
	last, lastAt, n, kept := f.trimmed, f.trimmedAt, 0, false
	query := `SELECT id, at FROM changes WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3`
	err = tx.Query(ctx, query, []any{f.trimmed, settled, limit}, func(row Row) error {
		var id, at int64
		err := row.Scan(&id, &at)
		if kept = kept || at >= before; !kept {
			last, lastAt, n = id, max(lastAt, at), n+1
		}
		return err
	})
	if err != nil || n == 0 {
		return 0, err
	}
	if err := s.passSinks(ctx, tx, f, last); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM changes WHERE id <= $1`, last); err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, `UPDATE feed SET trimmed = $1, trimmed_at = $2 WHERE one = 1`, last, lastAt)
	return n, err
}

// behind is a sink that has not read the changes that are trimmed.
type behind struct {
	crawlID, after, gap int64
	name                string
}

// passSinks moves sinks on that are left behind when the feed is trimmed up to an id,
// records a gap for them, and removes their undelivered changes up to there.
func (s *Store) passSinks(ctx context.Context, tx Tx, f feedRow, last int64) error {
	sinks, err := collect(ctx, tx, `SELECT crawl_id, name, after_id, gap FROM sinks ORDER BY crawl_id, name`+s.lock(), nil, func(row Row) (b behind, err error) {
		err = row.Scan(&b.crawlID, &b.name, &b.after, &b.gap)
		return b, err
	})
	if err != nil {
		return fmt.Errorf("look at sinks: %w", err)
	}
	for _, b := range sinks {
		_, err := tx.Exec(ctx, `DELETE FROM undelivered WHERE crawl_id = $1 AND sink = $2 AND change_id <= $3`, b.crawlID, b.name, last)
		if err == nil && b.after < last {
			err = s.pass(ctx, tx, b, last)
		}
		if err != nil {
			return fmt.Errorf("pass sink %s of crawl %d: %w", b.name, b.crawlID, err)
		}
	}
	return nil
}

// pass moves a sink on. One feed.gap reports it, even if more is trimmed before the sink
// has read that.
func (s *Store) pass(ctx context.Context, tx Tx, b behind, last int64) error {
	var missed int64
	query := `SELECT COUNT(*) FROM changes WHERE id > $1 AND id <= $2 AND (crawl_id = $3 OR crawl_id = 0) AND ` + isChange
	if err := tx.QueryRow(ctx, query, []any{b.after, last, b.crawlID}, &missed); err != nil {
		return err
	}
	gap := b.gap
	if missed > 0 && b.gap <= last {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		c := feed.Change{CrawlID: b.crawlID, Kind: feed.FeedGap, Data: feed.Data{Sink: b.name, Missed: missed}}
		insert := `INSERT INTO changes (crawl_id, page_id, at, visit, seq, kind, data) VALUES ($1, 0, $2, 0, 0, $3, $4) RETURNING id`
		err = tx.QueryRow(ctx, insert, []any{c.CrawlID, now, int64(c.Kind), c.Data.Encode(c.Kind, 0)}, &gap)
		if err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `UPDATE sinks SET after_id = $3, gap = $4 WHERE crawl_id = $1 AND name = $2`, b.crawlID, b.name, last, gap)
	return err
}

// deleteChanges removes a crawl's changes, a stretch of the feed at a time: there is no
// index from a crawl to its rows, since only deletion would need it.
func (s *Store) deleteChanges(ctx context.Context, crawlID int64) error {
	settled, err := s.engine.Settled(ctx, OrderedChanges)
	if err != nil {
		return err
	}
	f, err := read(ctx, s, func(tx Tx) (feedRow, error) { return readFeed(ctx, tx, "") })
	if err != nil {
		return err
	}
	for after := f.trimmed; after < settled.Used; {
		through := after + store.FeedStep
		some, err := read(ctx, s, func(tx Tx) ([]int64, error) {
			return collect(ctx, tx, `SELECT id FROM changes WHERE id > $1 AND id <= $2 AND crawl_id = $3 LIMIT 1`, []any{after, through, crawlID}, scanID)
		})
		if err != nil {
			return err
		}
		if len(some) > 0 {
			_, err := write(ctx, s, func(tx Tx) (int64, error) {
				return tx.Exec(ctx, `DELETE FROM changes WHERE id > $1 AND id <= $2 AND crawl_id = $3`, after, through, crawlID)
			})
			if err != nil {
				return err
			}
		}
		after = through
	}
	return nil
}
