package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

// Look is one comparison of a page with its last copy.
type Look struct {
	Days    float64 // since the last comparison, > 0
	Changed bool
}

// Estimates are point estimates of a page's rate of change, in changes a day, by the
// estimators of the literature. They are shown beside the belief for comparison. No
// policy decides by them: a policy that takes an estimate of 0 for the rate never
// visits the page again.
type Estimates struct {
	Looks, Changes int     // comparisons, and how many of them found a change
	Days           float64 // from the first copy to the last comparison
	Count          float64 // by [RateByCount]
	Log            float64 // by [RateByLog], with the mean interval between looks
	Likelihood     float64 // by [RateByLikelihood], with pseudo-observations of half a day
}

// pseudoLook is the length, in days, of the pseudo-observations of Kolobov et al. 2019.
const pseudoLook = 0.5

// EstimatesOf returns the estimates from a page's looks, in any order. It reports
// false if there are none.
func EstimatesOf(looks []Look) (Estimates, bool) {
	e := Estimates{Looks: len(looks)}
	for _, l := range looks {
		e.Days += l.Days
		if l.Changed {
			e.Changes++
		}
	}
	if !(e.Days > 0) {
		return Estimates{}, false
	}
	e.Count = RateByCount(e.Changes, e.Days)
	e.Log = RateByLog(e.Looks, e.Changes, e.Days/float64(e.Looks))
	e.Likelihood = RateByLikelihood(looks, pseudoLook)
	return e, true
}

// RateByCount returns X/T, the number of changes found divided by the days (> 0)
// observed. It underestimates: a look finds at most one change, however many there
// were (Sizov, "Estimating the rate parameter λ", whose example of 0.3 divides by the
// number of looks instead of the days).
func RateByCount(changes int, days float64) float64 { return float64(changes) / days }

// RateByLog corrects the bias of [RateByCount] for looks at equal intervals (> 0, in
// days). With x changes in n looks it returns −ln((n−x+½)/(n+½)) divided by the
// interval (Cho & Garcia-Molina, "Estimating frequency of change", 2003, the estimator
// r̂; Sizov's log((N+½)/(N−X+½)), printed without the interval). It is 0 for x = 0 and
// finite for x = n.
func RateByLog(looks, changes int, interval float64) float64 {
	n, x := float64(looks), float64(changes)
	return math.Log((n+0.5)/(n-x+0.5)) / interval
}

// RateByLikelihood returns the rate λ of greatest likelihood, for looks at any
// intervals τ: the root of Σ τ/(e^λτ − 1) over changed looks = Σ τ over unchanged
// looks. It stays valid when the intervals were chosen by what earlier looks found. It
// is 0 if no look found a change, and +Inf if all did.
//
// A pseudo > 0 adds one changed and one unchanged look, each pseudo days long. The
// result is then positive and finite (Kolobov, Peres, Lu and Horvitz, NeurIPS 2019, use
// half a day).
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
	// If the looks span more than the range of a float, the search ends at the limit.
	u, _ := gamma.Solve(excess, false, gamma.PointOn(excess, -math.Log(changed+unchanged)), 1, 1000, 1e-13)
	return math.Exp(u)
}
