package schedule

import "testing"

// Ein at 1 is that of Abramowitz and Stegun; the series and the fraction meet.
func TestEin(t *testing.T) {
	t.Parallel()
	printed(t, "Ein(1)", "0.796599599297", ein(1))
	printed(t, "Ein(10)", "2.8798049149", ein(10)) // ln 10 + γ + 4.156969e-6
	if below, above := ein(3-1e-9), ein(3); !alike(below, above, 1e-9) {
		t.Errorf("Ein jumps at 3 from %v to %v", below, above)
	}
}
