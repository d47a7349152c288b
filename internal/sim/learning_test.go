package sim

import (
	"math"
	"testing"

	"recrawl/internal/schedule"
	"recrawl/internal/schedule/gamma"
	"recrawl/internal/sim/optimum"
)

// TestWhatLearningTakes shows why `fresh` closes less of the gap at small budgets in the
// time of the studies. Pages of cho are looked at when most is learned, at no cost, until
// visiting them by the beliefs closes 85 %. A crawl must pay for such looks with what they
// gain over visiting all pages alike.
func TestWhatLearningTakes(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many simulations")
	}
	t.Parallel()
	w, err := Draw("cho", Spec{Pages: 1000, Days: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		budget         float64
		soonest, until float64 // days until the looks have paid off
	}{
		{0.02, 500, 1000},
		{0.05, 200, 400},
		{0.1, 120, 240},
		{0.3, 40, 80},
	} {
		l := newFreeLooks(w, c.budget)
		looks := 0
		for l.closed() < 0.85 && looks < 30 {
			l.look()
			looks++
		}
		price := l.threshold()
		pays := float64(looks) * price / (l.optimum - l.uniform)
		t.Logf("%g visits a day: %d looks at each page close %.0f %%; a visit is worth %.2f days of freshness, knowing all rates %.3f a day: paid off after %.0f days",
			c.budget, looks, 100*l.closed(), price, l.optimum-l.uniform, pays)
		if looks < 5 || looks > 10 || pays < c.soonest || pays > c.until {
			t.Errorf("%g visits a day: %d looks, paid off after %.0f days", c.budget, looks, pays)
		}
	}
}

// TestWhatMaxIntervalCosts shows how much of the gap a crawl that knows every rate closes
// with `fresh`, if pages that it gives up are still visited every max_interval.
func TestWhatMaxIntervalCosts(t *testing.T) {
	t.Parallel()
	w, err := Draw("cho", Spec{Pages: 1000, Days: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ budget, longest, least, most float64 }{
		{0.02, 120, 0.65, 0.8},
		{0.02, 365, 0.9, 0.98},
		{0.02, 3650, 0.98, 1.01},
		{0.1, 120, 0.93, 0.99},
		{0.1, 365, 0.97, 1.01},
	} {
		l := newFreeLooks(w, c.budget)
		l.longest = c.longest
		for i := range l.beliefs {
			l.beliefs[i] = gamma.Distribution{A: 1e5, B: 1e5 / w.Pages[i].Rate}
		}
		closed := l.closed()
		t.Logf("%g visits a day, every %g days at the latest: %.0f %%", c.budget, c.longest, 100*closed)
		if closed < c.least || closed > c.most {
			t.Errorf("%g visits a day, every %g days at the latest: %.3f is closed", c.budget, c.longest, closed)
		}
	}
}

// freeLooks holds pages that are looked at without cost.
type freeLooks struct {
	world            *World
	budget           float64 // visits a day and page
	longest          float64 // interval, days
	beliefs          []gamma.Distribution
	uniform, optimum float64 // freshness
	random           drawing
}

func newFreeLooks(w *World, budget float64) *freeLooks {
	l := &freeLooks{world: w, budget: budget, longest: math.Inf(1), random: newDrawing(7)}
	var elements []optimum.Element
	var rates float64
	for i := range w.Pages {
		rate := w.Pages[i].Rate
		rates += rate
		l.uniform += 1 - schedule.Fresh{}.Penalty(rate, budget)
		elements = append(elements, optimum.Element{Lambda: rate, Weight: 1})
	}
	n := float64(len(w.Pages))
	for i, visits := range optimum.Allocate(schedule.Fresh{}, elements, budget*n, nil).Visits {
		l.optimum += 1 - schedule.Fresh{}.Penalty(w.Pages[i].Rate, visits)
	}
	l.uniform, l.optimum = l.uniform/n, l.optimum/n
	// The prior that the product finds for such pages.
	for range w.Pages {
		l.beliefs = append(l.beliefs, gamma.Distribution{A: 0.25, B: 0.25 * n / rates})
	}
	return l
}

// look looks at each page once, when most is learned if it changes as believed.
func (l *freeLooks) look() {
	for i, g := range l.beliefs {
		gap := 1.6 / g.Mean()
		if l.random.Float64() < math.Exp(-l.world.Pages[i].Rate*gap) {
			l.beliefs[i] = g.Unchanged(gap)
		} else {
			l.beliefs[i] = g.Changed(gap)
		}
	}
}

// threshold returns the threshold at which the beliefs use up the budget.
func (l *freeLooks) threshold() float64 {
	low, high := math.Log(1e-6), math.Log(1e6)
	for range 30 {
		middle := (low + high) / 2
		visits := 0.0
		for _, g := range l.beliefs {
			visits += 1 / l.interval(g, math.Exp(middle))
		}
		if visits > l.budget*float64(len(l.beliefs)) {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp(low)
}

func (l *freeLooks) interval(g gamma.Distribution, threshold float64) float64 {
	return min(schedule.Due(schedule.Fresh{}, g, threshold), l.longest)
}

// closed returns the share of the gap that is closed when each page is visited whenever it
// is due by its belief.
func (l *freeLooks) closed() float64 {
	threshold, fresh := l.threshold(), 0.0
	for i, g := range l.beliefs {
		fresh += 1 - schedule.Fresh{}.Penalty(l.world.Pages[i].Rate, 1/l.interval(g, threshold))
	}
	return (fresh/float64(len(l.beliefs)) - l.uniform) / (l.optimum - l.uniform)
}
