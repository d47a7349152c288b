package mathtest

import "math"

// Grid is a belief about a rate on a grid of rates. It is exact up to the grid's
// step, and too large to keep for each page: approximate beliefs are compared with
// it.
type Grid struct {
	// Rates are the rates of the grid, Chances the belief in each, Prior the belief
	// before any look.
	Rates, Chances, Prior []float64
	// Kappa is how many times a day the rate is drawn again from Prior.
	Kappa float64
	// LogEvidence is the logarithm of the likelihood of all looks.
	LogEvidence float64
}

// FineGrid returns the Gamma distribution with a shape and a rate parameter on a grid
// that is fine enough for three digits.
func FineGrid(shape, rate float64) *Grid {
	g, sum := &Grid{}, 0.0
	for u := -14.0; u < 6; u += 0.01 {
		x := math.Exp(u) * shape / rate
		chance := math.Exp(shape*math.Log(x*rate) - rate*x)
		g.Rates, g.Chances = append(g.Rates, x), append(g.Chances, chance)
		sum += chance
	}
	for i := range g.Chances {
		g.Chances[i] /= sum
	}
	g.Prior = append(g.Prior, g.Chances...)
	return g
}

// See multiplies with the likelihood of a look after some days that found a change or
// none.
func (g *Grid) See(days float64, changed bool) {
	anew, sum := -math.Expm1(-g.Kappa*days), 0.0
	for i, rate := range g.Rates {
		likelihood := math.Exp(-rate * days)
		if changed {
			likelihood = -math.Expm1(-rate * days)
		}
		g.Chances[i] = ((1-anew)*g.Chances[i] + anew*g.Prior[i]) * likelihood
		sum += g.Chances[i]
	}
	for i := range g.Chances {
		g.Chances[i] /= sum
	}
	g.LogEvidence += math.Log(sum)
}

// Mean is the expected rate.
func (g *Grid) Mean() float64 {
	sum := 0.0
	for i, rate := range g.Rates {
		sum += rate * g.Chances[i]
	}
	return sum
}

// Variance is the variance of the rate.
func (g *Grid) Variance() float64 {
	mean, sum := g.Mean(), 0.0
	for i, rate := range g.Rates {
		sum += (rate - mean) * (rate - mean) * g.Chances[i]
	}
	return sum
}
