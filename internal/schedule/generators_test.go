package schedule

import (
	"math"

	"pgregory.net/rapid"
)

// shared makes a generator that tests may share: it is named lazily otherwise, and
// not safely so (rapid 1.3.0).
func shared[V any](g *rapid.Generator[V]) *rapid.Generator[V] {
	_ = g.String()
	return g
}

// positive draws a number of any size between two.
func positive(low, high float64) *rapid.Generator[float64] {
	return rapid.Map(rapid.Float64Range(math.Log(low), math.Log(high)), math.Exp)
}

// gammas are beliefs from nearly nothing to nearly certain, of any rate.
var gammas = shared(rapid.Custom(func(t *rapid.T) Gamma {
	a := positive(0.05, 1e5).Draw(t, "a")
	return Gamma{a, a / positive(1e-5, 1e4).Draw(t, "mean")}
}))

var anyObjective = shared(rapid.SampledFrom(Objectives()))
