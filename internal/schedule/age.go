package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

// Age is the objective of keeping copies young. Its penalty is a copy's age in days:
// the time since the first change that the copy lacks (Cho & Garcia-Molina 2003, §3;
// Sizov, "Change metrics (2)", which leaves open which modification counts).
type Age struct{}

// Name implements Objective.
func (Age) Name() string { return "age" }

// About implements Objective.
func (Age) About() string { return "copies are least old (Cho & Garcia-Molina)" }

// Penalty implements Objective: (1/f)(1/2 − 1/x + (1−e^−x)/x²) with x = λ/f.
func (Age) Penalty(lambda, visits float64) float64 {
	switch {
	case lambda <= 0:
		return 0
	case visits <= 0:
		return math.Inf(1)
	}
	return gamma.EvenAge(lambda/visits) / visits
}

// Visits implements Objective. It solves (w/λ²) H(λ/f) = price for f.
func (Age) Visits(lambda, weight, price float64) float64 {
	if weight <= 0 {
		return 0
	}
	return visitsFor(lambda, gamma.EvenHInverse(price*lambda*lambda/weight))
}

// Merit implements Objective.
func (Age) Merit(lambda, weight float64) float64 { return weight / (lambda * lambda) }

// Ticks implements Objective. After k changes the penalties since the visit come to
// ((k−1)P)²/2, and one change more is worse from k² + k − 1 = 2θ/P² on.
func (Age) Ticks(every, threshold float64) float64 {
	return max(1, math.Ceil(math.Sqrt(1.25+2*threshold/(every*every))-0.5))
}

// Worth implements Objective. With c′(s) = 1 − S(s), V(τ) = τ²/2 − ∫₀^τ s S(s) ds.
func (Age) Worth(g gamma.Distribution, days float64) float64 {
	return g.AgeMoment(days)
}
