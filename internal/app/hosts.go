package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	message, effects, err := setBlocked(ctx, s, host, blocked)
	if err = errors.Join(err, s.Close()); err != nil {
		return "", fmt.Errorf("host %s: %w", host, err)
	}
	return message, turn(ctx, at, effects)
}

// hostStore is the part of a store that blocks hosts.
type hostStore interface {
	SetBlocked(ctx context.Context, host string, blocked bool) (store.GateEffects, error)
	HostsNamed(ctx context.Context, host string, limit int) ([]string, error)
}

// namesakes is the most hosts that are named because they sound like another.
const namesakes = 5

// setBlocked blocks or unblocks a host and says what that achieves.
func setBlocked(ctx context.Context, s hostStore, host string, blocked bool) (string, store.GateEffects, error) {
	effects, err := s.SetBlocked(ctx, host, blocked)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", effects, err
	}
	named, namedErr := s.HostsNamed(ctx, host, namesakes)
	switch {
	case namedErr != nil:
		return "", effects, errors.Join(err, namedErr)
	case err != nil:
		return "", effects, fmt.Errorf("%s: %w", noSuchHost(named), store.ErrNotFound)
	}
	return blockedWords(host, blocked, named), effects, nil
}

// blockedWords say what was done to a host. Crawls have the hosts named, which begin with
// this one if it is among them.
func blockedWords(host string, blocked bool, named []string) string {
	has := len(named) > 0 && named[0] == host
	switch {
	case blocked && has:
		return fmt.Sprintf("blocked %s: no request to it begins, in any crawl, until it is unblocked", host)
	case blocked:
		return fmt.Sprintf("blocked %s ahead of time: %s", host, noSuchHost(named))
	case has:
		return fmt.Sprintf("unblocked %s", host)
	}
	return fmt.Sprintf("unblocked %s: %s", host, noSuchHost(named))
}

// noSuchHost names the hosts that somebody may have meant by one that no crawl has.
func noSuchHost(others []string) string {
	const none = "no crawl has this host yet"
	switch n := len(others); n {
	case 0:
		return none
	case 1:
		return fmt.Sprintf("%s, only %s, which is another host", none, others[0])
	default:
		return fmt.Sprintf("%s, only %s and %s, which are other hosts", none, strings.Join(others[:n-1], ", "), others[n-1])
	}
}

// turn signals pages whose turn has come. If Temporal cannot be reached, or we have another key
// than the workers, maintenance does it, so that is no failure.
func turn(ctx context.Context, at cli.Target, effects store.GateEffects) error {
	if len(effects.Turns) == 0 {
		return nil
	}
	c, err := dialTemporal(ctx, at.Temporal)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	defer c.Close()
	flows, err := newFlowClient(c, at.Temporal).writing(ctx)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	for _, t := range effects.Turns {
		if err := flows.Turn(ctx, t.Page, t.In); err != nil && !errors.Is(err, temporalkit.ErrNoWorkflow) {
			return err
		}
	}
	return nil
}
