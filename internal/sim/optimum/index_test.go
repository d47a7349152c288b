package optimum

import (
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/schedule"
	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

// The index policy is the optimal allocation when rates are known: a page is due
// at the interval that the price gives it, for every objective, rate and weight.
func TestIndexIsAllocation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := plainWorlds.Draw(t, "world")
		a := Allocate(w.objective, w.elements, w.budget, nil)
		for i, e := range w.elements {
			interval := schedule.Due(w.objective, gamma.Distribution{A: 2e12, B: 2e12 / e.Lambda}, a.Price/e.Weight)
			switch {
			case a.Visits[i] == 0 && e.Lambda*interval < 25:
				t.Fatalf("element %d is given up, and due after %v days", i, interval)
			case e.Lambda < 10*a.Visits[i] && !mathtest.Alike(interval, 1/a.Visits[i], 1e-5):
				t.Fatalf("element %d is due after %v days, visited every %v", i, interval, 1/a.Visits[i])
			}
		}
	})
}
