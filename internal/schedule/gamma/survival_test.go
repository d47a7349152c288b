package gamma

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/schedule/mathtest"
)

// The survival curve is a falling probability, and its integrals agree with
// quadrature.
func TestSurvivalIntegrals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := distributions.Draw(t, "belief")
		days := mathtest.Positive(1e-3, 1e3).Draw(t, "λτ") / g.Mean()
		first, moment, n := 0.0, 0.0, 20_000
		// Equal steps in the logarithm of 1+s/b: s = b(e^u − 1).
		step := math.Log1p(days/g.B) / float64(n)
		for i := range n {
			u := (float64(i) + 0.5) * step
			weight := math.Exp((1-g.A)*u) * step * g.B
			first += weight
			moment += weight * g.B * math.Expm1(u)
		}
		if got := g.meanSurvival(days); !mathtest.Alike(got, first, 1e-3) {
			t.Fatalf("∫S is %v, want %v", got, first)
		}
		if got := g.survivalMoment(days); !mathtest.Alike(got, moment, 1e-3) {
			t.Fatalf("∫sS is %v, want %v", got, moment)
		}
	})
}
