package sqlstore

import (
	"context"
	"fmt"

	"recrawl/internal/store"
)

// Terms implements store.Gate.
func (s *Store) Terms(ctx context.Context, origin string) (store.TermsRecord, error) {
	r := store.TermsRecord{Origin: clean(origin)}
	var fetched, expires int64
	_, err := read(ctx, s, func(tx Tx) (struct{}, error) {
		query := `SELECT text, fetched_at, expires_at, failures, problem FROM terms WHERE origin = $1`
		return struct{}{}, tx.QueryRow(ctx, query, []any{r.Origin}, &r.Text, &fetched, &expires, &r.Failures, &r.Problem)
	})
	if err != nil {
		return store.TermsRecord{}, fmt.Errorf("terms of %s: %w", origin, err)
	}
	r.FetchedAt, r.ExpiresAt = fromMicros(fetched), fromMicros(expires)
	return r, nil
}

// SaveTerms implements store.Gate.
func (s *Store) SaveTerms(ctx context.Context, p store.SaveTermsParams) error {
	_, err := write(ctx, s, func(tx Tx) (struct{}, error) { return struct{}{}, s.saveTerms(ctx, tx, p) })
	if err != nil {
		return fmt.Errorf("save the terms of %s: %w", p.Origin, err)
	}
	return nil
}

func (s *Store) saveTerms(ctx context.Context, tx Tx, p store.SaveTermsParams) error {
	host, hostID, err := s.lockOrigin(ctx, tx, p.Origin)
	if err != nil || hostID == 0 {
		return err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO terms (origin, host, text, fetched_at, expires_at, failures, problem) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (origin) DO UPDATE SET text = excluded.text, fetched_at = excluded.fetched_at, expires_at = excluded.expires_at,
			failures = excluded.failures, problem = excluded.problem`,
		clean(p.Origin), host, clean(p.Text), now, now+p.Expires.Microseconds(), p.Failures, clean(p.Problem))
	return err
}
