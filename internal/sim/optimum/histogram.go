package optimum

import (
	"math"

	"recrawl/internal/schedule"
)

const (
	// octave is the number of buckets per factor of two in merit.
	octave = 64
	// octaves is the number of factors of two that have buckets, half of them below
	// one: more than rates and weights of pages can span.
	octaves = 128
)

// Histogram sums up elements so that the price of a budget can be found without them. By
// [schedule.Objective]'s Merit an element demands λ Visits(1, r, μ), so the sum of λ per
// small range of r is sufficient. Limits are left out. For many elements, prices and
// demands are those of [Allocate] to better than 1e-3.
type Histogram struct {
	objective schedule.Objective
	buckets   [octave * octaves]bucket
}

// bucket sums up the elements whose merits are in a small range.
type bucket struct {
	lambda float64 // sum of rates
	merit  float64 // sum of rates times the logarithm of merit
}

// NewHistogram returns an empty histogram for an objective.
func NewHistogram(o schedule.Objective) *Histogram { return &Histogram{objective: o} }

// Add counts an element. One without rate or weight demands nothing and is left out.
func (h *Histogram) Add(lambda, weight float64) {
	if lambda <= 0 || weight <= 0 {
		return
	}
	merit := math.Log2(h.objective.Merit(lambda, weight))
	i := int((merit + octaves/2) * octave)
	b := &h.buckets[min(max(i, 0), len(h.buckets)-1)]
	b.lambda += lambda
	b.merit += lambda * merit
}

// Demand returns the visits a day that the elements together get at a price.
func (h *Histogram) Demand(price float64) float64 {
	sum := 0.0
	for i := range h.buckets {
		// All elements of a bucket count at the mean of their merits.
		if b := &h.buckets[i]; b.lambda > 0 {
			sum += b.lambda * h.objective.Visits(1, math.Exp2(b.merit/b.lambda), price)
		}
	}
	return sum
}

// Price returns the price at which the elements use a budget of visits a day (> 0), 0
// if there are no elements.
func (h *Histogram) Price(budget float64) float64 {
	for i := range h.buckets {
		if b := &h.buckets[i]; b.lambda > 0 {
			return priceOf(h.Demand, budget, math.Exp2(b.merit/b.lambda)/2)
		}
	}
	return 0
}
