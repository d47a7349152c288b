package sqlstore

import (
	"context"
	"fmt"
	"time"

	"recrawl/internal/store"
)

// uncared is the condition that nobody has looked after a crawl since $%[2]d. A look after $%[3]d was
// noted before the clock went back.
const uncared = `(COALESCE(%[1]s.looked_at, 0) <= $%[2]d OR %[1]s.looked_at > $%[3]d)`

// ClaimCare implements store.Care. Nothing is written while there is nothing to claim.
func (s *Store) ClaimCare(ctx context.Context, every time.Duration, limit int) ([]store.CrawlRecord, error) {
	waiting := `SELECT COUNT(*) FROM crawls c LEFT JOIN crawl_care k ON k.crawl_id = c.id WHERE c.deleting = 0 AND ` + fmt.Sprintf(uncared, "k", 1, 2)
	n, err := read(ctx, s, func(tx Tx) (n int64, err error) {
		now, err := tx.Now(ctx)
		if err == nil {
			err = tx.QueryRow(ctx, waiting, []any{now - spanMicros(every), now + spanMicros(every)}, &n)
		}
		return n, err
	})
	if err == nil && n == 0 {
		return nil, nil
	}
	var claimed []store.CrawlRecord
	if err == nil {
		claimed, err = write(ctx, s, func(tx Tx) ([]store.CrawlRecord, error) { return s.claimCare(ctx, tx, every, limit) })
	}
	if err != nil {
		return nil, fmt.Errorf("claim crawls to look after: %w", err)
	}
	return claimed, nil
}

func (s *Store) claimCare(ctx context.Context, tx Tx, every time.Duration, limit int) ([]store.CrawlRecord, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	claim := `INSERT INTO crawl_care (crawl_id, looked_at)
		SELECT c.id, CAST($1 AS BIGINT) FROM crawls c LEFT JOIN crawl_care k ON k.crawl_id = c.id
		WHERE c.deleting = 0 AND ` + fmt.Sprintf(uncared, "k", 2, 3) + ` ORDER BY c.id LIMIT $4
		ON CONFLICT (crawl_id) DO UPDATE SET looked_at = excluded.looked_at WHERE ` + fmt.Sprintf(uncared, "crawl_care", 2, 3) + `
		RETURNING crawl_id`
	ids, err := collect(ctx, tx, claim, []any{now, now - spanMicros(every), now + spanMicros(every), limitOr(limit)}, scanID)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	query := `SELECT ` + crawlColumns + ` FROM crawls WHERE id IN (` + s.ids(1) + `) ORDER BY id`
	return collect(ctx, tx, query, []any{idList(ids)}, scanCrawl)
}

// NoteTroubles implements store.Care.
func (s *Store) NoteTroubles(ctx context.Context, crawlID int64, troubles []store.Trouble) error {
	_, err := write(ctx, s, func(tx Tx) (struct{}, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return struct{}{}, err
		}
		for _, t := range troubles {
			if err := noteTrouble(ctx, tx, crawlID, t, now); err != nil {
				return struct{}{}, fmt.Errorf("%s: %w", t.Part, err)
			}
		}
		_, err = tx.Exec(ctx, `DELETE FROM troubles WHERE crawl_id = $1 AND mended_at > 0 AND mended_at < $2`,
			crawlID, now-spanMicros(store.TroubleKept))
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("note the troubles of crawl %d: %w", crawlID, err)
	}
	return nil
}

// noteTrouble keeps the beginning of a lasting trouble, and the trouble that was
// mended before a part became well.
func noteTrouble(ctx context.Context, tx Tx, crawlID int64, t store.Trouble, now int64) error {
	if t.Problem == "" {
		_, err := tx.Exec(ctx, `DELETE FROM troubles WHERE crawl_id = $1 AND part = $2 AND mended_at = 0`, crawlID, clean(t.Part))
		return err
	}
	mended := int64(0)
	if t.Mended {
		mended = now
	}
	_, err := tx.Exec(ctx, `INSERT INTO troubles (crawl_id, part, since_at, seen_at, mended_at, pages, problem)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (crawl_id, part) DO UPDATE SET seen_at = excluded.seen_at, mended_at = excluded.mended_at,
			pages = excluded.pages, problem = excluded.problem,
			since_at = CASE WHEN troubles.mended_at > 0 THEN excluded.since_at ELSE troubles.since_at END`,
		crawlID, clean(t.Part), now, now, mended, t.Pages, clean(t.Problem))
	return err
}

// Care implements store.Care.
func (s *Store) Care(ctx context.Context, crawlID int64) (store.CareRecord, error) {
	rec, err := read(ctx, s, func(tx Tx) (store.CareRecord, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return store.CareRecord{}, err
		}
		var rec store.CareRecord
		looked, err := collect(ctx, tx, `SELECT looked_at FROM crawl_care WHERE crawl_id = $1`, []any{crawlID}, scanID)
		if err != nil {
			return rec, err
		}
		for _, at := range looked {
			rec.LookedAt = fromMicros(at)
		}
		query := `SELECT part, problem, pages, since_at, seen_at, mended_at FROM troubles
			WHERE crawl_id = $1 AND (mended_at = 0 OR mended_at >= $2) ORDER BY part`
		if rec.Troubles, err = collect(ctx, tx, query, []any{crawlID, now - spanMicros(store.TroubleKept)}, scanTrouble); err != nil {
			return rec, err
		}
		rec.Backlog, err = readBacklog(ctx, tx, now)
		return rec, err
	})
	if err != nil {
		return store.CareRecord{}, fmt.Errorf("read the care for crawl %d: %w", crawlID, err)
	}
	return rec, nil
}

func scanTrouble(row Row) (store.TroubleRecord, error) {
	var t store.TroubleRecord
	var since, seen, mended int64
	err := row.Scan(&t.Part, &t.Problem, &t.Pages, &since, &seen, &mended)
	t.Since, t.Seen, t.MendedAt, t.Mended = fromMicros(since), fromMicros(seen), fromMicros(mended), mended > 0
	return t, err
}
