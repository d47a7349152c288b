package app

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Pauses between two tries to reach something that a worker needs: at first, and at
// most.
const (
	firstWait   = time.Second
	longestWait = 15 * time.Second
)

// reach tries something that needs a service which may not be there yet, such as a
// database that recovers, again and again until it succeeds or fails otherwise. It
// says once that it waits, and once that it no longer does.
func reach[T any](ctx context.Context, log *slog.Logger, whom string, do func(context.Context) (T, error), absent func(error) bool) (T, error) {
	pause, waiting := firstWait, false
	for {
		got, err := do(ctx)
		if err == nil && waiting {
			log.Warn(whom + " is there: going on")
		}
		if err == nil || !absent(err) || ctx.Err() != nil {
			return got, err
		}
		if !waiting {
			log.Warn("waiting for "+whom, "because", err)
			waiting = true
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return got, ctx.Err()
		}
		pause = min(2*pause, longestWait)
	}
}
