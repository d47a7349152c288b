package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

// Harmonic is an objective between [Fresh], for which only the first unseen change
// counts, and [Delay], for which all count alike: the n-th unseen change weighs 1/n, so
// the penalty is the harmonic number of the changes that the copy lacks (Kolobov,
// Peres, Lu and Horvitz, "Staying up to date with online content changes using
// reinforcement learning for scheduling", NeurIPS 2019). Visits are spaced evenly here;
// the paper draws them at random. Patents cover methods close to it: see
// docs/policies.md.
type Harmonic struct{}

// Name implements Objective.
func (Harmonic) Name() string { return "harmonic" }

// About implements Objective.
func (Harmonic) About() string { return "between fresh and sqrt (Kolobov et al.)" }

// Penalty implements Objective: Ein(x) − K(x)/x with x = λ/f. It is the time average of
// E[H_N] = Ein(λs), where N is the number of changes in s days.
func (Harmonic) Penalty(lambda, visits float64) float64 {
	switch {
	case lambda <= 0:
		return 0
	case visits <= 0:
		return math.Inf(1)
	}
	x := lambda / visits
	return gamma.Ein(x) - gamma.EvenK(x)/x
}

// Visits implements Objective. It solves (w/λ) K(λ/f) = price for f.
func (Harmonic) Visits(lambda, weight, price float64) float64 {
	if weight <= 0 {
		return 0
	}
	return visitsFor(lambda, gamma.EvenKInverse(price*lambda/weight))
}

// Merit implements Objective.
func (Harmonic) Merit(lambda, weight float64) float64 { return weight / lambda }

// Ticks implements Objective. One change more is worse from k = θ/P on, because the k-th
// unseen one adds 1/k to the penalty and comes kP after the visit.
func (Harmonic) Ticks(every, threshold float64) float64 {
	return max(1, math.Ceil(threshold/every))
}

// Worth implements Objective. With s c′(s) = 1 − S(s), V(τ) = τ − ∫₀^τ S, the expected
// age of the copy after τ days.
func (Harmonic) Worth(g gamma.Distribution, days float64) float64 {
	return g.ExpectedAge(days)
}
