package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

// Delay keeps changes from waiting: its penalty is the sum, over all changes of
// a page, of the time from the change to the visit that sees it, per day (Sizov,
// "Change metrics (3)" and "Optimum refresh policy"). Unlike Age it counts every
// change, so that a page with ten unseen edits counts ten times. Visits go with
// the square root of rate and weight; no page is given up.
type Delay struct{}

// Name implements Objective: the policy is called after the square root.
func (Delay) Name() string { return "sqrt" }

// Penalty implements Objective: λ/(2f), Sizov's λT²/(2m) a day.
func (Delay) Penalty(lambda, visits float64) float64 {
	switch {
	case lambda <= 0:
		return 0
	case visits <= 0:
		return math.Inf(1)
	}
	return lambda / (2 * visits)
}

// Visits implements Objective: w λ/(2f²) = price, so that f = √(wλ/(2 price)).
// Sizov's derivative is printed with + μm where it must be + μ; his result is
// that of the right one.
func (Delay) Visits(lambda, weight, price float64) float64 {
	if lambda <= 0 || weight <= 0 {
		return 0
	}
	return math.Sqrt(weight * lambda / (2 * price))
}

// Merit implements Objective.
func (Delay) Merit(lambda, weight float64) float64 { return weight / lambda }

// Worth implements Objective: c(s) grows with the mean rate, so V(τ) = (a/b) τ²/2.
func (Delay) Worth(g gamma.Distribution, days float64) float64 { return g.Mean() * days * days / 2 }
