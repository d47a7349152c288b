package sqlstore

import (
	"context"
	"fmt"
	"math"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// retain removes a page's excess records after a visit that left a version. Bytes
// that no version has any more wait for Unreferenced.
func (s *Store) retain(ctx context.Context, tx Tx, d *deltas, page int64, visit int, last versionKey, now int64, r store.Retention) error {
	if r.Versions > 0 || r.Age > 0 {
		if err := s.retainVersions(ctx, tx, d, page, last, now, r); err != nil {
			return fmt.Errorf("remove old versions: %w", err)
		}
	}
	if r.Visits > 0 && visit > r.Visits {
		if err := s.retainVisits(ctx, tx, d, page, visit-r.Visits); err != nil {
			return fmt.Errorf("remove old visits: %w", err)
		}
	}
	return nil
}

func (s *Store) retainVersions(ctx context.Context, tx Tx, d *deltas, page int64, last versionKey, now int64, r store.Retention) error {
	if last.seq <= 1 && !last.back {
		return nil
	}
	newest := last.seq
	if last.back { // there may be newer ones than the last
		next, err := nextSeq(ctx, tx, page)
		if err != nil {
			return err
		}
		newest = next - 1
	}
	below := 0 // numbers up to this one are too many
	if r.Versions > 0 {
		below = max(newest-r.Versions, 0)
	}
	before := int64(math.MinInt64) // replaced before this they are too old
	if r.Age > 0 {
		before = now - r.Age.Microseconds()
	}
	// A version counts as replaced when the page next got another one, or left it by a
	// return. Times rise with the visits, so one that is not too old itself was not replaced
	// too long ago; without asking that first, each would be compared with all later ones.
	query := `DELETE FROM versions WHERE id IN (
		SELECT v.id FROM versions v WHERE v.page_id = $1 AND v.seq < $2 AND v.id <> $7
			AND (v.seq <= $3 OR v.left_at > 0 AND v.left_at < $8
				OR v.at < $9 AND EXISTS (SELECT 1 FROM versions n WHERE n.page_id = v.page_id AND n.seq > v.seq AND n.seq <= $4 AND n.visit > v.back_visit AND n.at < $5))
			AND NOT EXISTS (SELECT 1 FROM pending_links l WHERE l.version_id = v.id)
		ORDER BY v.visit LIMIT $6) RETURNING digest`
	gone, err := collect(ctx, tx, query, []any{page, newest, below, newest, before, store.RetentionStep, last.id, before, before}, scanText)
	if err != nil || len(gone) == 0 {
		return err
	}
	contents := map[string]int64{}
	for _, digest := range gone {
		contents[digest]++
	}
	d.total(totalVersions, -int64(len(gone)))
	_, err = s.uncountContents(ctx, tx, contents)
	return err
}

// retainVisits removes visits up to a number, except those that made versions which
// are kept.
func (s *Store) retainVisits(ctx context.Context, tx Tx, d *deltas, page int64, last int) error {
	query := `DELETE FROM visits WHERE page_id = $1 AND visit IN (
		SELECT v.visit FROM visits v WHERE v.page_id = $2 AND v.visit <= $3
			AND NOT EXISTS (SELECT 1 FROM versions w WHERE w.page_id = v.page_id AND w.visit = v.visit)
		ORDER BY v.visit LIMIT $4) RETURNING outcome`
	return tx.Query(ctx, query, []any{page, page, last, store.RetentionStep}, func(row Row) error {
		var outcome int64
		err := row.Scan(&outcome)
		d.unvisit(crawl.Outcome(outcome))
		return err
	})
}
