package schedule

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

// visited visits a page whose changes come at the times that next draws (days from one
// change to the next), for some days. Gaps depend on earlier finds, as policies' do.
func visited(r *rand.Rand, days float64, next func() float64) []Look {
	var looks []Look
	change, last, gap := next(), 0.0, 0.5+r.Float64()
	for at := gap; at < days; at += gap {
		l := Look{Days: at - last}
		for ; change <= at; change += next() {
			l.Changed = true
		}
		looks, last = append(looks, l), at
		if l.Changed {
			gap = max(gap*0.7, 0.1)
		} else {
			gap = min(gap*1.2, 6)
		}
	}
	return looks
}

// drawRate draws a rate with the given prior: shape 2, so two exponential times.
func drawRate(r *rand.Rand, prior gamma.Distribution) float64 {
	return (r.ExpFloat64() + r.ExpFloat64()) / prior.B
}

// Pages that change as Poisson processes, each at its own rate, are rejected as often as
// the test says, though the gaps between looks follow from what earlier ones found.
func TestIntervalsOfPoissonProcesses(t *testing.T) {
	t.Parallel()
	prior := gamma.Distribution{A: 2, B: 8}
	const worlds = 100
	var rejected, ratio float64
	for world := range uint64(worlds) {
		r := rand.New(rand.NewPCG(world, 1))
		var pages [][]Look
		for range 40 {
			rate := drawRate(r, prior)
			pages = append(pages, visited(r, 60, func() float64 { return r.ExpFloat64() / rate }))
		}
		fit := FitIntervals(pages, FirstPrior(24*time.Hour))
		if !fit.Tested {
			t.Fatalf("world %d: too few of %d changes", world, fit.Changes)
		}
		ratio += fit.Ratio / worlds
		if fit.PValue < 0.05 {
			rejected++
		}
	}
	// 100 × 5 % is 5; with a standard deviation of 2.2, 14 is four of these away.
	if rejected > 14 || math.Abs(ratio-1) > 0.05 {
		t.Errorf("%v of %d worlds are rejected at 5 %%; found over expected is %.3f", rejected, worlds, ratio)
	}
}

// Pages that all have one rate fit, too: the prior is fitted to them.
func TestIntervalsOfEqualPages(t *testing.T) {
	t.Parallel()
	rejected := 0
	for world := range uint64(40) {
		r := rand.New(rand.NewPCG(world, 2))
		var pages [][]Look
		for range 60 {
			pages = append(pages, visited(r, 60, func() float64 { return 10 * r.ExpFloat64() }))
		}
		if fit := FitIntervals(pages, FirstPrior(24*time.Hour)); fit.Tested && fit.PValue < 0.05 {
			rejected++
		}
	}
	if rejected > 8 { // 2 are expected, with a standard deviation of 1.4
		t.Errorf("%d of 40 worlds are rejected at 5 %%", rejected)
	}
}

// Pages with a timetable, and pages that change in bursts, do not fit.
func TestIntervalsOfOthers(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(r *rand.Rand) func() float64{
		"every four days": func(*rand.Rand) func() float64 { return func() float64 { return 4 } },
		"bursts": func(r *rand.Rand) func() float64 {
			return func() float64 {
				if r.Float64() < 0.6 {
					return 0.5 * r.ExpFloat64()
				}
				return 12 * r.ExpFloat64()
			}
		},
	} {
		r := rand.New(rand.NewPCG(7, 7))
		var pages [][]Look
		for range 40 {
			pages = append(pages, visited(r, 60, next(r)))
		}
		if fit := FitIntervals(pages, FirstPrior(24*time.Hour)); !fit.Tested || fit.PValue > 1e-3 {
			t.Errorf("%s: %+v", name, fit)
		}
	}
}

func TestIntervalsOfTooLittle(t *testing.T) {
	t.Parallel()
	fit := FitIntervals([][]Look{nil, {{1, false}, {1, true}, {2, false}}}, FirstPrior(24*time.Hour))
	if fit.Tested || fit.Pages != 1 || fit.Looks != 3 || fit.Changes != 1 {
		t.Errorf("%+v", fit)
	}
	if none := FitIntervals(nil, FirstPrior(24*time.Hour)); none != (IntervalFit{}) {
		t.Errorf("of nothing: %+v", none)
	}
}

// Quantiles of χ² as tables print them.
func TestAbove(t *testing.T) {
	t.Parallel()
	chi := func(x, degrees float64) float64 { return gamma.Distribution{A: degrees / 2, B: 0.5}.Above(x) }
	mathtest.Printed(t, "χ² 3.841 of 1, 16.919 of 9, 21.666 of 9, 0", "0.050 0.050 0.010 1.000", chi(3.841, 1), chi(16.919, 9), chi(21.666, 9), chi(0, 3))
}

// On average, a page of a drawn rate does what is foreseen before a look.
func TestForesee(t *testing.T) {
	t.Parallel()
	p := Parameters{Round: 24 * time.Hour, Min: time.Hour, Max: 1000 * time.Hour, Prior: gamma.Distribution{A: 2, B: 8}}
	r := rand.New(rand.NewPCG(3, 4))
	var foreseen, found, variance float64
	start := time.UnixMilli(1e12)
	for range 3000 {
		rate, at := drawRate(r, p.Prior), start
		b := Belief{}.observe(Observation{Outcome: crawl.OutcomeNew, At: at}, p)
		for range 12 {
			gap := time.Duration((0.3 + 5*r.Float64()) * 24 * float64(time.Hour))
			at = at.Add(gap)
			seen := Observation{Outcome: crawl.OutcomeUnchanged, At: at, Gap: gap}
			if r.Float64() < -math.Expm1(-rate*gap.Hours()/24) {
				seen.Outcome = crawl.OutcomeChanged
				found++
			}
			chance, is := Foresee(b, seen, p)
			if !is || chance <= 0 || chance >= 1 {
				t.Fatalf("chance %v, %t", chance, is)
			}
			foreseen += chance
			variance += chance * (1 - chance)
			b = b.observe(seen, p)
		}
	}
	if z := (found - foreseen) / math.Sqrt(variance); math.Abs(z) > 4 {
		t.Errorf("%v changes found, %.1f foreseen: %.1f standard deviations apart", found, foreseen, z)
	}
	for _, seen := range []Observation{{Outcome: crawl.OutcomeNew, Gap: time.Hour}, {Outcome: crawl.OutcomeFailed, Gap: time.Hour}, {Outcome: crawl.OutcomeChanged}} {
		if chance, is := Foresee(Belief{}, seen, p); is {
			t.Errorf("%+v: chance %v", seen, chance)
		}
	}
}

// The lag of a page whose rate is certain is that of the formulas: e^−λt, t − (1−e^−λt)/λ
// (Cho & Garcia-Molina), and λτ²/2 a round (Sizov's lemma).
func TestLag(t *testing.T) {
	t.Parallel()
	const rate, certain = 0.3, 1e9
	p := Parameters{Round: 24 * time.Hour, Min: time.Hour, Max: 1000 * time.Hour, Prior: gamma.Distribution{A: rate * certain, B: certain}}
	lag := LagOf(Belief{Compared: 1}, p, 48*time.Hour, 96*time.Hour)
	mathtest.Printed(t, "fresh, age, rate, delay a round", "0.549 0.496 0.300 2.400",
		lag.Fresh, lag.Age, lag.Rate, 4*lag.Delay)
	if lag := LagOf(Belief{}, p, -time.Hour, 0); lag.Fresh != 1 || lag.Age != 0 || lag.Delay != 0 {
		t.Errorf("at the look: %+v", lag)
	}
}
