package app

import (
	"context"
	"errors"
	"fmt"

	"recrawl/internal/cli"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// SetBlocked implements cli.Backend.
func (Backend) SetBlocked(ctx context.Context, at cli.Target, host string, blocked bool) (string, error) {
	s, err := openStore(ctx, at.Store, storeWrite, "")
	if err != nil {
		return "", err
	}
	effects, err := s.SetBlocked(ctx, host, blocked)
	if err = errors.Join(err, s.Close()); err != nil {
		return "", fmt.Errorf("host %s: %w", host, err)
	}
	if blocked {
		return fmt.Sprintf("blocked %s: no request to it begins, in any crawl, until it is unblocked", host), nil
	}
	return fmt.Sprintf("unblocked %s", host), turn(ctx, at, effects)
}

// turn signals pages whose turn has come. If Temporal cannot be reached,
// maintenance does it, so that is no failure.
func turn(ctx context.Context, at cli.Target, effects store.GateEffects) error {
	if len(effects.Turns) == 0 {
		return nil
	}
	c, err := dialTemporal(ctx, at.Temporal)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	defer c.Close()
	flows := temporalkit.Workflows{Client: c}
	for _, t := range effects.Turns {
		if err := flows.Turn(ctx, t.Page, t.In); err != nil && !errors.Is(err, temporalkit.ErrNoWorkflow) {
			return err
		}
	}
	return nil
}
