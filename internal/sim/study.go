package sim

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
)

// Study compares policies on worlds that differ only by chance.
type Study struct {
	// Title says what is compared on what, in one line.
	Title string
	// Notes explain how to read the results, a sentence each.
	Notes []string
	// World makes the world of a seed.
	World func(seed uint64) (*World, error)
	// Seeds are the seeds, at least one.
	Seeds    []uint64
	Policies []Policy
	Budget   Budget
	// Mode may also be Better.
	Mode   Mode
	Warmup float64
	// Setup is given to the product's policies.
	Setup Setup
	// Progress, unless nil, is called after each run with the number of runs done and in
	// all.
	Progress func(done, all int)
}

// Better runs a policy in WorkConserving and in Capped and takes the run in which
// copies are less stale.
const Better Mode = "better"

// Comparison holds the results of a study.
type Comparison struct {
	Study
	// First is the world of the first seed.
	First *World
	Rows  []Row
	// Stationary says that the optimum is really optimal; see [World].
	Stationary bool
}

// Row holds the results of one policy.
type Row struct {
	Policy
	// Runs has the result for each seed. Only the first has PageVisits.
	Runs []Result
	// Gaps has, for each objective, the share of the gap between uniform and that
	// objective's optimum that the policy closed, by seed. Only stationary worlds have
	// them, and none in which nothing can be gained.
	Gaps map[string][]float64
}

// Do runs a study: its policies on each world, several at a time. It ends early
// with the context's error.
func (s Study) Do(ctx context.Context) (*Comparison, error) {
	c := &Comparison{Study: s}
	var references []Policy
	for _, p := range s.Policies {
		c.Rows = append(c.Rows, Row{Policy: p, Gaps: map[string][]float64{}})
	}
	for i, seed := range s.Seeds {
		w, err := s.World(seed)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			c.First, c.Stationary = w, w.Stationary
			if w.Stationary {
				references = referencesFor(s.Policies)
			}
		}
		results, err := s.runAll(ctx, w, seed, slices.Concat(s.Policies, references), i)
		if err != nil {
			return nil, err
		}
		c.add(results[:len(s.Policies)], i == 0)
		if c.Stationary {
			c.addGaps(results, slices.Concat(s.Policies, references))
		}
	}
	return c, nil
}

// referencesFor returns the policies between which gaps are measured and that are not run
// anyway.
func referencesFor(run []Policy) []Policy {
	var missing []Policy
	for _, p := range Policies() {
		reference := p.Name == "uniform" || p.Family == Clairvoyant && p.Objective != ""
		if reference && !slices.ContainsFunc(run, func(q Policy) bool { return q.Name == p.Name }) {
			missing = append(missing, p)
		}
	}
	return missing
}

// runAll runs policies on one world, as many at a time as there are processors.
func (s Study) runAll(ctx context.Context, w *World, seed uint64, policies []Policy, round int) ([]Result, error) {
	results := make([]Result, len(policies))
	next := make(chan int)
	var workers sync.WaitGroup
	var mutex sync.Mutex
	done, all := round*len(policies), len(s.Seeds)*len(policies)
	for range min(runtime.GOMAXPROCS(0), len(policies)) {
		workers.Go(func() {
			for i := range next {
				results[i] = s.run(w, policies[i], seed)
				if s.Progress == nil {
					continue
				}
				mutex.Lock()
				done++
				s.Progress(done, all)
				mutex.Unlock()
			}
		})
	}
	for i := range policies {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("stopped: %w", err)
	}
	return results, nil
}

func (s Study) run(w *World, p Policy, seed uint64) Result {
	o := Options{Budget: s.Budget, Mode: s.Mode, Warmup: s.Warmup, Seed: seed, Setup: s.Setup}
	if s.Mode != Better {
		return Run(w, p, o)
	}
	o.Mode = WorkConserving
	kept := Run(w, p, o)
	o.Mode = Capped
	if other := Run(w, p, o); other.Staleness < kept.Staleness {
		kept = other
	}
	return kept
}

func (c *Comparison) add(results []Result, first bool) {
	for i, r := range results {
		if !first {
			r.PageVisits = nil
		}
		c.Rows[i].Runs = append(c.Rows[i].Runs, r)
	}
}

func (c *Comparison) addGaps(results []Result, policies []Policy) {
	find := func(name string) Metrics {
		return results[slices.IndexFunc(policies, func(p Policy) bool { return p.Name == name })].Metrics
	}
	for _, objective := range Objectives() {
		worst, best := find("uniform").Penalty(objective), find("optimum-"+objective).Penalty(objective)
		if worst == best {
			continue // as with a single page
		}
		for i := range c.Rows {
			closed := (worst - results[i].Penalty(objective)) / (worst - best)
			c.Rows[i].Gaps[objective] = append(c.Rows[i].Gaps[objective], closed)
		}
	}
}
