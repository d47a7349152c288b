//go:build unix

package e2e

import (
	"context"
	"time"

	"recrawl/internal/bench"
	"recrawl/internal/temporalkit"
)

// A fleet's Temporal is a dev server on SQLite, and one of these can hang: idle, with a
// broken connection to its database, until it is ended. In a cluster the orchestrator's
// probe ends it; for `starter dev` package embedded does.
const (
	hangLookEvery    = 20 * time.Second
	hangLookPatience = 10 * time.Second
	hangLooks        = 6
	hangIdleShare    = 0.1 // of a core
)

// hangWatch counts, without a gap, the looks at a Temporal server that was idle and did not
// answer.
type hangWatch struct {
	pid    int
	at     time.Time
	spent  time.Duration
	missed int
}

// replaceHungTemporal looks at the fleet's Temporal server now and then, and starts another
// one in place of one that hangs.
func (f *fleet) replaceHungTemporal() {
	if f.temporal == nil || time.Since(f.hang.at) < hangLookEvery {
		return
	}
	next := hangWatch{pid: f.temporal.cmd.Process.Pid, at: time.Now()}
	ctx, cancel := context.WithTimeout(f.t.Context(), hangLookPatience)
	defer cancel()
	silent := temporalkit.Alive(ctx, f.address)
	spent, err := bench.CPU(next.pid)
	if err != nil {
		return // it has ended, or this is no Linux
	}
	next.spent = spent
	idle := next.pid == f.hang.pid && float64(spent-f.hang.spent) < hangIdleShare*float64(next.at.Sub(f.hang.at))
	if silent != nil && idle {
		next.missed = f.hang.missed + 1
	}
	if f.hang = next; next.missed < hangLooks {
		return
	}
	f.t.Logf("Temporal hangs and is replaced: %v\n%s", silent, f.temporal.out)
	f.temporal.kill()
	f.startTemporal()
}
