package gamma

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/schedule/mathtest"
)

// The worked belief of reference §3.
func TestGammaSteps(t *testing.T) {
	t.Parallel()
	steps := []struct {
		days    float64
		changed bool
	}{{1, true}, {1, false}, {2, true}, {4, false}, {0.5, false}, {3, true}}
	g := Distribution{0.5, 15}
	mathtest.Printed(t, "prior", "0.033333", g.Mean())
	for i, want := range []string{
		"1.49869993 15.47313505 0.09685819", "1.49869993 16.47313505 0.09097843", "2.48920556 17.34028379 0.14355045",
		"2.48920556 21.34028379 0.11664351", "2.48920556 21.84028379 0.11397313", "3.46791645 23.05482400 0.15042043",
	} {
		if l := steps[i]; l.changed {
			g = g.Changed(l.days)
		} else {
			g = g.Unchanged(l.days)
		}
		mathtest.Printed(t, fmt.Sprintf("look %d", i+1), want, g.A, g.B, g.Mean())
	}
	always := Distribution{0.5, 15}
	for range 10 {
		always = always.Changed(1)
	}
	mathtest.Printed(t, "10 of 10, daily", "10.37876392 19.35792880 0.53615054", always.A, always.B, always.Mean())
}

// The new mean and variance are those of the exact belief, by quadrature.
func TestChangedKeepsMoments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := mathtest.Positive(0.3, 50).Draw(t, "a")
		g := Distribution{a, a / mathtest.Positive(1e-3, 1e2).Draw(t, "mean")}
		days := mathtest.Positive(1e-3, 1e3).Draw(t, "λτ") / g.Mean()
		exact := mathtest.FineGrid(g.A, g.B)
		exact.See(days, true)
		mean, square := exact.Mean(), 0.0
		for i, rate := range exact.Rates {
			square += rate * rate * exact.Chances[i]
		}
		got := g.Changed(days)
		if !mathtest.Alike(got.Mean(), mean, 1e-3) || !mathtest.Alike(got.Variance(), square-mean*mean, 1e-2) {
			t.Fatalf("%+v becomes %+v: mean %v, variance %v; want %v, %v", g, got, got.Mean(), got.Variance(), mean, square-mean*mean)
		}
	})
}

// A change never makes less likely that the page changes, and never takes
// evidence away; no change does the opposite; a certain change and no time are no
// news.
func TestGammaUpdates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := distributions.Draw(t, "belief")
		days := mathtest.Positive(1e-9, 1e9).Draw(t, "days")
		changed, unchanged := g.Changed(days), g.Unchanged(days)
		if !(changed.Mean() >= g.Mean()*(1-1e-12)) || !(unchanged.Mean() <= g.Mean()) {
			t.Fatalf("mean %v, after a change %v, after none %v", g.Mean(), changed.Mean(), unchanged.Mean())
		}
		if !(changed.A >= g.A*(1-1e-9)) || !(changed.B >= g.B*(1-1e-9)) || changed.A > g.A+1+1e-6*g.A {
			t.Fatalf("%+v becomes %+v", g, changed)
		}
		if soon := g.Changed(1e-12 * g.B / g.A); !mathtest.Alike(soon.A, g.A+1, 1e-6) || !mathtest.Alike(soon.B, g.B, 1e-6) {
			t.Fatalf("a change at once makes %+v of %+v", soon, g)
		}
		if at := g.Changed(0); at != (Distribution{g.A + 1, g.B}) {
			t.Fatalf("a change in no time makes %+v of %+v", at, g)
		}
		if certain := g.Changed(1e300); g.A > 0.5 && (!mathtest.Alike(certain.A, g.A, 1e-6) || !mathtest.Alike(certain.B, g.B, 1e-6)) {
			t.Fatalf("a certain change makes %+v of %+v", certain, g)
		}
	})
}

// A page that changed at every look is not believed to change without limit.
func TestAlwaysChangedStaysFinite(t *testing.T) {
	t.Parallel()
	g := Distribution{0.7, 14}
	for range 10_000 {
		g = g.Changed(1)
	}
	if rate := g.Mean(); rate > 20 {
		t.Errorf("after 10 000 changes in daily looks the rate is %v", rate)
	}
}

// distributions are from nearly nothing to nearly certain, of any rate.
var distributions = mathtest.Shared(rapid.Custom(func(t *rapid.T) Distribution {
	a := mathtest.Positive(0.05, 1e5).Draw(t, "a")
	return Distribution{a, a / mathtest.Positive(1e-5, 1e4).Draw(t, "mean")}
}))
