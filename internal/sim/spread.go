package sim

import (
	"math"
	"slices"
)

// Spread sums up the values of a number over the seeds.
type Spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"min"`
	High   float64 `json:"max"`
}

func spreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{nan, nan, nan}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return Spread{(sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[0], sorted[n-1]}
}

// half returns half of the range.
func (s Spread) half() float64 { return (s.High - s.Low) / 2 }

// Of sums up a metric over the seeds.
func (r *Row) Of(metric func(Metrics) float64) Spread {
	values := make([]float64, len(r.Runs))
	for i := range r.Runs {
		values[i] = metric(r.Runs[i].Metrics)
	}
	return spreadOf(values)
}

// Gap returns the share of the gap between uniform and an objective's optimum that the
// policy closed. It is NaN in worlds that are not stationary, or in which nothing can be gained.
func (r *Row) Gap(objective string) Spread { return spreadOf(r.Gaps[objective]) }

// Lead returns how much less stale the policy's copies are than those of the best shipped
// or simple scheduler, by seed; NaN if there is none besides it.
func (c *Comparison) Lead(row int) Spread {
	leads := make([]float64, 0, len(c.Seeds))
	for seed := range c.Rows[row].Runs {
		best := math.Inf(1)
		for i := range c.Rows {
			if r := &c.Rows[i]; i != row && (r.Family == Shipped || r.Family == Simple) {
				best = min(best, r.Runs[seed].Staleness)
			}
		}
		if math.IsInf(best, 1) {
			return spreadOf(nil)
		}
		leads = append(leads, best-c.Rows[row].Runs[seed].Staleness)
	}
	return spreadOf(leads)
}
