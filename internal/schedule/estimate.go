package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

// Look is one comparison of a page with its last copy.
type Look struct {
	Days    float64 // since the last comparison, > 0
	Changed bool
	// Ago is how many days before the look the page last changed, where the page
	// says so and can be trusted; it is read for changed looks only.
	Ago float64
}

// The point estimates of a rate, in changes a day, from what comparisons found.
// Policies decide by a belief ([Gamma]) instead: put in the place of a rate, an
// estimate of 0 abandons a page for ever.

// RateByCount is X/T: the changes found over the days (> 0) observed. It is too
// low, since a look finds one change however many there were, and never exceeds
// one per look (Sizov, "Estimating the rate parameter λ", whose 0.3 takes the
// days for the looks).
func RateByCount(changes int, days float64) float64 { return float64(changes) / days }

// RateByLog corrects RateByCount for looks at equal intervals of so many days:
// −ln((n−x+½)/(n+½)) per interval for x changes in n looks (Cho & Garcia-Molina,
// "Estimating frequency of change", 2003, eq. for r̂; Sizov's log((N+½)/(N−X+½)),
// printed without the interval). It is 0 for no change and finite for n of n.
func RateByLog(looks, changes int, interval float64) float64 {
	n, x := float64(looks), float64(changes)
	return math.Log((n+0.5)/(n-x+0.5)) / interval
}

// RateByLikelihood is the rate under which looks at any intervals were likeliest:
// the λ with Σ over changed looks of τ/(e^λτ − 1) equal to Σ of τ over unchanged
// ones. That intervals were chosen by what earlier looks found does no harm. It is
// 0 if no look changed and +Inf if all did. A pseudo > 0 adds one changed and one
// unchanged look of so many days, which makes it finite and positive (the
// learning crawler of Kolobov et al. 2019 uses half a day).
func RateByLikelihood(looks []Look, pseudo float64) float64 {
	changed, unchanged := pseudo, pseudo
	for _, l := range looks {
		if l.Changed {
			changed += l.Days
		} else {
			unchanged += l.Days
		}
	}
	switch {
	case changed <= 0:
		return 0
	case unchanged <= 0:
		return math.Inf(1)
	}
	excess := func(u float64) float64 {
		rate := math.Exp(u)
		sum := -unchanged
		if pseudo > 0 {
			sum += pseudo / math.Expm1(rate*pseudo)
		}
		for _, l := range looks {
			if l.Changed {
				sum += l.Days / math.Expm1(rate*l.Days)
			}
		}
		return sum
	}
	// Looks that span more than a float's range leave the end of it.
	u, _ := gamma.Solve(excess, false, gamma.PointOn(excess, -math.Log(changed+unchanged)), 1, 1000, 1e-13)
	return math.Exp(u)
}

// RateByLastModified is the rate where changed looks tell how long ago the last
// change was: X/T, where T counts those times for changed looks and the whole time
// for others, is likeliest. Corrected takes out its bias for few looks, with
// (X−1) − X/(n ln(1−X/n)) for X (Cho & Garcia-Molina, "Estimating frequency of
// change", 2003, §5). Both are 0 if nothing changed.
func RateByLastModified(looks []Look) (plain, corrected float64) {
	changes, days := 0.0, 0.0
	for _, l := range looks {
		if l.Changed {
			changes++
			days += l.Ago
		} else {
			days += l.Days
		}
	}
	if changes == 0 || days <= 0 {
		return 0, 0
	}
	n := float64(len(looks))
	// For n of n the logarithm is −Inf and the last term vanishes.
	unbiased := changes - 1 - changes/(n*math.Log1p(-changes/n))
	return changes / days, unbiased / days
}

// RateByHistory is the estimate where every change is known, as from a feed, a
// sitemap or a list of revisions: (changes + a)/(days + b), where a and b are what
// is assumed beforehand (Kolobov et al. 2019 use one half each).
func RateByHistory(changes int, days, a, b float64) float64 {
	return (float64(changes) + a) / (days + b)
}
