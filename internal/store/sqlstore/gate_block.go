package sqlstore

import (
	"context"
)

// blockable is the host's id; a host that is to be blocked may be new.
func blockable(ctx context.Context, tx Tx, key string, blocked bool) (int64, error) {
	if blocked {
		return hostByKey(ctx, tx, key)
	}
	var id int64
	err := tx.QueryRow(ctx, "SELECT id FROM hosts WHERE host = $1", []any{key}, &id)
	return id, err
}

func (g *gateHost) setBlocked(ctx context.Context, blocked bool) error {
	g.row.blocked = count(blocked)
	if !blocked {
		return g.advance(ctx)
	}
	if err := g.takeBack(ctx); err != nil {
		return err
	}
	return g.wakePresent(ctx)
}

// takeBack takes back all permits that were not begun: a permit whose holder is
// gone would keep others from their turns when the host is unblocked.
func (g *gateHost) takeBack(ctx context.Context) error {
	granted, err := g.granted(ctx)
	if err != nil {
		return err
	}
	for _, p := range granted {
		if err := g.requeue(ctx, p, kindPage); err != nil {
			return err
		}
		g.tx.Wake(p.page) // its Begin may be waiting
	}
	return nil
}

// wakePresent wakes those who wait in some process, so that they check again.
func (g *gateHost) wakePresent(ctx context.Context) error {
	present, err := g.presentWaiters(ctx, nil)
	for _, w := range present {
		g.tx.Wake(w.place.page)
	}
	return err
}
