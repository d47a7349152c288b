// Package visits measures what a visit costs: visits a second, processor time, events,
// transactions and fsyncs of the built programs, beside bare Temporal workflows of the
// same number in the same run. docs/benchmarks.md says how to read it.
package visits

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Options says what to measure.
type Options struct {
	// Engines are the databases: SQLite, Postgres, PostgresThin.
	Engines []string
	// Rounds is how often everything is timed; bare loops and the product take turns. With
	// 0, work is only counted.
	Rounds int
	// Hosts is the site's number of hosts, Pages its number of pages in all.
	Hosts, Pages int
	// Delay is the gap between two requests to a host.
	Delay time.Duration
	// Timer is how long workflows sleep between two visits. It must be short enough that
	// there is always more to do than is done.
	Timer time.Duration
	// Window is how long a figure is measured, and Settle the wait before that.
	Window, Settle time.Duration
	// Waiting lists the lengths of line for which visits to a saturated host are counted,
	// and SaturatedVisits is their number, at most two for each waiting page.
	Waiting         []int
	SaturatedVisits int
	// Programs is the folder of starter and worker, Counting that of the same programs
	// built with the tag counts; "" leaves the counts out.
	Programs, Counting string
	// Root is the repository's folder; Self is the program that runs this benchmark.
	Root, Self string
	// Folder is the place of all data; it exists and belongs to the caller.
	Folder string
	// Progress gets a line for each step, JSON one for each figure; either may be nil.
	Progress, JSON io.Writer
}

// The engines.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
	// PostgresThin is Postgres with fewer indexes of Temporal's list of workflows
	// (deploy/temporal/thin-visibility.sql), as the embedded server has.
	PostgresThin = "postgres-thin"
)

// onPostgres reports whether the engine is a real server with Postgres.
func onPostgres(engine string) bool { return engine == Postgres || engine == PostgresThin }

// Default measures in about eleven minutes for each engine, on two quiet cores.
func Default() Options {
	return Options{
		Engines: []string{SQLite, Postgres}, Rounds: 2, Hosts: 40, Pages: 400, Delay: 10 * time.Millisecond,
		Timer: 2 * time.Second, Window: 8 * time.Second, Settle: 3 * time.Second, Waiting: []int{25, 2000}, SaturatedVisits: 300,
	}
}

// Quick shows in under a minute that everything works. Its figures say little.
func Quick() Options {
	return Options{
		Engines: []string{SQLite}, Rounds: 1, Hosts: 10, Pages: 50, Delay: 10 * time.Millisecond,
		Timer: time.Second, Window: 2 * time.Second, Settle: time.Second, Waiting: []int{5}, SaturatedVisits: 15,
	}
}

// Check says what is wrong with the options, or returns nil.
func (o Options) Check() error {
	for _, e := range o.Engines {
		if e != SQLite && !onPostgres(e) {
			return fmt.Errorf("engine %q: write %s, %s or %s", e, SQLite, Postgres, PostgresThin)
		}
	}
	switch {
	case len(o.Engines) == 0:
		return errors.New("no engine: name one at least")
	case o.Rounds < 0 || o.Rounds == 0 && o.Counting == "":
		return fmt.Errorf("rounds %d: use 1 at least, or 0 with programs that count", o.Rounds)
	case o.Hosts < 1 || o.Hosts > 250:
		return fmt.Errorf("hosts %d: use 1 to 250", o.Hosts)
	case o.Pages < o.Hosts || o.Pages%o.Hosts != 0:
		return fmt.Errorf("pages %d: use a multiple of the hosts, %d", o.Pages, o.Hosts)
	case o.Delay < 0 || o.Timer < time.Second || o.Window < time.Second || o.Settle < 0:
		return errors.New("delay and settle are 0 at least, timer and window 1s at least")
	case len(o.Waiting) > 0 && o.SaturatedVisits < 1:
		return fmt.Errorf("saturated visits %d: use 1 at least", o.SaturatedVisits)
	case slices.ContainsFunc(o.Waiting, func(n int) bool { return n < 1 || n > 100_000 }):
		return fmt.Errorf("waiting %v: use numbers of 1 to 100000", o.Waiting)
	}
	return nil
}

func (o Options) say(format string, args ...any) {
	if o.Progress != nil {
		fmt.Fprintf(o.Progress, format+"\n", args...)
	}
}
