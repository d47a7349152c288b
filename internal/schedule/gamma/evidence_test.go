package gamma

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/schedule/mathtest"
)

// exactly is the belief after a number of looks that found a change, on a grid of
// rates.
func exactly(prior Distribution, e Evidence) *mathtest.Grid {
	g := mathtest.FineGrid(prior.A+e.Changes, prior.B+e.Days)
	sum := 0.0
	for i, rate := range g.Rates {
		g.Chances[i] *= math.Pow(-math.Expm1(-rate*e.Gap), e.Looks)
		sum += g.Chances[i]
	}
	for i := range g.Chances {
		g.Chances[i] /= sum
	}
	return g
}

// The belief that evidence makes has the mean and the variance of the exact one, under
// any prior and for any share of a look. (Below a shape of 0.9 the grid ends too soon.)
func TestEvidenceUnder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prior := Distribution{rapid.Float64Range(0.9, 8).Draw(t, "shape"), 1}
		e := Evidence{
			Days:  rapid.Float64Range(0, 20).Draw(t, "days"),
			Looks: math.Exp(rapid.Float64Range(-3, 4).Draw(t, "ln looks")),
			Gap:   math.Exp(rapid.Float64Range(-4, 3).Draw(t, "ln gap")),
		}
		g, exact := e.Under(prior), exactly(prior, e)
		if !mathtest.Alike(g.Mean(), exact.Mean(), 1e-3) || !mathtest.Alike(g.Variance(), exact.Variance(), 5e-3) {
			t.Fatalf("%+v under %+v: mean %v, variance %v; want %v, %v", e, prior, g.Mean(), g.Variance(), exact.Mean(), exact.Variance())
		}
	})
}

// One look by quadrature is the belief that has a formula.
func TestOneChangedLook(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := Distribution{rapid.Float64Range(0.3, 20).Draw(t, "a"), rapid.Float64Range(0.01, 100).Draw(t, "b")}
		gap := g.B * math.Exp(rapid.Float64Range(-5, 5).Draw(t, "ln gap"))
		a, b := g.Changed(gap), g.changed(1+1e-12, gap)
		if !mathtest.Alike(a.Mean(), b.Mean(), 1e-4) || !mathtest.Alike(a.A, b.A, 1e-3) {
			t.Fatalf("%+v after a change in %v: %+v, by quadrature %+v", g, gap, a, b)
		}
	})
}

// Looks after different gaps become looks after one without losing their evidence
// on rates near the believed one.
func TestEvidenceChanged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := math.Exp(rapid.Float64Range(-5, 3).Draw(t, "ln rate"))
		changes := rapid.Float64Range(0.01, 6)
		first, second := changes.Draw(t, "x")/rate, changes.Draw(t, "y")/rate
		e := Evidence{}.Changed(first, rate).Changed(second, rate)
		apart := func(u float64) float64 {
			lambda := rate * math.Exp(u)
			both := math.Log(-math.Expm1(-lambda*first)) + math.Log(-math.Expm1(-lambda*second))
			return both - e.Looks*math.Log(-math.Expm1(-lambda*e.Gap))
		}
		if off := math.Abs(apart(0.1) - apart(-0.1)); off > 1e-3 {
			t.Fatalf("%v and %v at %v become %+v: likelihoods differ by %v over 20 %% of the rate", first, second, rate, e, off)
		}
		if e.Looks > 2.0001 || e.Gap > max(first, second)*1.0001 || e.Gap < min(first, second)*0.9999 {
			t.Fatalf("%v and %v at %v become %+v", first, second, rate, e)
		}
	})
}

// However high a rate is believed, looks keep the gaps that they had. Otherwise looks a day
// apart would become evidence of a change every minute.
func TestEvidenceKeepsItsGaps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e, rate := Evidence{}, math.Exp(rapid.Float64Range(-3, 100).Draw(t, "ln rate"))
		gaps := rapid.SliceOfN(rapid.Float64Range(0.9, 3), 2, 20).Draw(t, "gaps")
		for _, gap := range gaps {
			e = e.Changed(gap, rate)
		}
		if e.Gap < slices.Min(gaps)*0.9999 || e.Gap > slices.Max(gaps)*1.0001 || !(e.Looks > 0.9 && e.Looks < 1.0001*float64(len(gaps))) {
			t.Fatalf("changes after %v at the rate %v become %+v", gaps, rate, e)
		}
	})
}

// A prior that turns out wrong takes its pages along: their evidence is judged again.
func TestEvidenceOutlivesItsPrior(t *testing.T) {
	t.Parallel()
	wrong, right := Distribution{0.7, 14}, Distribution{0.4, 0.4}
	e, exact := Evidence{}, mathtest.FineGrid(right.A, right.B)
	for range 6 {
		const days = 7
		e = e.Changed(days, e.Under(wrong).Mean())
		exact.See(days, true)
	}
	if g := e.Under(right); !mathtest.Alike(g.Mean(), exact.Mean(), 0.02) {
		t.Errorf("changed at each of 6 weekly looks: mean %v, want %v", g.Mean(), exact.Mean())
	}
}

func TestDigamma(t *testing.T) {
	t.Parallel()
	// ψ(1) = −γ, ψ(1/2) = −γ − 2 ln 2, ψ(x+1) = ψ(x) + 1/x.
	const gamma = 0.57721566490153286
	for x, want := range map[float64]float64{1: -gamma, 0.5: -gamma - 2*math.Ln2, 2: 1 - gamma, 1e-3: -1000.5755719318103} {
		if got := Digamma(x); !mathtest.Alike(got, want, 1e-11) {
			t.Errorf("ψ(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestShapeOf(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := math.Exp(rapid.Float64Range(-3, 6).Draw(t, "ln a"))
		if got := ShapeOf(math.Log(a) - Digamma(a)); !mathtest.Alike(got, a, 1e-6) {
			t.Fatalf("shape %v, want %v", got, a)
		}
	})
	if got := ShapeOf(0); !math.IsInf(got, 1) {
		t.Errorf("shape %v of pages all alike", got)
	}
}

func BenchmarkEvidence(b *testing.B) {
	e := Evidence{Days: 80, Looks: 4.3, Gap: 9}
	for b.Loop() {
		e.Under(Distribution{0.7, 14})
	}
}
