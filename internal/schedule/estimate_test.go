package schedule

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

// sample is the irregular sample of reference §3: gaps of 1, 1, 2, 4, ½ and 3 days,
// three of them with changes.
var sample = []Look{
	{Days: 1, Changed: true}, {Days: 1}, {Days: 2, Changed: true}, {Days: 4}, {Days: 0.5}, {Days: 3, Changed: true},
}

// looks is n looks at equal intervals that all found the same.
func looks(n int, days float64, changed bool) []Look {
	all := make([]Look, n)
	for i := range all {
		all[i] = Look{Days: days, Changed: changed}
	}
	return all
}

func TestEstimates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		got  float64
		want string
	}{
		{"X/T, 3 changes in 10 days (Sizov)", RateByCount(3, 10), "0.3"},
		{"log, 3 of 10 (Sizov)", RateByLog(10, 3, 1), "0.34"},
		{"log, 3 of 10", RateByLog(10, 3, 1), "0.3364722366"},
		{"log, 3 of 10 in half days", RateByLog(10, 3, 0.5), "0.6729444732"},
		{"log, 0 of 10", RateByLog(10, 0, 1), "0"},
		{"log, 10 of 10: ln 21", RateByLog(10, 10, 1), "3.0445224377"},
		{"X/T, irregular", RateByCount(3, 11.5), "0.26086957"},
		{"likelihood", RateByLikelihood(sample, 0), "0.37159645"},
		{"likelihood, pseudo ½ day", RateByLikelihood(sample, 0.5), "0.45883230"},
		{"moments", rateByMoments(sample), "0.42636310"},
		{"likelihood, 3 of 3", RateByLikelihood(looks(3, 1, true), 0), "+Inf"},
		{"likelihood, 0 of 3", RateByLikelihood(looks(3, 1, false), 0), "0"},
		{"likelihood, 3 of 3, pseudo ½ day", RateByLikelihood(looks(3, 1, true), 0.5), "2.43117893"},
		{"likelihood, 0 of 3, pseudo ½ day", RateByLikelihood(looks(3, 1, false), 0.5), "0.26706279"},
		{"likelihood, no looks, pseudo ½ day: 2 ln 2", RateByLikelihood(nil, 0.5), "1.38629436"},
		{"likelihood, no looks", RateByLikelihood(nil, 0), "0"},
	} {
		mathtest.Printed(t, c.name, c.want, c.got)
	}
}

func TestEstimatesOf(t *testing.T) {
	t.Parallel()
	if e, ok := EstimatesOf(nil); ok {
		t.Errorf("no looks are estimated as %+v", e)
	}
	e, ok := EstimatesOf(sample)
	if !ok || e.Looks != 6 || e.Changes != 3 || e.Days != 11.5 {
		t.Errorf("the sample is %+v, %t", e, ok)
	}
	// The logarithm is that of 3 changes in 6 looks, 11½/6 days apart.
	mathtest.Printed(t, "the sample", "0.26086957 0.32297698 0.45883230", e.Count, e.Log, e.Likelihood)
	if e, _ := EstimatesOf(looks(5, 1, true)); !(e.Likelihood > 0) || math.IsInf(e.Likelihood, 1) {
		t.Errorf("changes at all looks make %v a day likeliest", e.Likelihood)
	}
}

// rateByMoments matches the number of changed looks with its expectation, Σ z =
// Σ (1−e^−λτ) (Upadhyay et al., AAAI 2020): another estimate to compare with.
func rateByMoments(looks []Look) float64 {
	excess := func(u float64) float64 {
		sum := 0.0
		for _, l := range looks {
			sum -= math.Expm1(-math.Exp(u) * l.Days)
			if l.Changed {
				sum--
			}
		}
		return sum
	}
	u, _ := gamma.Solve(excess, true, gamma.PointOn(excess, 0), 1, 100, 1e-13)
	return math.Exp(u)
}

// Looks at any intervals, some of which changed.
var anyLooks = mathtest.Shared(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Look {
	return Look{Days: mathtest.Positive(1e-3, 1e3).Draw(t, "days"), Changed: rapid.Bool().Draw(t, "changed")}
}), 1, 40))

// No other rate makes the looks likelier than the estimate of greatest likelihood.
func TestLikelihoodIsGreatest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		looks := anyLooks.Draw(t, "looks")
		likelihood := func(rate float64) float64 {
			sum := 0.0
			for _, l := range looks {
				if l.Changed {
					sum += math.Log(-math.Expm1(-rate * l.Days))
				} else {
					sum -= rate * l.Days
				}
			}
			return sum
		}
		best := RateByLikelihood(looks, 0)
		if math.IsNaN(best) || best == 0 || math.IsInf(best, 1) {
			return // all alike
		}
		other := best * mathtest.Positive(0.5, 2).Draw(t, "other")
		if at, there := likelihood(best), likelihood(other); there > at+1e-9*math.Abs(at) {
			t.Fatalf("%v at %v, %v at %v", at, best, there, other)
		}
	})
}

// For looks at equal intervals there is a closed form: −ln(1−x/n) per interval.
func TestLikelihoodOfEqualIntervals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, interval := rapid.IntRange(2, 100).Draw(t, "n"), mathtest.Positive(1e-3, 1e3).Draw(t, "interval")
		x := rapid.IntRange(1, n-1).Draw(t, "x")
		all := append(looks(x, interval, true), looks(n-x, interval, false)...)
		want := -math.Log1p(-float64(x)/float64(n)) / interval
		if got := RateByLikelihood(all, 0); !mathtest.Alike(got, want, 1e-9) {
			t.Fatalf("%d of %d every %v: %v, want %v", x, n, interval, got, want)
		}
	})
}

// Pseudo-observations make every estimate finite and positive.
func TestPseudoObservations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		got := RateByLikelihood(anyLooks.Draw(t, "looks"), mathtest.Positive(0.01, 10).Draw(t, "pseudo"))
		if !(got > 0) || math.IsInf(got, 1) {
			t.Fatalf("estimate %v", got)
		}
	})
}
