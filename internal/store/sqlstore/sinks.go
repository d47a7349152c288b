package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// undeliveredPerTx is how many refused changes one transaction of CloseSink removes.
const undeliveredPerTx = 2000

const sinkColumns = `crawl_id, name, after_id, paused, code, problem, since, tries, next_at, sent, last_sent, digest_since`

func scanSink(f feedRow) func(Row) (store.SinkRecord, error) {
	return func(row Row) (store.SinkRecord, error) {
		var r store.SinkRecord
		var after, since, nextAt, lastSent, digest int64
		var paused uint8
		err := row.Scan(&r.CrawlID, &r.Name, &after, &paused, &r.Code, &r.Problem, &since, &r.Tries, &nextAt, &r.Sent, &lastSent, &digest)
		r.After, r.Paused = f.cursor(after), paused != 0
		r.Since, r.NextAt, r.LastSent, r.DigestSince = fromMicros(since), fromMicros(nextAt), fromMicros(lastSent), fromMicros(digest)
		return r, err
	}
}

// sinkIn reads a sink, and locks it if lock is set.
func sinkIn(ctx context.Context, tx Tx, f feedRow, crawlID int64, name, lock string) (store.SinkRecord, error) {
	query := `SELECT ` + sinkColumns + ` FROM sinks WHERE crawl_id = $1 AND name = $2` + lock
	found, err := collect(ctx, tx, query, []any{crawlID, name}, scanSink(f))
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.SinkRecord{}, err
	}
	return found[0], nil
}

// OpenSink implements store.Sinks.
func (s *Store) OpenSink(ctx context.Context, crawlID int64, name string, after feed.Cursor) (store.SinkRecord, error) {
	name = clean(name)
	settled, err := s.engine.Settled(ctx, OrderedChanges)
	if err != nil {
		return store.SinkRecord{}, fmt.Errorf("open sink %s of crawl %d: %w", name, crawlID, err)
	}
	r, err := write(ctx, s, func(tx Tx) (store.SinkRecord, error) { return s.openSink(ctx, tx, crawlID, name, after, settled.Used) })
	if err != nil {
		return store.SinkRecord{}, fmt.Errorf("open sink %s of crawl %d: %w", name, crawlID, err)
	}
	return r, nil
}

