package schedule

import (
	"pgregory.net/rapid"

	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

// gammas are beliefs from nearly nothing to nearly certain, of any rate.
var gammas = mathtest.Shared(rapid.Custom(func(t *rapid.T) gamma.Distribution {
	a := mathtest.Positive(0.05, 1e5).Draw(t, "a")
	return gamma.Distribution{A: a, B: a / mathtest.Positive(1e-5, 1e4).Draw(t, "mean")}
}))

var anyObjective = mathtest.Shared(rapid.SampledFrom(Objectives()))
