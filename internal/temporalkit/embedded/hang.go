package embedded

import (
	"context"
	"fmt"
	"time"
)

// A child can hang. It runs and accepts connections, but its one connection to its database
// is broken, and whatever it is asked fails or takes for ever. One was like that for a quarter of
// an hour, idle, until it was ended; nothing but a new child helps. A child that answers nothing
// because it has more to do than it can is not idle.
const (
	lookEvery    = 30 * time.Second
	lookPatience = 20 * time.Second
	hungAfter    = 6   // looks in a row: three minutes
	idleShare    = 0.1 // of a core
)

// pace is how a child is looked at.
type pace struct{ every, patience time.Duration }

// Looks counts the looks in a row at which a Temporal server was idle and did not answer.
type Looks struct {
	missed int
	at     time.Time
	spent  time.Duration // processor time of its process
}

// After adds a look: whether the server answered, when, and how much processor time its process
// had spent by then.
func (l Looks) After(answered bool, at time.Time, spent time.Duration) Looks {
	idle := !l.at.IsZero() && float64(spent-l.spent) < idleShare*float64(at.Sub(l.at))
	next := Looks{at: at, spent: spent}
	if idle && !answered {
		next.missed = l.missed + 1
	}
	return next
}

// Hung reports whether the server hangs: it was idle and silent for long enough.
func (l Looks) Hung() bool { return l.missed >= hungAfter }

// watch looks at a child until ctx ends, and reports if it hangs. Where the processor time of
// a process is not known, nobody looks.
func (t *Server) watch(ctx context.Context, child Child) <-chan error {
	hung := make(chan error, 1)
	if t.Alive == nil {
		return hung
	}
	go func() {
		p := t.look
		if p == (pace{}) {
			p = pace{lookEvery, lookPatience}
		}
		tick := time.NewTicker(p.every)
		defer tick.Stop()
		var l Looks
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			asking, cancel := context.WithTimeout(ctx, p.patience)
			err := t.Alive(asking, child.Address())
			cancel()
			spent, unknown := processorTime(child.PID)
			if unknown != nil || ctx.Err() != nil {
				return
			}
			if l = l.After(err == nil, time.Now(), spent); l.Hung() {
				hung <- fmt.Errorf("the Temporal server hangs: idle, and no answer %d times in a row: %w", l.missed, err)
				return
			}
		}
	}()
	return hung
}
