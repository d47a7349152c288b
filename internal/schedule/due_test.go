package schedule

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

// known is a belief so narrow that it is a known rate.
func known(lambda float64) gamma.Distribution { return gamma.Distribution{A: 2e12, B: 2e12 / lambda} }

// The worked indices: fresh, harmonic, age, delay at weight 1. (The last digits of
// the rows for Gamma(2e6, 1e7) are those of exact arithmetic in 50 digits; the
// program of the reference lost three of them.)
func TestWorth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		belief gamma.Distribution
		days   float64
		want   string
	}{
		{known(0.2), 0.1, "0.0009867661355 0.0009933665338 6.616932226e-05 0.001"},
		{known(0.2), 1, "0.08761548153 0.09365376539 0.06192259234 0.1"},
		{known(0.2), 10, "2.969970751 5.676676416 35.15014624 10"},
		{known(0.2), 100, "4.999999784 95.00000001 4975.000001 1000"},
		{gamma.Distribution{A: 0.5, B: 2.5}, 1, "0.07092552837 0.0839202169 0.05477304413 0.1"},
		{gamma.Distribution{A: 0.5, B: 2.5}, 10, "1.708203932 3.819660113 23.03276685 10"},
		{gamma.Distribution{A: 0.5, B: 2.5}, 100, "11.398245 72.98437881 3977.838662 1000"},
		{gamma.Distribution{A: 1, B: 5}, 1, "0.07827445064 0.08839221603 0.05803891985 0.1"},
		{gamma.Distribution{A: 1, B: 5}, 10, "2.15972811 4.506938557 27.46530722 10"},
		{gamma.Distribution{A: 1, B: 5}, 100, "10.46070743 84.77738781 4576.113061 1000"},
		{gamma.Distribution{A: 3, B: 15}, 1, "0.08422851562 0.091796875 0.060546875 0.1"},
		{gamma.Distribution{A: 3, B: 15}, 10, "2.64 5.2 32 10"},
		{gamma.Distribution{A: 3, B: 15}, 100, "7.150489028 92.62759924 4914.933837 1000"},
		{gamma.Distribution{A: 2e6, B: 1e7}, 1, "0.08761547622 0.09365376252 0.06192259021 0.1"},
		{gamma.Distribution{A: 2e6, B: 1e7}, 10, "2.969970206 5.676675608 35.15014088 10"},
		{gamma.Distribution{A: 2e6, B: 1e7}, 100, "5.000002284 94.99999751 4974.999964 1000"},
	} {
		mathtest.Printed(t, fmt.Sprintf("%+v after %v days", c.belief, c.days), c.want,
			Fresh{}.Worth(c.belief, c.days), Harmonic{}.Worth(c.belief, c.days), Age{}.Worth(c.belief, c.days), Delay{}.Worth(c.belief, c.days))
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	// The reference prints 6.17995 in its text, and 6.179976377 of a search to 1e-5 in
	// its vectors.
	mathtest.Printed(t, "fresh, known rate", "4.121941545", Due(Fresh{}, known(0.2), 1))
	mathtest.Printed(t, "fresh, known rate, closed form", "4.121941545", gamma.EvenGInverse(0.2)/0.2)
	mathtest.Printed(t, "fresh, belief", "6.17995", Due(Fresh{}, gamma.Distribution{A: 0.5, B: 2.5}, 1))
	mathtest.Printed(t, "delay: √(2θb/a)", "3.16227766", Due(Delay{}, gamma.Distribution{A: 0.5, B: 2.5}, 1))
	// b/(a−1) = 7.5 is the most that a visit can be worth.
	if due := Due(Fresh{}, gamma.Distribution{A: 3, B: 15}, 7.5); !math.IsInf(due, 1) {
		t.Errorf("a page that is not worth a visit is due after %v days", due)
	}
	for _, o := range Objectives() {
		if due := Due(o, gamma.Distribution{A: 3, B: 15}, 0); due != 0 {
			t.Errorf("%s: for nothing a page is due after %v days", o.Name(), due)
		}
	}
}

// Worth rises from zero with time, whatever is believed, without a jump where its
// formula changes; and Due is where it reaches the threshold.
func TestDueInvertsWorth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o, g := anyObjective.Draw(t, "objective"), gammas.Draw(t, "belief")
		at := min(mathtest.Positive(1e-6, 1e4).Draw(t, "λτ")/g.Mean(), horizon/10)
		worth, later := o.Worth(g, at), o.Worth(g, at*1.001)
		if !(worth >= 0) || !(later >= worth*(1-1e-12)) || later > worth*1.01 && o.Name() != "age" {
			t.Fatalf("worth %v after %v days, %v a little later", worth, at, later)
		}
		if o.Worth(g, 0) != 0 {
			t.Fatalf("worth %v at once", o.Worth(g, 0))
		}
		if !(worth > 0) {
			return
		}
		due := Due(o, g, worth)
		if back := o.Worth(g, due); !mathtest.Alike(back, worth, 1e-8) && !math.IsInf(due, 1) {
			t.Fatalf("due after %v days, when worth is %v and not %v", due, back, worth)
		}
	})
}

// For small times only a belief's mean rate counts: Worth is λτ²/2, and λτ³/3 for
// the age.
func TestWorthAtOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := gammas.Draw(t, "belief")
		days := 1e-7 * g.B / (g.A + 1)
		want := g.Mean() * days * days / 2
		for _, o := range []Objective{Fresh{}, Harmonic{}, Delay{}} {
			if got := o.Worth(g, days); !mathtest.Alike(got, want, 1e-6) {
				t.Fatalf("%s: %v, want %v", o.Name(), got, want)
			}
		}
		if got := (Age{}).Worth(g, days); !mathtest.Alike(got, want*days*2/3, 1e-6) {
			t.Fatalf("age: %v, want %v", got, want*days*2/3)
		}
	})
}
