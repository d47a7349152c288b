package sqlstore

import (
	"context"
	"fmt"
	"time"

	"recrawl/internal/store"
)

// workerGone is the age of a note after which its worker counts as killed.
const workerGone = 24 * time.Hour

// NoteWorker implements store.Workers.
func (s *Store) NoteWorker(ctx context.Context, name, held string) error {
	query := `INSERT INTO workers (name, seen_at, held_since, reason)
		VALUES ($1, $2, $3, $4)
		ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at, reason = excluded.reason,
			held_since = CASE WHEN workers.held_since > 0 AND excluded.held_since > 0 THEN workers.held_since ELSE excluded.held_since END`
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return 0, err
		}
		since := int64(0)
		if held != "" {
			since = now
		} else if _, err := tx.Exec(ctx, `DELETE FROM workers WHERE seen_at < $1`, now-spanMicros(workerGone)); err != nil {
			return 0, err
		}
		return tx.Exec(ctx, query, clean(name), now, since, clean(held))
	})
	if err != nil {
		return fmt.Errorf("note worker %s: %w", name, err)
	}
	return nil
}

// RemoveWorker implements store.Workers.
func (s *Store) RemoveWorker(ctx context.Context, name string) error {
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		return tx.Exec(ctx, `DELETE FROM workers WHERE name = $1`, clean(name))
	})
	if err != nil {
		return fmt.Errorf("remove worker %s: %w", name, err)
	}
	return nil
}

// HeldWorkers implements store.Workers.
func (s *Store) HeldWorkers(ctx context.Context) ([]store.HeldWorker, error) {
	workers, err := read(ctx, s, func(tx Tx) ([]store.HeldWorker, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		query := `SELECT name, held_since, reason FROM workers WHERE held_since > 0 AND seen_at > $1 ORDER BY name`
		return collect(ctx, tx, query, []any{now - spanMicros(store.WorkerSeen)}, func(row Row) (w store.HeldWorker, err error) {
			var since int64
			err = row.Scan(&w.Name, &since, &w.Reason)
			w.Since = fromMicros(since)
			return w, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list held workers: %w", err)
	}
	return workers, nil
}

// KnownWorkers implements store.Workers.
func (s *Store) KnownWorkers(ctx context.Context) ([]string, error) {
	names, err := read(ctx, s, func(tx Tx) ([]string, error) {
		return collect(ctx, tx, `SELECT name FROM workers ORDER BY name`, nil, func(row Row) (name string, err error) {
			err = row.Scan(&name)
			return name, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	return names, nil
}
