package schedule

import (
	"math"
	"slices"

	"recrawl/internal/schedule/gamma"
)

// IntervalBins is how many bins the intervals between changes are counted in.
const IntervalBins = 10

// IntervalFit tests whether pages change as Poisson processes do, each at its own rate:
// whether the time since the last change says nothing about the next one. In that case it
// is exponential, as the intervals of Sizov's figure "Change intervals of pages".
//
// Visits see an interval censored: a change lies somewhere between two looks, several count
// as one, and the last interval of a page has not ended. So no intervals are taken from the
// data. Instead each look is a trial: under the model it finds a change with the chance p
// that follows from the time since the look before and from the evidence of the page's
// earlier looks on its rate. The looks are put into bins by the probability integral
// transform of the time since the last change that was found: u = 1 − e^−H, where H is the
// sum of −ln(1−p) over the looks since then, half of this one's included. Which bin it is,
// and p, are known before the outcome. Therefore found less expected changes is a
// martingale: it has the mean 0 and the variance Σ p(1−p), whenever visits were made and
// whatever the earlier outcomes were, and a run that has not ended counts for the looks
// that it had. The test is χ² = Σ (found − expected)²/variance over the bins, after the
// expected changes are scaled to the number found, which costs a degree of freedom.
//
// How the rates of pages differ is fitted to the same looks, by empirical Bayes: a belief
// that fits the pages badly would look like a misfit of the intervals.
//
// With many looks between two changes the bins show the shape of the intervals. With few
// looks the first bins are empty, and the test sees less. It cannot see changes between
// two looks.
type IntervalFit struct {
	Pages, Looks, Changes int
	// Bins count the looks by u, [IntervalBins] from 0 to 1.
	Bins [IntervalBins]IntervalBin
	// Tested says that there were enough changes for the rest.
	Tested bool
	// Ratio is the number of changes found over the number expected. The test is of the
	// shape alone.
	Ratio     float64
	ChiSquare float64
	Degrees   int
	PValue    float64 // the chance of a χ² as large or larger under the model
}

// IntervalBin counts the looks in one bin.
type IntervalBin struct {
	Looks    int
	Found    int     // of them found a change
	Expected float64 // should have found one, under the model
	Variance float64 // of Expected
}

// FitIntervals tests the looks of pages, each page's in their order. The outside prior is
// the assumed distribution of rates if there are too few pages to fit one.
func FitIntervals(pages [][]Look, outside gamma.Distribution) IntervalFit {
	fit, prior := IntervalFit{}, commonPrior(pages, outside)
	for _, looks := range pages {
		fit.add(looks, prior)
	}
	fit.test()
	return fit
}

// commonRounds is how often the steps of EM are repeated for the prior of a sample.
const commonRounds = 20

// commonPrior is the belief about the rate of one of these pages before any look at it.
func commonPrior(pages [][]Look, outside gamma.Distribution) gamma.Distribution {
	var evidence []gamma.Evidence
	for _, looks := range pages {
		var e gamma.Evidence
		for _, l := range looks {
			e = looked(e, l, outside)
		}
		if len(looks) > 0 {
			evidence = append(evidence, e)
		}
	}
	prior := outside
	for range commonRounds {
		var all Population
		for _, e := range evidence {
			all.Add(e.Under(prior))
		}
		prior = all.Prior(outside)
	}
	return prior
}

// add adds the looks of a page.
func (fit *IntervalFit) add(looks []Look, prior gamma.Distribution) {
	if len(looks) == 0 {
		return
	}
	fit.Pages++
	var e gamma.Evidence
	since := 0.0 // H
	for _, l := range looks {
		hazard := -math.Log(e.Under(prior).Survival(l.Days))
		bin := &fit.Bins[min(int(IntervalBins*-math.Expm1(-since-hazard/2)), IntervalBins-1)]
		chance := -math.Expm1(-hazard)
		fit.Looks++
		bin.Looks++
		bin.Expected += chance
		bin.Variance += chance * (1 - chance)
		since += hazard
		if l.Changed {
			fit.Changes++
			bin.Found++
			since = 0
		}
		e = looked(e, l, prior)
	}
}

// looked adds a look to the evidence of a page.
func looked(e gamma.Evidence, l Look, prior gamma.Distribution) gamma.Evidence {
	if l.Changed {
		return e.Changed(l.Days, e.Under(prior).Mean())
	}
	e.Days += l.Days
	return e
}

// leastExpected is the least number of expected changes in each class of a χ² test.
const leastExpected = 5

// test tests the shape of the intervals, if there are enough changes.
func (fit *IntervalFit) test() {
	expected := 0.0
	for _, b := range fit.Bins {
		expected += b.Expected
	}
	if fit.Changes == 0 || !(expected > 0) {
		return
	}
	ratio := float64(fit.Changes) / expected
	classes := fit.classes(ratio)
	if len(classes) < 2 {
		return
	}
	fit.Tested, fit.Ratio, fit.Degrees = true, ratio, len(classes)-1
	for _, c := range classes {
		off := float64(c.Found) - c.Expected
		fit.ChiSquare += off * off / c.Variance
	}
	fit.PValue = gamma.Distribution{A: float64(fit.Degrees) / 2, B: 0.5}.Above(fit.ChiSquare)
}

// classes are the bins with the expected changes times a ratio; a bin with too few is
// joined to the next one, the last to the one before.
func (fit *IntervalFit) classes(ratio float64) []IntervalBin {
	var all []IntervalBin
	var open IntervalBin
	for _, b := range fit.Bins {
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
