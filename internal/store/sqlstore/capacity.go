package sqlstore

import (
	"context"
	"fmt"
	"time"

	"recrawl/internal/admission"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// settingCapacity is the row of settings that holds what the engine has shown that it can do.
const settingCapacity = "capacity"

// capacityNote is an admission.Capacity as stored, in microseconds.
type capacityNote struct {
	PerSecond float64 `json:"per_second"`
	At        int64   `json:"at"`
	Cycle     int64   `json:"cycle"`
	Since     int64   `json:"since"`
	Visits    int64   `json:"visits"`
	Seen      int64   `json:"seen"`
}

// loadCapacity reads the capacity, which has no row until somebody has seen a backlog.
func loadCapacity(ctx context.Context, tx Tx) (admission.Capacity, error) {
	n, err := readNote[capacityNote](ctx, tx, settingCapacity)
	if err != nil {
		return admission.Capacity{}, err
	}
	return admission.Capacity{
		PerSecond: n.PerSecond, At: fromMicros(n.At), Cycle: span(n.Cycle),
		Since: admission.Mark{At: fromMicros(n.Since), Visits: n.Visits}, Seen: fromMicros(n.Seen),
	}, nil
}

// measure updates the engine's capacity with an observation: how long its oldest task has waited.
func (s *Store) measure(ctx context.Context, tx Tx, now time.Time, oldest time.Duration) error {
	was, err := loadCapacity(ctx, tx)
	if err != nil {
		return err
	}
	load := admission.Load{At: now, Oldest: oldest}
	if oldest >= admission.KeepsUp {
		if load.Late, err = s.latest(ctx, tx, micros(now)); err != nil {
			return err
		}
		if load.Visits, load.Pages, err = countWork(ctx, tx); err != nil {
			return err
		}
	}
	is := was.Next(load)
	if is.Seen.Equal(was.Seen) && is.At.Equal(was.At) {
		return nil // it keeps up, as before
	}
	note := capacityNote{
		PerSecond: is.PerSecond, At: micros(is.At), Cycle: spanMicros(is.Cycle),
		Since: micros(is.Since.At), Visits: is.Since.Visits, Seen: micros(is.Seen),
	}
	return writeSetting(ctx, tx, settingCapacity, jsonText(note))
}

// latest returns how overdue the most overdue revisit of all running crawls is.
func (s *Store) latest(ctx context.Context, tx Tx, now int64) (time.Duration, error) {
	query := fmt.Sprintf(`SELECT COALESCE(MIN((SELECT f.next_at FROM frontier f%s
			WHERE f.crawl_id = c.id AND f.state BETWEEN %d AND %d AND f.visit > 0 ORDER BY f.next_at LIMIT 1)), $1)
		FROM crawls c WHERE c.state = %d`, s.engine.Dialect().Index("frontier_due"), crawl.Active, crawl.Excluded, crawl.CrawlRunning)
	var due int64
	if err := tx.QueryRow(ctx, query, []any{now}, &due); err != nil {
		return 0, fmt.Errorf("find the latest revisit: %w", err)
	}
	return span(max(0, now-due)), nil
}

// countWork counts the recorded visits of all crawls, and the living pages of those that run. The
// visits of a crawl that is resumed were not made just now.
func countWork(ctx context.Context, tx Tx) (visits int64, pages int, err error) {
	query := fmt.Sprintf(`SELECT k.kind, k.code, CAST(SUM(k.n) AS BIGINT) FROM crawls c CROSS JOIN crawl_counts k
		WHERE k.crawl_id = c.id AND (k.kind = '%s' AND k.code = %d OR k.kind = '%s' AND c.state = %d)
		GROUP BY k.kind, k.code`, countTotal, totalVisits, countState, crawl.CrawlRunning)
	err = tx.Query(ctx, query, nil, func(row Row) error {
		var kind string
		var code, n int64
		if err := row.Scan(&kind, &code, &n); err != nil {
			return err
		}
		switch {
		case kind == countTotal:
			visits = n
		case crawl.PageState(code).Lives():
			pages += int(n)
		}
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("count the visits of all crawls: %w", err)
	}
	return visits, pages, nil
}

// Engine implements store.Schedules.
func (s *Store) Engine(ctx context.Context, crawlID int64) (store.EngineRecord, error) {
	rec, err := read(ctx, s, func(tx Tx) (store.EngineRecord, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return store.EngineRecord{}, err
		}
		capacity, err := loadCapacity(ctx, tx)
		if err != nil {
			return store.EngineRecord{}, err
		}
		rec := store.EngineRecord{PerDay: capacity.Now(fromMicros(now)) * (24 * time.Hour).Seconds()}
		query := fmt.Sprintf(`SELECT COALESCE(SUM(t.asked), 0.0) FROM crawls c JOIN steering t ON t.crawl_id = c.id
			WHERE c.state = %d AND c.id <> $1`, crawl.CrawlRunning)
		return rec, tx.QueryRow(ctx, query, []any{crawlID}, &rec.Others)
	})
	if err != nil {
		return store.EngineRecord{}, fmt.Errorf("what the engine makes: %w", err)
	}
	return rec, nil
}