func (s *Store) openSink(ctx context.Context, tx Tx, crawlID int64, name string, after feed.Cursor, used int64) (store.SinkRecord, error) {
	// The crawl is kept from being deleted.
	var deleting int64
	err := tx.QueryRow(ctx, `SELECT deleting FROM crawls WHERE id = $1`+s.engine.Dialect().ForKeyShare(), []any{crawlID}, &deleting)
	if err == nil && deleting != 0 {
		err = store.ErrDeleting
	}
	if err != nil {
		return store.SinkRecord{}, err
	}
	// The row is kept from being trimmed beyond the cursor.
	f, err := readFeed(ctx, tx, s.lock())
	if err != nil {
		return store.SinkRecord{}, err
	}
	r, err := sinkIn(ctx, tx, f, crawlID, name, "")
	if !errors.Is(err, store.ErrNotFound) {
		return r, err
	}
	if err := f.check(after, used); err != nil {
		return store.SinkRecord{}, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO sinks (`+sinkColumns+`, gap) VALUES ($1, $2, $3, 0, '', '', 0, 0, 0, 0, 0, 0, 0)
		ON CONFLICT (crawl_id, name) DO NOTHING`, crawlID, name, after.ID)
	if err != nil {
		return store.SinkRecord{}, err
	}
	return sinkIn(ctx, tx, f, crawlID, name, "")
}

// CloseSink implements store.Sinks. It works in several transactions.
func (s *Store) CloseSink(ctx context.Context, crawlID int64, name string) error {
	name = clean(name)
	for {
		n, err := write(ctx, s, func(tx Tx) (int64, error) {
			if _, err := tx.Exec(ctx, `DELETE FROM sinks WHERE crawl_id = $1 AND name = $2`, crawlID, name); err != nil {
				return 0, err
			}
			return tx.Exec(ctx, `DELETE FROM undelivered WHERE crawl_id = $1 AND sink = $2 AND change_id IN
				(SELECT u.change_id FROM undelivered u WHERE u.crawl_id = $3 AND u.sink = $4 ORDER BY u.change_id LIMIT $5)`,
				crawlID, name, crawlID, name, undeliveredPerTx)
		})
		if err != nil {
			return fmt.Errorf("close sink %s of crawl %d: %w", name, crawlID, err)
		}
		if n < undeliveredPerTx {
			return nil
		}
	}
}

// ListSinks implements store.Sinks.
func (s *Store) ListSinks(ctx context.Context, crawlID int64) ([]store.SinkRecord, error) {
	sinks, err := read(ctx, s, func(tx Tx) ([]store.SinkRecord, error) {
		f, err := readFeed(ctx, tx, "")
		if err != nil {
			return nil, err
		}
		return collect(ctx, tx, `SELECT `+sinkColumns+` FROM sinks WHERE crawl_id = $1 ORDER BY name`, []any{crawlID}, scanSink(f))
	})
	if err != nil {
		return nil, fmt.Errorf("sinks of crawl %d: %w", crawlID, err)
	}
	return sinks, nil
}

// MoveSink implements store.Sinks.
func (s *Store) MoveSink(ctx context.Context, from, to store.SinkRecord) error {
	return s.moveSink(ctx, from, to, nil)
}

// SetUndelivered implements store.Sinks.
func (s *Store) SetUndelivered(ctx context.Context, from, to store.SinkRecord, u store.UndeliveredRecord) error {
	return s.moveSink(ctx, from, to, &u)
}

func (s *Store) moveSink(ctx context.Context, from, to store.SinkRecord, u *store.UndeliveredRecord) error {
	to.Name = clean(to.Name)
	var used int64
	if to.After != from.After {
		settled, err := s.engine.Settled(ctx, OrderedChanges)
		if err != nil {
			return fmt.Errorf("move sink %s of crawl %d: %w", to.Name, to.CrawlID, err)
		}
		used = settled.Used
	}
	_, err := write(ctx, s, func(tx Tx) (struct{}, error) {
		err := s.moveSinkIn(ctx, tx, from, to, used)
		if err == nil && u != nil {
			err = s.setUndelivered(ctx, tx, *u)
		}
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("move sink %s of crawl %d: %w", to.Name, to.CrawlID, err)
	}
	return nil
}

func (s *Store) moveSinkIn(ctx context.Context, tx Tx, from, to store.SinkRecord, used int64) error {
	lock := ""
	if to.After.ID < from.After.ID {
		lock = s.lock() // nothing is trimmed beyond the place to which it goes back
	}
	f, err := readFeed(ctx, tx, lock)
	if err != nil {
		return err
	}
	before, err := sinkIn(ctx, tx, f, to.CrawlID, to.Name, s.lock())
	if err != nil {
		return err
	}
	if before.After != from.After {
		return fmt.Errorf("it is at %s, not at %s: %w", before.After, from.After, store.ErrConflict)
	}
	if before.Paused != from.Paused {
		return fmt.Errorf("it was paused or resumed meanwhile: %w", store.ErrConflict)
	}
	if to.After != from.After {
		if err := f.check(to.After, used); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `UPDATE sinks SET after_id = $3, paused = $4, code = $5, problem = $6, since = $7, tries = $8, next_at = $9,
			sent = $10, last_sent = $11, digest_since = $12 WHERE crawl_id = $1 AND name = $2`,
		to.CrawlID, to.Name, to.After.ID, to.Paused, clean(to.Code), clean(to.Problem), micros(to.Since), to.Tries, micros(to.NextAt),
		to.Sent, micros(to.LastSent), micros(to.DigestSince))
	if err != nil || !to.Paused || before.Paused || to.Code == store.SinkPausedByPerson {
		return err
	}
	return noteNow(ctx, tx, feed.Change{CrawlID: to.CrawlID, Kind: feed.SinkPaused, Data: feed.Data{Sink: to.Name, Code: clean(to.Code)}})
}

// setUndelivered keeps a refused change, unless the page was forgotten meanwhile.
func (s *Store) setUndelivered(ctx context.Context, tx Tx, u store.UndeliveredRecord) error {
	var page int64
	var kind uint8
	err := tx.QueryRow(ctx, `SELECT page_id, kind FROM changes WHERE id = $1`, []any{u.ChangeID}, &page, &kind)
	if errors.Is(err, store.ErrNotFound) {
		return nil // nobody could send it again
	}
	if err == nil && page != 0 && feed.Kind(kind) != feed.PageForgotten {
		var id int64
		err = tx.QueryRow(ctx, `SELECT id FROM pages WHERE id = $1`+s.engine.Dialect().ForKeyShare(), []any{page}, &id)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO undelivered (crawl_id, sink, change_id, page_id, at, tries, problem) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (crawl_id, sink, change_id) DO UPDATE SET at = excluded.at, tries = excluded.tries, problem = excluded.problem`,
		u.CrawlID, clean(u.Sink), u.ChangeID, page, micros(u.At), u.Tries, clean(u.Problem))
	if err != nil {
		return fmt.Errorf("keep what was refused: %w", err)
	}
	return nil
}

// Undelivered implements store.Sinks.
func (s *Store) Undelivered(ctx context.Context, crawlID int64, sink string, after int64, limit int) ([]store.UndeliveredRecord, error) {
	query := `SELECT crawl_id, sink, change_id, at, tries, problem FROM undelivered
		WHERE crawl_id = $1 AND sink = $2 AND change_id > $3 ORDER BY change_id LIMIT $4`
	found, err := read(ctx, s, func(tx Tx) ([]store.UndeliveredRecord, error) {
		return collect(ctx, tx, query, []any{crawlID, clean(sink), after, limitOr(limit)}, func(row Row) (store.UndeliveredRecord, error) {
			var u store.UndeliveredRecord
			var at int64
			err := row.Scan(&u.CrawlID, &u.Sink, &u.ChangeID, &at, &u.Tries, &u.Problem)
			u.At = fromMicros(at)
			return u, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("what sink %s of crawl %d could not deliver: %w", sink, crawlID, err)
	}
	return found, nil
}

// Delivered implements store.Sinks.
func (s *Store) Delivered(ctx context.Context, crawlID int64, sink string, changeID int64) error {
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		return tx.Exec(ctx, `DELETE FROM undelivered WHERE crawl_id = $1 AND sink = $2 AND change_id = $3`, crawlID, clean(sink), changeID)
	})
	if err != nil {
		return fmt.Errorf("change %d is delivered by sink %s of crawl %d: %w", changeID, sink, crawlID, err)
	}
	return nil
}
