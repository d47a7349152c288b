package optimum

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/schedule"
	"recrawl/internal/schedule/mathtest"
)

// The histogram tells the price of a large world to a thousandth.
func TestHistogramPrice(t *testing.T) {
	t.Parallel()
	elements := million(20_000)
	for _, o := range schedule.Objectives() {
		h := NewHistogram(o)
		for _, e := range elements {
			h.Add(e.Lambda, e.Weight)
		}
		for _, budget := range []float64{10, 1e2, 1e3, 1e4, 1e5} {
			exact := Allocate(o, elements, budget, nil).Price
			if got := h.Price(budget); !mathtest.Alike(got, exact, 1e-3) {
				t.Errorf("%s, %v visits: price %v, want %v", o.Name(), budget, got, exact)
			}
			if got := h.Demand(exact); !mathtest.Alike(got, budget, 1e-3) {
				t.Errorf("%s: %v visits at price %v, want %v", o.Name(), got, exact, budget)
			}
		}
	}
}

func TestEmptyHistogram(t *testing.T) {
	t.Parallel()
	h := NewHistogram(schedule.Fresh{})
	h.Add(0, 1)
	h.Add(1, 0)
	if price, demand := h.Price(5), h.Demand(1); price != 0 || demand != 0 {
		t.Errorf("price %v, demand %v, want none", price, demand)
	}
}

// Elements may come and go in any order, and shards be summed up apart.
func TestHistogramSums(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, gone := plainWorlds.Draw(t, "world"), plainWorlds.Draw(t, "gone")
		one, left, right := NewHistogram(w.objective), NewHistogram(w.objective), NewHistogram(w.objective)
		for i, e := range w.elements {
			one.Add(e.Lambda, e.Weight)
			[]*Histogram{left, right}[i%2].Add(e.Lambda, e.Weight)
		}
		for _, e := range gone.elements {
			left.Add(e.Lambda, e.Weight)
		}
		for _, e := range gone.elements {
			left.Remove(e.Lambda, e.Weight)
		}
		left.Merge(right)
		// What rounding leaves of removed elements is a share of what was removed.
		rest := 0.0
		for _, e := range gone.elements {
			rest += 1e-12 * e.Lambda * (1 + gone.objective.Visits(1, math.Inf(1), 1))
		}
		price := one.Price(w.budget)
		if got := left.Demand(price); math.Abs(got-w.budget) > 1e-6*w.budget+1e3*rest {
			t.Fatalf("demand %v after removal and merging, want %v", got, w.budget)
		}
	})
}

// The targets for 1 000 000 pages are 100 ms and an error of 1e-3.
func BenchmarkHistogram(b *testing.B) {
	elements := million(1e6)
	for _, o := range schedule.Objectives() {
		b.Run(o.Name(), func(b *testing.B) {
			h := NewHistogram(o)
			for _, e := range elements {
				h.Add(e.Lambda, e.Weight)
			}
			exact := Allocate(o, elements, 2e5, nil).Price
			price := 0.0
			for b.Loop() {
				price = h.Price(2e5)
			}
			b.ReportMetric(math.Abs(price/exact-1), "error")
		})
	}
}
