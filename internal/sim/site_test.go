package sim

import (
	"math"
	"slices"
	"testing"
)

// drawSite draws a site like many recorded ones: it grows by sections of pages that appear
// together, and most changes are of a whole section or of all pages at once. In the long
// run its pages change alike, so visiting some more often than others gains hardly
// anything.
func drawSite(t *testing.T, seed uint64, days float64) *World {
	t.Helper()
	const (
		sections, pages = 12, 12
		own             = 1. / 300 // changes a day of a page by itself
		waves           = 1. / 40  // a day
		share           = 0.8      // of the pages that a wave goes through change
		polished        = 0.2      // of the new pages change again within days
	)
	d := newDrawing(seed)
	w := &World{Name: "site", Days: days, Hosts: 1}
	for section := range sections {
		birth := 0.0
		if section >= sections/2 {
			birth = d.Float64() * days
		}
		for range pages {
			p := Page{Weight: 1, Birth: birth, Death: math.Inf(1), Changes: d.poisson(own, birth, days)}
			if at := birth + 3*d.ExpFloat64(); d.Float64() < polished && at > birth && at < days {
				p.Changes = append(p.Changes, at)
			}
			w.Pages = append(w.Pages, p)
		}
	}
	for _, at := range d.poisson(waves, 0, days) {
		all, section := d.Float64() < 0.5, d.IntN(sections)
		for i := range w.Pages {
			p := &w.Pages[i]
			if (all || i/pages == section) && at > p.Birth && d.Float64() < share {
				p.Changes = append(p.Changes, at)
			}
		}
	}
	for i := range w.Pages {
		p := &w.Pages[i]
		slices.Sort(p.Changes)
		p.Rate = float64(len(p.Changes)) / (days - p.Birth)
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	return w
}

// Where next to nothing can be gained, little is lost: the price of learning, first looks,
// rates that fall with age and jitter is bounded. It is some percent, and grows with the
// power of time in the policy's penalty; see docs/policies.md. The mean of four other seeds
// differs by about one percent.
func TestPriceOfLearning(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many simulations")
	}
	t.Parallel()
	const seeds, days = 4, 900
	o := Options{Budget: Budget{Each: 0.05}, Mode: WorkConserving, Warmup: 120}
	for policy, most := range map[string]float64{"sqrt": 1.015, "fresh": 1.03, "age": 1.03} {
		policies, err := Choose([]string{policy, "uniform"})
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.0
		for o.Seed = 1; o.Seed <= seeds; o.Seed++ {
			w := drawSite(t, o.Seed, days)
			mean += Run(w, policies[0], o).Penalty(policy) / Run(w, policies[1], o).Penalty(policy) / seeds
		}
		if mean > most {
			t.Errorf("%s: %.4f of what uniform is penalised, want at most %v", policy, mean, most)
		} else {
			t.Logf("%s: %.4f of what uniform is penalised", policy, mean)
		}
	}
}

// Pages that change at every look, however often they do, do not take the visits of all others:
// what nobody saw of their rates does not grow from round to round.
func TestPagesThatAlwaysChange(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many simulations")
	}
	t.Parallel()
	policies, err := Choose([]string{"sqrt", "uniform"})
	if err != nil {
		t.Fatal(err)
	}
	const pages = 150
	d := newDrawing(2)
	w := &World{Name: "always", Days: 450, Hosts: 1}
	for i := range pages {
		phase := d.Float64()
		if i%8 < 4 {
			w.settleBy(timetable{every: []float64{1, 2, 3, 6}[i%4] / 24}, d, phase, w.Days)
		} else {
			w.settle(1/d.between(0.5, 100), d.poisson, w.Days)
		}
	}
	o := Options{Budget: Budget{Each: 0.5}, Mode: Timers, Warmup: 200, Seed: 2}
	got := Run(w, policies[0], o)
	o.Mode = WorkConserving
	share := got.Unseen / Run(w, policies[1], o).Unseen
	if t.Logf("%.3f of what uniform is penalised", share); share > 0.85 || got.Visits > 1.03*0.5*pages {
		t.Errorf("%.3f of what uniform is penalised with %.1f visits a day, want at most 0.85 with 75", share, got.Visits)
	}
}
