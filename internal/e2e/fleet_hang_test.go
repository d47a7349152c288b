//go:build unix

package e2e

import (
	"context"
	"time"

	"recrawl/internal/bench"
	"recrawl/internal/temporalkit"
	"recrawl/internal/temporalkit/embedded"
)

// A fleet's Temporal is a dev server on SQLite, and one of these can hang: idle, with a
// broken connection to its database, until it is ended. In a cluster the orchestrator's
// probe ends it; for `starter dev` package embedded does.
const (
	hangLookEvery    = 20 * time.Second
	hangLookPatience = 10 * time.Second
)

// hangWatch is when the fleet last looked at its Temporal server, and what all looks found.
type hangWatch struct {
	pid   int
	at    time.Time
	looks embedded.Looks
}

// replaceHungTemporal looks at the fleet's Temporal server now and then, and starts another
// one in place of one that hangs.
func (f *fleet) replaceHungTemporal() {
	if f.temporal == nil || time.Since(f.hang.at) < hangLookEvery {
		return
	}
	pid := f.temporal.cmd.Process.Pid
	if pid != f.hang.pid {
		f.hang = hangWatch{pid: pid}
	}
	ctx, cancel := context.WithTimeout(f.t.Context(), hangLookPatience)
	defer cancel()
	f.hang.at = time.Now()
	silent := temporalkit.Alive(ctx, f.address)
	spent, err := bench.CPU(pid)
	if err != nil {
		return // it has ended, or this is no Linux
	}
	if f.hang.looks = f.hang.looks.After(silent == nil, time.Now(), spent); !f.hang.looks.Hung() {
		return
	}
	f.t.Logf("Temporal hangs and is replaced: %v\n%s", silent, f.temporal.out)
	f.temporal.kill()
	f.startTemporal()
}
