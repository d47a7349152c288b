package schedule

import "math"

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
	return ein(x) - evenK(x)/x
}

// Visits implements Objective: (w/λ) K(λ/f) = price.
func (Harmonic) Visits(lambda, weight, price float64) float64 {
	if weight <= 0 {
		return 0
	}
	return visitsFor(lambda, evenKInverse(price*lambda/weight))
}

// Merit implements Objective.
func (Harmonic) Merit(lambda, weight float64) float64 { return weight / lambda }

// Worth implements Objective: s c′(s) = 1 − S(s), so V(τ) = τ − ∫₀^τ S, which is
// the expected age at τ.
func (Harmonic) Worth(g Gamma, days float64) float64 {
	if g.early(days) {
		return days * g.changeSeries(days, func(k float64) float64 { return 1 / (k + 1) })
	}
	return days - g.meanSurvival(days)
}

// ein is the entire exponential integral ∫₀^x (1−e^−u)/u du for x ≥ 0: its power
// series for small x; else ln x + γ + E₁(x) with the continued fraction of E₁
// (DLMF 6.9.1).
func ein(x float64) float64 {
	if x < 3 {
		sum, term := 0.0, 1.0
		for k := 1.0; math.Abs(term) > 1e-17*sum; k++ {
			term *= -x / k
			sum -= term / k
		}
		return sum
	}
	const gamma = 0.57721566490153286
	// From the bottom of the fraction up: from x = 3 on 60 levels are exact.
	rest := 0.0
	for k := 60.0; k > 0; k-- {
		rest = k / (1 + k/(x+rest))
	}
	return math.Log(x) + gamma + math.Exp(-x)/(x+rest)
}
