package storetest

import (
	"context"

	"recrawl/internal/store/sqlstore"
)

// stillClock is an engine whose clock stands still, so that nothing lapses however slow the
// machine is.
type stillClock struct {
	sqlstore.Engine
	at int64 // microseconds since 1970 UTC
}

// stopClock stops an engine's clock at the present.
func stopClock(ctx context.Context, e sqlstore.Engine) (*stillClock, error) {
	s := &stillClock{Engine: e}
	return s, e.Read(ctx, func(tx sqlstore.Tx) (err error) {
		s.at, err = tx.Now(ctx)
		return err
	})
}

func (s *stillClock) Read(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return s.Engine.Read(ctx, s.still(fn))
}

func (s *stillClock) Glance(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return s.Engine.Glance(ctx, s.still(fn))
}

func (s *stillClock) Write(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return s.Engine.Write(ctx, s.still(fn))
}

func (s *stillClock) WriteLazily(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return s.Engine.WriteLazily(ctx, s.still(fn))
}

func (s *stillClock) still(fn func(sqlstore.Tx) error) func(sqlstore.Tx) error {
	return func(tx sqlstore.Tx) error { return fn(stillTx{tx, s.at}) }
}

// stillTx is a transaction on a clock that stands still.
type stillTx struct {
	sqlstore.Tx
	at int64
}

func (t stillTx) Now(context.Context) (int64, error) { return t.at, nil }

func (t stillTx) Pipeline(ctx context.Context, steps ...sqlstore.Step) error {
	var queries []sqlstore.Step
	for _, step := range steps {
		if step.Clock != nil {
			*step.Clock = t.at
		} else {
			queries = append(queries, step)
		}
	}
	return t.Tx.Pipeline(ctx, queries...)
}
