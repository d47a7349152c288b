package schedule

import (
	"math"
	"slices"

	"recrawl/internal/schedule/gamma"
)

// IntervalBins is how many bins the intervals between changes are counted in.
const IntervalBins = 10

// Intervals tests whether pages change as Poisson processes do, each at a rate of its own:
// whether the time since the last change says nothing about the next one. It then is
// exponential, as the intervals of Sizov's figure "Change intervals of pages".
//
// What visits see of an interval is censored: a change lies somewhere between two looks,
// several count as one, and the last interval of a page has not ended. So no intervals are
// taken from the data. Instead each look is a trial: under the model it finds a change with
// the chance p that follows from the time since the look before and from what the page's
// earlier looks tell of its rate. The looks are put into bins by the probability integral
// transform of the time since the last change that was found: u = 1 − e^−H, where H is the
// sum of −ln(1−p) over the looks since then, half of this one's included. Which bin it is,
// and p, are known before the outcome. Therefore found less expected changes is a
// martingale: it has the mean 0 and the variance Σ p(1−p), whatever visits were made when
// and for whatever earlier outcomes, and a run that has not ended counts for the looks that
// it had. The test is χ² = Σ (found − expected)²/variance over the bins, after the expected
// changes are brought to the number found, for which a degree of freedom goes.
//
// With many looks between two changes the bins show the shape of the intervals. With few
// looks the first bins are empty, and the test sees less. It cannot see what happens
// between two looks.
type Intervals struct {
	Pages, Looks, Changes int
	// Bins count the looks by u, [IntervalBins] from 0 to 1.
	Bins [IntervalBins]IntervalBin
}

// IntervalBin is the looks in one bin.
type IntervalBin struct {
	Looks    int
	Found    int     // of them found a change
	Expected float64 // should have, under the model
	Variance float64 // of Expected
}

// Add adds the looks of a page, in their order. The prior is the belief about the rate of a
// page that nothing is known of.
func (in *Intervals) Add(looks []Look, prior gamma.Distribution) {
	if len(looks) == 0 {
		return
	}
	in.Pages++
	var e gamma.Evidence
	since := 0.0 // H
	for _, l := range looks {
		g := e.Under(prior)
		hazard := -math.Log(g.Survival(l.Days))
		bin := &in.Bins[min(int(IntervalBins*-math.Expm1(-since-hazard/2)), IntervalBins-1)]
		chance := -math.Expm1(-hazard)
		in.Looks++
		bin.Looks++
		bin.Expected += chance
		bin.Variance += chance * (1 - chance)
		if l.Changed {
			in.Changes++
			bin.Found++
			since = 0
			e = e.Changed(l.Days, g.Mean())
			continue
		}
		since += hazard
		e.Days += l.Days
	}
}

// leastExpected is how many changes each class of a χ² test must let expect.
const leastExpected = 5

// Fit is the result of the test of [Intervals].
type Fit struct {
	// Ratio is the changes that were found over those that the beliefs expected: 1 if their
	// level is right. The test is of the shape alone.
	Ratio     float64
	ChiSquare float64
	Degrees   int
	PValue    float64 // the chance of a χ² as large or larger, if the pages change as Poisson processes
}

// Test tests the shape of the intervals. It reports false if there are too few changes to
// tell.
func (in *Intervals) Test() (Fit, bool) {
	expected := 0.0
	for _, b := range in.Bins {
		expected += b.Expected
	}
	if in.Changes == 0 || !(expected > 0) {
		return Fit{}, false
	}
	fit := Fit{Ratio: float64(in.Changes) / expected}
	classes := in.classes(fit.Ratio)
	if fit.Degrees = len(classes) - 1; fit.Degrees < 1 {
		return Fit{}, false
	}
	for _, c := range classes {
		off := float64(c.Found) - c.Expected
		fit.ChiSquare += off * off / c.Variance
	}
	fit.PValue = gamma.Distribution{A: float64(fit.Degrees) / 2, B: 0.5}.Above(fit.ChiSquare)
	return fit, true
}

// classes are the bins with the expected changes times a ratio; those with too few are
// joined to the next one, the last to the one before.
func (in *Intervals) classes(ratio float64) []IntervalBin {
	var all []IntervalBin
	var open IntervalBin
	for _, b := range in.Bins {
		open = open.plus(IntervalBin{Looks: b.Looks, Found: b.Found, Expected: ratio * b.Expected, Variance: ratio * b.Variance})
		if open.Expected >= leastExpected {
			all, open = append(all, open), IntervalBin{}
		}
	}
	if n := len(all); n > 0 {
		all[n-1] = all[n-1].plus(open)
	}
	return slices.DeleteFunc(all, func(b IntervalBin) bool { return !(b.Variance > 0) })
}

func (b IntervalBin) plus(c IntervalBin) IntervalBin {
	return IntervalBin{b.Looks + c.Looks, b.Found + c.Found, b.Expected + c.Expected, b.Variance + c.Variance}
}

// PriorRate returns the belief about the rate of a page that nothing is known of.
func (p Parameters) PriorRate() gamma.Distribution { return p.prior() }
