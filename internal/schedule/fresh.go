package schedule

import "recrawl/internal/schedule/gamma"

// Fresh is the objective of keeping copies up to date. Its penalty is the share of time
// in which a page differs from its copy: one minus the freshness of Cho & Garcia-Molina
// 2003, §3 (Sizov, "Change metrics (1)").
//
// Fresh gives up pages that change too often to be kept fresh: a page with w/λ below
// the price gets no visits (Cho & Garcia-Molina 2003, §4). Under a belief it gives a
// page up only slowly, because the true rate may be lower than it seems.
type Fresh struct{}

// Name implements Objective.
func (Fresh) Name() string { return "fresh" }

// About implements Objective.
func (Fresh) About() string {
	return "copies are up to date longest (Cho & Garcia-Molina; Olston & Pandey)"
}

// Penalty implements Objective: 1 − F with F(x) = (1−e^−x)/x.
func (Fresh) Penalty(lambda, visits float64) float64 {
	switch {
	case lambda <= 0:
		return 0
	case visits <= 0:
		return 1
	}
	x := lambda / visits
	return gamma.EvenK(x) / x
}

// Visits implements Objective. It solves (w/λ) G(λ/f) = price for f.
func (Fresh) Visits(lambda, weight, price float64) float64 {
	if weight <= 0 {
		return 0
	}
	return visitsFor(lambda, gamma.EvenGInverse(price*lambda/weight))
}

// Merit implements Objective.
func (Fresh) Merit(lambda, weight float64) float64 { return weight / lambda }

// Ticks implements Objective. Between two visits the copy is fresh for one period, at any
// number of changes.
func (Fresh) Ticks(every, threshold float64) float64 {
	if every < threshold {
		return 0
	}
	return 1
}

// Worth implements Objective. With c(s) = 1 − S(s), V(τ) = ∫₀^τ S − τ S(τ). For a > 1
// it approaches b/(a−1); otherwise it has no bound.
func (Fresh) Worth(g gamma.Distribution, days float64) float64 {
	return g.PartialMean(days)
}
