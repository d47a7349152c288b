package schedule

import (
	"math"
	"testing"
	"testing/quick"

	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

// A page's clock runs on, shows the same whatever it is stopped between, goes with the
// calendar for a Steep of 0, and shows 20 rounds at an age of 20 rounds.
func TestClock(t *testing.T) {
	t.Parallel()
	check := func(steep, a, b, c, round float64) bool {
		clock := Clock{Steep: mostSteep * share01(steep), Round: 0.01 + 10*share01(round)}
		x := 1e3 * share01(a)
		y := x + 1e3*share01(b)
		z := y + 1e3*share01(c)
		return clock.Lives(x, y-x) >= 0 && mathtest.Alike(clock.Lives(x, y-x)+clock.Lives(y, z-y), clock.Lives(x, z-x), 1e-9) &&
			mathtest.Alike(clock.Lives(0, 20*clock.Round), 20*clock.Round, 1e-9) && (Clock{Round: 1}).Lives(x, y) == y
	}
	if err := quick.Check(check, nil); err != nil {
		t.Error(err)
	}
	// ∫ (1+u/0.3)^-½ du from 0 to 3 is 0.6 (√11 − 1), and to 10 0.6 (√(1+100/3) − 1). From there
	// on a day is 1/√(1+100/3), and the sum to 20 is that by which all is scaled.
	old := 1 / math.Sqrt(1+100./3)
	sum := 0.6*(1/old-1) + 10*old
	if got, want := (Clock{0.5, 1}).Lives(0, 3), 20*0.6*(math.Sqrt(11)-1)/sum; !mathtest.Alike(got, want, 1e-9) {
		t.Errorf("%v days in the first three, want %v", got, want)
	}
	for _, age := range []float64{10, 1000} {
		if got, want := (Clock{0.5, 1}).Lives(age, 7), 20*7*old/sum; !mathtest.Alike(got, want, 1e-9) {
			t.Errorf("%v days in a week at an age of %v, want %v", got, age, want)
		}
	}
}

// share01 maps any number to 0 to 1.
func share01(x float64) float64 {
	_, part := math.Modf(math.Abs(x))
	if math.IsNaN(part) || math.IsInf(x, 0) {
		return 0.5
	}
	return part
}

// The tilt is the derivative of the clock's reading over Steep.
func TestClockTilt(t *testing.T) {
	t.Parallel()
	for _, steep := range []float64{0, 0.3, 0.7} {
		at := func(steep float64) float64 { return math.Log(Clock{steep, 1}.Lives(2, 7)) }
		if got, want := (Clock{steep, 1}).tilt(2, 7), (at(steep+1e-3)-at(steep-1e-3))/2e-3; !mathtest.Alike(got, want, 1e-3) {
			t.Errorf("steep %v: tilt %v, want %v", steep, got, want)
		}
	}
}

// A page that just changed is visited sooner than one whose last change is ten rounds ago,
// by the square root of how much faster its clock runs, and one that is older no later.
func TestDueByAge(t *testing.T) {
	t.Parallel()
	g, clock := gamma.Distribution{A: 40, B: 800}, Clock{0.6, 1}
	for _, o := range Objectives() {
		last := 0.0
		for _, age := range []float64{0, 1, 3, 10, 100, 1000} {
			ahead := forecast{clock: clock, age: age}
			due := ahead.due(o, g, o.Worth(g, 20))
			if age <= 10 && due <= last || age > 10 && !mathtest.Alike(due, last, 1e-6) {
				t.Errorf("%s: due after %v at age %v, and after %v when younger", o.Name(), due, age, last)
			}
			if worth := o.Worth(ahead.over(g, due), due); !mathtest.Alike(worth, o.Worth(g, 20), 1e-6) {
				t.Errorf("%s: worth %v when due at age %v, want %v", o.Name(), worth, age, o.Worth(g, 20))
			}
			last = due
		}
	}
	old := forecast{clock: clock, age: 1e4}
	rate := old.over(g, 1).Mean()
	if got, want := old.due(Delay{}, g, 10), math.Sqrt(2*10/rate); !mathtest.Alike(got, want, 0.01) {
		t.Errorf("an old page is due after %v days, want √(2θ/λ) = %v", got, want)
	}
}
