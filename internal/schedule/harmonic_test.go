package schedule

import (
	"testing"

	"recrawl/internal/schedule/mathtest"
)

// Ein at 1 is that of Abramowitz and Stegun; the series and the fraction meet.
func TestEin(t *testing.T) {
	t.Parallel()
	mathtest.Printed(t, "Ein(1)", "0.796599599297", ein(1))
	mathtest.Printed(t, "Ein(10)", "2.8798049149", ein(10)) // ln 10 + γ + 4.156969e-6
	if below, above := ein(3-1e-9), ein(3); !mathtest.Alike(below, above, 1e-9) {
		t.Errorf("Ein jumps at 3 from %v to %v", below, above)
	}
}
