package sim

import (
	"math"
	"slices"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
)

// The estimated share of copies that are up to date matches the true one: over an hour of a
// site whose truth is known, their means are within three points. Days of the worlds' pages
// are minutes here, so that much is learned within hours.
func TestCalibrated(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many simulations")
	}
	t.Parallel()
	const (
		quick  = 24 * 60 // the factor by which the drawn world is sped up
		hours  = 3
		minute = 1. / 24 / 60
		points = 0.03
	)
	spec := crawl.DefaultSpec().Revisit
	for _, of := range []*crawl.Duration{&spec.DefaultInterval, &spec.MinInterval, &spec.MaxInterval} {
		*of /= quick
	}
	spec.MinInterval = max(spec.MinInterval, crawl.Duration(time.Second))
	for kind, each := range map[string]float64{"cho": 1, "host": 0.1, "burst": 0.1, "timetables": 0.5, "office": 0.1} {
		w := draw(t, kind, Spec{Pages: 300, Days: hours * 60, Seed: 3}).hastened(quick)
		for _, name := range []string{"sqrt", "fresh", "age", "harmonic", "frmax", "fixed"} {
			p, err := Choose([]string{name})
			if err != nil {
				t.Fatal(err)
			}
			judged := &calibrated{from: (hours - 1) * 60 * minute, world: w}
			inner := p[0]
			policy := inner
			policy.make = func(s Setting, w *World) Scheduler {
				judged.product = inner.make(s, w).(*product)
				return judged
			}
			Run(w, policy, Options{Budget: Budget{Each: quick * each}, Mode: Timers, Seed: 3, Setup: Setup{Revisit: &spec, Every: minute}})
			n := float64(judged.times)
			believed, fresh := judged.believed/n, judged.fresh/n
			t.Logf("%s, %s: %.1f %% believed up to date, %.1f %% are, %.1f %% planned", kind, name, 100*believed, 100*fresh, 100*judged.planned/n)
			if judged.times < 20 || math.Abs(believed-fresh) > points {
				t.Errorf("%s, %s: at %d times %.3f were believed up to date and %.3f were", kind, name, judged.times, believed, fresh)
			}
		}
	}
}

// hastened returns the world with everything sped up by a factor.
func (w *World) hastened(times float64) *World {
	fast := *w
	fast.Days /= times
	fast.Pages = slices.Clone(w.Pages)
	for i := range fast.Pages {
		p := &fast.Pages[i]
		p.Rate *= times
		p.Changes = slices.Clone(p.Changes)
		for j := range p.Changes {
			p.Changes[j] /= times
		}
	}
	return &fast
}

// calibrated compares the beliefs with the truth after each round of maintenance.
type calibrated struct {
	*product
	world                    *World
	from                     float64
	turns, times             int
	believed, planned, fresh float64 // shares, summed over the times
}

// Every implements Maintainer.
func (c *calibrated) Every() float64 { return c.product.Every() }

// Maintain implements Maintainer.
func (c *calibrated) Maintain(at float64, move func(page int, due float64)) {
	c.product.Maintain(at, move)
	if c.turns++; at < c.from || c.turns%3 > 0 {
		return
	}
	var all schedule.Copies
	fresh := 0
	copies := make([]schedule.Copy, len(c.pages))
	for i, known := range c.pages {
		copies[i] = schedule.Copy{Belief: known.belief, Parameters: c.parametersOf(i), Looked: epoch.Add(duration(known.at)), Due: epoch.Add(duration(known.due))}
		if !slices.ContainsFunc(c.world.Pages[i].Changes, func(change float64) bool { return change > known.at && change <= at }) {
			fresh++
		}
	}
	schedule.Fit(copies)
	for _, one := range copies {
		all.Add(one, epoch.Add(duration(at)))
	}
	c.times++
	c.believed += all.Fresh()
	c.planned += all.Planned()
	c.fresh += float64(fresh) / float64(len(c.pages))
}
