package visits

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"recrawl/internal/bench"
)

// Names of the cases.
const (
	BareLoop   = "bare loop: timer + 1 activity"
	BareLocals = "bare loop: timer + 2 local + 1 activity"
	BareFirst  = "bare first visits: child + 1 activity + timer"
	First      = "first visits"
	Unchanged  = "unchanged visits (304)"
	Changed    = "changed visits, all links known"
)

// Saturated names the case of a host with n pages waiting.
func Saturated(n int) string { return fmt.Sprintf("saturated host, %d waiting", n) }

// Timing is a case that was timed once.
type Timing struct {
	Engine  string  `json:"engine"`
	Case    string  `json:"case"`
	Round   int     `json:"round"`
	Visits  int64   `json:"visits"`
	Seconds float64 `json:"seconds"`
	// Milliseconds of processor time a visit.
	Server   float64 `json:"server_ms"`
	Database float64 `json:"database_ms"`
	Worker   float64 `json:"worker_ms"`
}

// Rate returns the visits a second.
func (t Timing) Rate() float64 { return float64(t.Visits) / t.Seconds }

// Count is a case whose work was counted.
type Count struct {
	Engine string      `json:"engine"`
	Case   string      `json:"case"`
	Tally  Tallies     `json:"tally"`
	Store  storeCounts `json:"store"`
	Syncs  *Syncs      `json:"syncs,omitempty"`
}

// subject is the thing measured.
type subject struct {
	at     *place
	worker *bench.Process
	visits func(ctx context.Context) (int64, error)
	counts string
}

// reading holds a subject's meters at one time.
type reading struct {
	at                       time.Time
	visits                   int64
	server, database, worker time.Duration
}

func (s subject) read(ctx context.Context) (r reading, err error) {
	if r.visits, err = s.visits(ctx); err != nil {
		return r, err
	}
	r.at = time.Now()
	if r.server, err = s.at.server(); err != nil {
		return r, err
	}
	if s.at.database != nil {
		if r.database, err = s.at.database(); err != nil {
			return r, err
		}
	}
	r.worker, err = bench.CPU(s.worker.PID())
	return r, err
}

// more waits for n more visits.
func (s subject) more(ctx context.Context, n int) error {
	begun, err := s.visits(ctx)
	if err != nil {
		return err
	}
	return s.reach(ctx, begun+int64(n))
}

// reach waits until there are n visits in all.
func (s subject) reach(ctx context.Context, n int64) error {
	return bench.Await(ctx, "there are enough visits", 5*time.Millisecond, func(ctx context.Context) (bool, error) {
		now, err := s.visits(ctx)
		return now >= n, err
	}, s.worker)
}

// window measures until done returns.
func (s subject) window(ctx context.Context, done func(context.Context) error) (Timing, error) {
	from, err := s.read(ctx)
	if err != nil {
		return Timing{}, err
	}
	if err := done(ctx); err != nil {
		return Timing{}, err
	}
	until, err := s.read(ctx)
	if err != nil {
		return Timing{}, err
	}
	return timing(from, until)
}

// errNoVisit is the error of a window without a visit.
var errNoVisit = errors.New("there was no visit while it was measured: choose a longer window or more pages")

func timing(from, until reading) (Timing, error) {
	t := Timing{Visits: until.visits - from.visits, Seconds: until.at.Sub(from.at).Seconds()}
	if t.Visits <= 0 || t.Seconds <= 0 {
		return t, errNoVisit
	}
	each := func(a, b time.Duration) float64 { return (b - a).Seconds() * 1000 / float64(t.Visits) }
	t.Server, t.Database, t.Worker = each(from.server, until.server), each(from.database, until.database), each(from.worker, until.worker)
	return t, nil
}

// tallied counts all work until done returns. With whole, it counts only whole visits of
// each workflow, for workflows that make several.
func (s subject) tallied(ctx context.Context, whole bool, done func(context.Context) error) (c Count, err error) {
	var end func(context.Context) (Syncs, error)
	if s.at.syncs != nil {
		if end, err = s.at.syncs(ctx); err != nil {
			return c, err
		}
	}
	before, err := s.storeCounts()
	if err != nil {
		return c, err
	}
	from := time.Now()
	if err := done(ctx); err != nil {
		return c, err
	}
	until := time.Now()
	after, err := s.storeCounts()
	if err != nil {
		return c, err
	}
	c.Store = after.since(before)
	if end != nil {
		syncs, err := end(ctx)
		if err != nil {
			return c, err
		}
		c.Syncs = &syncs
	}
	client, err := dial(ctx, s.at.address, s.at.namespace, s.at.embedded)
	if err != nil {
		return c, err
	}
	defer client.Close()
	if c.Tally, err = count(ctx, client, s.at.namespace, from, until, whole); err == nil && c.Tally.Visiting.Visits == 0 {
		err = errNoVisit
	}
	return c, err
}

// storeCounts returns the counts of a counting program, and none for others.
func (s subject) storeCounts() (storeCounts, error) {
	if s.counts == "" {
		return storeCounts{}, nil
	}
	counts, err := readStoreCounts(s.counts)
	if errors.Is(err, os.ErrNotExist) {
		err = errors.New("the programs do not count: build them with -tags counts")
	}
	return counts, err
}
