package mathtest

import (
	"math"

	"pgregory.net/rapid"
)

// Shared makes a generator that parallel tests may share. Otherwise rapid (1.3.0)
// names it at its first use, which is a data race.
func Shared[V any](g *rapid.Generator[V]) *rapid.Generator[V] {
	_ = g.String()
	return g
}

// Positive draws a number between two, low > 0, each order of magnitude as likely as
// another.
func Positive(low, high float64) *rapid.Generator[float64] {
	return rapid.Map(rapid.Float64Range(math.Log(low), math.Log(high)), math.Exp)
}
