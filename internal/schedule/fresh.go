package schedule

import "recrawl/internal/schedule/gamma"

// Fresh keeps copies up to date: its penalty is the share of time in which a
// page differs from its copy (one minus the freshness of Cho & Garcia-Molina
// 2003, §3; Sizov, "Change metrics (1)").
//
// It gives up pages that change too often to be kept fresh: with w/λ at most the
// price a page is not worth a visit (Cho & Garcia-Molina 2003, §4). Under a
// belief it does so only slowly, since the rate may be less than it seems.
type Fresh struct{}

// Name implements Objective.
func (Fresh) Name() string { return "fresh" }

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

// Visits implements Objective: (w/λ) G(λ/f) = price.
func (Fresh) Visits(lambda, weight, price float64) float64 {
	if weight <= 0 {
		return 0
	}
	return visitsFor(lambda, gamma.EvenGInverse(price*lambda/weight))
}

// Merit implements Objective.
func (Fresh) Merit(lambda, weight float64) float64 { return weight / lambda }

// Worth implements Objective: c(s) = 1 − S(s), so V(τ) = ∫₀^τ S − τ S(τ), which
// approaches b/(a−1) for a > 1 and has no bound otherwise.
func (Fresh) Worth(g gamma.Distribution, days float64) float64 {
	return g.PartialMean(days)
}
