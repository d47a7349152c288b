package schedule

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

func TestFirstPrior(t *testing.T) {
	t.Parallel()
	// A round of a day is the prior for which the constants were chosen: one change in
	// 20 days.
	if g := FirstPrior(day); g.A != 0.7 || !mathtest.Alike(g.B, 14, 1e-12) || !mathtest.Alike(g.Mean(), 0.05, 1e-12) {
		t.Errorf("prior %+v of a daily round", g)
	}
	if g := FirstPrior(time.Second); !mathtest.Alike(g.Mean(), 86400/20, 1e-12) {
		t.Errorf("mean %v of a round of a second", g.Mean())
	}
}

func TestPopulationPrior(t *testing.T) {
	t.Parallel()
	outside := FirstPrior(day)
	of := func(n int, g ...gamma.Distribution) Population {
		var p Population
		for i := range n {
			p.Add(g[i%len(g)])
		}
		return p
	}
	for _, c := range []struct {
		name        string
		p           Population
		shape, mean float64
	}{
		{"no pages: the outside mean", Population{}, 0.7, 0.05},
		// (3·0.05 + 1)/4; (10·0.7 + 1·2)/11: the best fit to one page's belief is that
		// belief.
		{"one page", of(1, gamma.Distribution{A: 2, B: 2}), 9. / 11, 1.15 / 4},
		// All alike and certain: as narrow as is allowed, (10·0.7 + 1000·20)/1010.
		{"pages alike", of(1000, gamma.Distribution{A: 1e9, B: 1e9}), 20007. / 1010, (0.15 + 1000) / 1003},
		// Rates 1.99 and 0.01: ln a − ψ(a) = ln 1 − (ln 1.99 + ln 0.01)/2 at a = 0.34426521.
		{"pages apart", of(1000, gamma.Distribution{A: 1.99e9, B: 1e9}, gamma.Distribution{A: 1e7, B: 1e9}), (7 + 1000*0.34426521) / 1010, (0.15 + 1000) / 1003},
	} {
		got := c.p.Prior(outside)
		if !mathtest.Alike(got.A, c.shape, 1e-6) || !mathtest.Alike(got.Mean(), c.mean, 1e-9) {
			t.Errorf("%s: shape %v, mean %v; want %v, %v", c.name, got.A, got.Mean(), c.shape, c.mean)
		}
	}
}

// The prior of a group is found from pages that each were looked at a few times
// only: their rates' mean, and how they differ.
func TestPriorIsLearned(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	for _, truth := range []gamma.Distribution{{A: 2, B: 20}, {A: 0.5, B: 1}, {A: 8, B: 80}} {
		prior := FirstPrior(day)
		evidence := make([][]Look, 400)
		for i := range evidence {
			rate := truth.Quantile(r.Float64())
			for range 20 {
				l := Look{Days: 0.7 / truth.Mean()}
				l.Changed = r.Float64() > math.Exp(-rate*l.Days)
				evidence[i] = append(evidence[i], l)
			}
		}
		// Beliefs are made under the prior and make the next one; a few turns settle it.
		for range 20 {
			var group Population
			for _, looks := range evidence {
				g := prior
				for _, l := range looks {
					if l.Changed {
						g = g.Changed(l.Days)
					} else {
						g = g.Unchanged(l.Days)
					}
				}
				group.Add(g)
			}
			prior = group.Prior(FirstPrior(day))
		}
		if !mathtest.Alike(prior.Mean(), truth.Mean(), 0.2) || !mathtest.Alike(prior.A, truth.A, 0.4) {
			t.Errorf("pages from %+v: prior %+v of mean %v", truth, prior, prior.Mean())
		}
	}
}

// Groups may be counted in any order and in parts, and the prior is always one.
func TestPopulationMerge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		beliefs := rapid.SliceOf(gammas).Draw(t, "beliefs")
		outside := gammas.Draw(t, "outside")
		cut := rapid.IntRange(0, len(beliefs)).Draw(t, "cut")
		var whole, left, right Population
		for i, g := range beliefs {
			whole.Add(g)
			if i < cut {
				right.Add(g)
			} else {
				left.Add(g)
			}
		}
		left.Merge(right)
		a, b := whole.Prior(outside), left.Prior(outside)
		if left.N != len(beliefs) || !mathtest.Alike(a.A, b.A, 1e-6) || !mathtest.Alike(a.B, b.B, 1e-6) {
			t.Fatalf("%+v in one, %+v in parts", a, b)
		}
		if !(a.A >= leastShape) || a.A > mostShape || !(a.B > 0) || math.IsInf(a.B, 1) {
			t.Fatalf("prior %+v", a)
		}
	})
}

func TestDurations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		days float64
		want time.Duration
	}{{1, day}, {0, 0}, {1e300, math.MaxInt64}, {math.Inf(1), math.MaxInt64}, {106752, math.MaxInt64}, {106751, 106751 * day}} {
		if got := duration(c.days); got != c.want {
			t.Errorf("%v days are %d, want %d", c.days, got, c.want)
		}
	}
}
