package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

// Harmonic weighs the n-th unseen change by 1/n: its penalty is the harmonic
// number of the changes that the copy lacks. It stands between Fresh, for which
// only the first one counts, and Delay, for which all count alike (Kolobov,
// Peres, Lu and Horvitz, "Staying up to date with online content changes using
// reinforcement learning for scheduling", NeurIPS 2019). Visits are spaced
// evenly here, not at random as there. Patents cover methods close to it: see
// docs/policies.md.
type Harmonic struct{}

// Name implements Objective.
func (Harmonic) Name() string { return "harmonic" }

// Penalty implements Objective: Ein(x) − K(x)/x with x = λ/f, the time average of
// E[H_N] = Ein(λs) for the number N of changes in s.
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

// Visits implements Objective: (w/λ) K(λ/f) = price.
func (Harmonic) Visits(lambda, weight, price float64) float64 {
	if weight <= 0 {
		return 0
	}
	return visitsFor(lambda, gamma.EvenKInverse(price*lambda/weight))
}

// Merit implements Objective.
func (Harmonic) Merit(lambda, weight float64) float64 { return weight / lambda }

// Worth implements Objective: s c′(s) = 1 − S(s), so V(τ) = τ − ∫₀^τ S, which is
// the expected age at τ.
func (Harmonic) Worth(g gamma.Distribution, days float64) float64 {
	return g.ExpectedAge(days)
}
