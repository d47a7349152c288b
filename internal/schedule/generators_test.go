package schedule

import (
	"math"

	"pgregory.net/rapid"
)

// positive draws a number of any size between two.
func positive(low, high float64) *rapid.Generator[float64] {
	return rapid.Map(rapid.Float64Range(math.Log(low), math.Log(high)), math.Exp)
}
