package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

// Delay is the objective of finding changes soon. Its penalty per day is the sum, over
// all changes, of the days from a change to the visit that finds it (Sizov, "Change
// metrics (3)" and "Optimum refresh policy"). Unlike [Age] it counts every change: ten
// unseen edits count ten times. The number of visits is proportional to the square root
// of rate times weight, and no page is given up.
type Delay struct{}

// Name implements Objective. The policy is named after the square-root law.
func (Delay) Name() string { return "sqrt" }

// About implements Objective.
func (Delay) About() string {
	return "changes wait least: visits with the square root of rate and weight (Sizov)"
}

// Penalty implements Objective: λ/(2f), which is Sizov's λT²/(2m) per day.
func (Delay) Penalty(lambda, visits float64) float64 {
	switch {
	case lambda <= 0:
		return 0
	case visits <= 0:
		return math.Inf(1)
	}
	return lambda / (2 * visits)
}

// Visits implements Objective. From wλ/(2f²) = price follows f = √(wλ/(2 price)).
// Sizov's derivative is printed with + μm where + μ is correct; his result follows from
// the correct one.
func (Delay) Visits(lambda, weight, price float64) float64 {
	if lambda <= 0 || weight <= 0 {
		return 0
	}
	return math.Sqrt(weight * lambda / (2 * price))
}

// Merit implements Objective.
func (Delay) Merit(lambda, weight float64) float64 { return weight / lambda }

// Ticks implements Objective. After k changes the penalties since the visit come to P k(k−1)/2,
// and one change more is worse from k(k+1) = 2θ/P on.
func (Delay) Ticks(every, threshold float64) float64 {
	return max(1, math.Ceil(math.Sqrt(0.25+2*threshold/every)-0.5))
}

// Worth implements Objective. The penalty rate c(s) grows linearly with the mean rate,
// which gives V(τ) = (a/b) τ²/2.
func (Delay) Worth(g gamma.Distribution, days float64) float64 { return g.Mean() * days * days / 2 }
