package optimum

import (
	"math"

	"recrawl/internal/schedule"
)

// The allocations for visits at random times (Poisson-timed) of later papers, to compare
// ours with. Evenly spaced visits are better by far: a crawler does not visit in the way
// for which these are optimal.

// azar is BinaryLambdaCrawl: Azar, Horvitz, Lubetzky, Peres and Shahaf, "Tractable
// near-optimal policies for crawling", PNAS 115(32), 2018: wλ/(f+λ)² = price.
type azar struct{ schedule.Fresh }

func (azar) Visits(lambda, weight, price float64) float64 {
	return max(0, math.Sqrt(weight*lambda/price)-lambda)
}

// lambdaCrawl is Kolobov, Peres, Lu and Horvitz, NeurIPS 2019:
// wλ/(f(f+λ)) = price.
type lambdaCrawl struct{ schedule.Harmonic }

func (lambdaCrawl) Visits(lambda, weight, price float64) float64 {
	q := weight * lambda / price
	return 2 * q / (lambda + math.Sqrt(lambda*lambda+4*q))
}

// randomly is the penalty of an objective when visits are Poisson-timed.
func randomly(o schedule.Objective, lambda, visits float64) float64 {
	switch o.(type) {
	case schedule.Fresh:
		return lambda / (visits + lambda)
	case schedule.Age:
		return lambda / (visits * (visits + lambda))
	case schedule.Delay:
		return lambda / visits
	default:
		return math.Log1p(lambda / visits)
	}
}
