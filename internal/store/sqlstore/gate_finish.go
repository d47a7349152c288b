package sqlstore

import (
	"context"
	"fmt"

	"recrawl/internal/store"
)

// Finish implements store.Gate. The page's row is locked before its host's, as in
// transactions that take a page out of its line.
func (s *Store) Finish(ctx context.Context, p store.FinishParams) (store.FinishResult, error) {
	done, err := write(ctx, s, func(tx Tx) (store.FinishResult, error) { return s.finish(ctx, tx, p) })
	if err != nil {
		return store.FinishResult{}, fmt.Errorf("finish permit %d of page %d: %w", p.Release.Permit.ID, p.Page, err)
	}
	if done.Room {
		// The visit is recorded whatever happens here. A refill that nobody is told of is
		// left to maintenance.
		if done.Room, err = s.mayRefill(ctx, p.Page); err != nil {
			done.Room = false
		}
	}
	return done, nil
}

func (s *Store) finish(ctx context.Context, tx Tx, p store.FinishParams) (done store.FinishResult, err error) {
	var version versionKey
	page, err := s.lockPage(ctx, tx, p.Page, versionAfter(p.Page, &version))
	if err != nil {
		return done, err
	}
	if page.generation != p.Generation {
		return done, fmt.Errorf("the spec has changed: %w", store.ErrConflict)
	}
	var now int64
	if done.Effects, now, err = s.release(ctx, tx, p.Release); err != nil {
		return done, err
	}
	plan := p.Plan(done.Effects.Held)
	done.RecordResult, err = s.recordAfter(ctx, tx, page, version, plan, now)
	done.Copied = plan.Visit.Outcome.FreesDuplicates() // nobody asked: it is rare here
	return done, err
}
