package optimum

import (
	"math"
	"testing"

	"recrawl/internal/schedule"
	"recrawl/internal/schedule/mathtest"
)

// The histogram gives the price of a large world to a thousandth.
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
