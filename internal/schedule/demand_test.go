package schedule

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

// crowd is a set of beliefs as a crawl has them after a while: hosts of slow and of
// fast pages, some looked at often and some never, with heavy-tailed weights.
func crowd(n int) (beliefs []gamma.Distribution, weights []float64) {
	r := rand.New(rand.NewPCG(5, 6))
	for range n {
		prior := gamma.Distribution{A: 0.7, B: 14 * math.Exp(r.NormFloat64())}
		g := gamma.Distribution{A: prior.A + r.ExpFloat64()*float64(r.IntN(8)), B: prior.B + r.ExpFloat64()*100}
		beliefs = append(beliefs, g)
		weights = append(weights, min(100, math.Pow(1-r.Float64(), -1/1.5)))
	}
	return beliefs, weights
}

// A demand gives the cost of a threshold to a thousandth, to a hundredth for an
// objective with early looks.
func TestDemandPlanned(t *testing.T) {
	t.Parallel()
	beliefs, weights := crowd(20_000)
	var c, odd Demand
	for i, g := range beliefs {
		if i%2 == 0 {
			c.Add(g, weights[i])
		} else {
			odd.Add(g, weights[i])
		}
	}
	c.Merge(&odd)
	if c.Pages() != len(beliefs) {
		t.Errorf("%d pages, want %d", c.Pages(), len(beliefs))
	}
	for _, o := range Objectives() {
		for _, round := range []float64{0.3, 3, 30} {
			threshold, exact := o.Worth(FirstPrior(day), round), 0.0
			for i, g := range beliefs {
				exact += 1 / meanInterval(o, g, threshold/weights[i], days(daily.Min), days(daily.Max), rareLooks{})
			}
			tolerance := 1e-3
			if o == (Fresh{}) {
				tolerance = 1e-2
			}
			if got := c.Planned(o, threshold, daily.Min, daily.Max); !mathtest.Alike(got, exact, tolerance) {
				t.Errorf("%s, θ %v: %v visits planned, want %v", o.Name(), threshold, got, exact)
			}
		}
	}
}

func TestEmptyDemand(t *testing.T) {
	t.Parallel()
	var c Demand
	c.Merge(&Demand{})
	if c.Pages() != 0 || c.Planned(Delay{}, 1, daily.Min, daily.Max) != 0 {
		t.Errorf("%d pages, %v visits", c.Pages(), c.Planned(Delay{}, 1, daily.Min, daily.Max))
	}
}

// The planned visits fall as the threshold rises, within the bounds. Only looks for
// learning the rate may add to it, where a page is about to be given up; so the rates are
// well known here if the objective gives pages up.
func TestDemandProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c Demand
		n, o := rapid.IntRange(1, 20).Draw(t, "n"), anyObjective.Draw(t, "objective")
		for range n {
			g := gammas.Draw(t, "belief")
			if givesUp(o) {
				g.A = max(g.A, settled)
			}
			c.Add(g, mathtest.Positive(1e-3, 1e3).Draw(t, "weight"))
		}
		threshold := mathtest.Positive(1e-9, 1e9).Draw(t, "threshold")
		now := c.Planned(o, threshold, daily.Min, daily.Max)
		later := c.Planned(o, threshold*mathtest.Positive(1, 100).Draw(t, "factor"), daily.Min, daily.Max)
		pages := float64(n)
		if later > now*(1+1e-8) || now > pages/days(daily.Min)*(1+1e-9) || later < pages/days(daily.Max)*(1-1e-9) {
			t.Fatalf("%v visits planned, %v at a higher threshold, for %d pages", now, later, n)
		}
	})
}

func BenchmarkDemand(b *testing.B) {
	beliefs, weights := crowd(1e6)
	b.Run("take", func(b *testing.B) {
		for b.Loop() {
			var c Demand
			for i, g := range beliefs {
				c.Add(g, weights[i])
			}
		}
	})
	var c Demand
	for i, g := range beliefs {
		c.Add(g, weights[i])
	}
	for _, o := range Objectives() {
		b.Run(o.Name(), func(b *testing.B) {
			for b.Loop() {
				c.Planned(o, 1, daily.Min, daily.Max)
			}
			b.ReportMetric(float64(len(c.cells)), "cells")
		})
	}
}
