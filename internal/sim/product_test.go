package sim

import (
	"fmt"
	"math"
	"testing"

	"recrawl/internal/schedule"
)

// Storing a belief between visits changes nothing.
func TestBeliefsAreStored(t *testing.T) {
	t.Parallel()
	w := draw(t, "host", Spec{Pages: 60, Days: 100, Seed: 1, Weights: "pareto"})
	for _, p := range ours {
		o := Options{Budget: Budget{Each: 0.2}, Mode: WorkConserving, Warmup: 50, Seed: 1}
		stored := p
		stored.make = func(s Setting, w *World) Scheduler {
			if rule, selects := p.make(s, w).(*selective); selects {
				return rule // whose beliefs are those of frmax
			}
			return storing{p.make(s, w).(*product)}
		}
		if a, b := Run(w, p, o).Metrics, Run(w, stored, o).Metrics; a != b {
			t.Errorf("%s: %+v, and with stored beliefs %+v", p.Name, a, b)
		}
	}
}

// storing encodes and decodes each belief after each visit.
type storing struct{ *product }

func (s storing) Enter(page int, at float64) float64 { return s.store(page, s.product.Enter(page, at)) }

func (s storing) Visit(page int, look Look) float64 {
	return s.store(page, s.product.Visit(page, look))
}

func (s storing) store(page int, due float64) float64 {
	known := &s.pages[page]
	known.belief = schedule.DecodeBelief(known.belief.Encode())
	return due
}

// By timers alone, as in the product, the threshold makes visits meet the budget.
func TestTimersMeetTheBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many simulations")
	}
	t.Parallel()
	for _, kind := range []string{"cho", "burst"} {
		for _, name := range Objectives() {
			w := draw(t, kind, Spec{Pages: 400, Days: 200, Seed: 4, Weights: "pareto"})
			p, err := Choose([]string{name})
			if err != nil {
				t.Fatal(err)
			}
			r := Run(w, p[0], Options{Budget: Budget{Each: 0.2}, Mode: Timers, Warmup: 100, Seed: 4})
			if math.Abs(r.Visits/80-1) > 0.06 {
				t.Errorf("%s, %s: %.1f visits a day, the budget is 80", kind, name, r.Visits)
			}
		}
	}
}

// Hosts with a limit have a price at which their pages demand no more than that, so that
// none waits long for its host.
func TestHostPrices(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many simulations")
	}
	t.Parallel()
	w := draw(t, "e3-limited", Spec{Pages: 60, Days: 200, Seed: 1})
	for _, name := range Objectives() {
		p, err := Choose([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		noted, d := withDiary(p[0])
		r := Run(w, noted, Options{Budget: Budget{Each: 1}, Mode: Timers, Warmup: 100, Seed: 1})
		made, late := 0.0, 0.0
		for _, v := range d.visits {
			if v.At >= 100 && w.Pages[v.page].Host%2 == 0 {
				made++
				late += max(0, v.At-v.due)
			}
		}
		if perDay := made / 100 / 10; perDay > 2 || perDay < 1.5 {
			t.Errorf("%s: %.2f visits a day of a host that takes 2", name, perDay)
		}
		if wait := late / made; wait > 0.5 {
			t.Errorf("%s: visits wait %.2f days for their host, where one fits every half a day", name, wait)
		}
		if math.Abs(r.Visits/60-1) > 0.1 {
			t.Errorf("%s: %.1f visits a day, the budget is 60", name, r.Visits)
		}
		u := d.scheduler.(*product).maintenance
		for host := range w.Hosts {
			if own := u.hosts[int64(host)].Price > u.steering.Threshold; own != (host%2 == 0) {
				t.Errorf("%s: host %d has a price of its own: %v", name, host, own)
			}
		}
	}
}

// besideUniform runs fresh in a world, and returns how stale it is beside uniform.
func besideUniform(t *testing.T, w *World, o Options) float64 {
	t.Helper()
	policies, err := Choose([]string{"fresh", "uniform"})
	if err != nil {
		t.Fatal(err)
	}
	return Run(w, policies[0], o).Staleness / Run(w, policies[1], o).Staleness
}

// Pages that change often until they stop for good are not forgotten by a policy that has given
// them up: what they came to stand at is fetched in the time of a few visits.
func TestPagesThatStopChanging(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many simulations")
	}
	t.Parallel()
	for _, c := range []struct{ each, most float64 }{{0.3, 1.05}, {0.05, 1.3}} {
		const seeds = 3
		share := 0.0
		for seed := range uint64(seeds) {
			d := newDrawing(seed + 1)
			w := &World{Name: "stopping", Days: 300, Hosts: 1}
			for range 60 {
				ends := 50 + d.Float64()*200
				w.settle(1, func(_, _, _ float64) []float64 { return d.poisson(d.between(0.1, 3), 0, ends) }, w.Days)
			}
			share += besideUniform(t, w, Options{Budget: Budget{Each: c.each}, Mode: WorkConserving, Warmup: 120, Seed: seed + 1}) / seeds
		}
		if t.Logf("%v visits a day for each page: %.3f of what uniform is stale", c.each, share); share > c.most {
			t.Errorf("%v visits a day for each page: %.3f of what uniform is stale, want at most %v", c.each, share, c.most)
		}
	}
}

// News articles change several times on their first day, and hardly afterwards. A policy that gives
// pages up learns that in time to have most of them as they stay.
func TestPagesThatSettleDown(t *testing.T) {
	t.Parallel()
	d := newDrawing(1)
	w := &World{Name: "news", Days: 300, Hosts: 1}
	const life = 90.0
	for range 120 {
		born := d.Float64()*(w.Days+life) - life
		p := Page{Name: fmt.Sprint(len(w.Pages)), Birth: max(0, born), Death: born + 30 + 60*d.ExpFloat64(), Weight: 1}
		for after := 0.02; after < life; after *= 1 + 2*d.ExpFloat64() {
			if at := born + after; at > p.Birth && at < min(p.Death, w.Days) {
				p.Changes = append(p.Changes, at)
			}
		}
		if alive := min(p.Death, w.Days) - p.Birth; alive > 0 {
			p.Rate = float64(len(p.Changes)) / alive
			w.Pages = append(w.Pages, p)
		}
	}
	share := besideUniform(t, w, Options{Budget: Budget{Each: 0.05}, Mode: Timers, Warmup: 100, Seed: 1})
	if t.Logf("%.3f of what uniform is stale", share); share > 1.5 {
		t.Errorf("%.3f of what uniform is stale, want at most 1.5", share)
	}
}
