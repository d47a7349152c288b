package schedule

import "time"

// Foresee returns the chance that the belief before a visit gave to a change, for a
// visit that then compared two copies. It reports false for a visit that compared
// nothing, and after an unknown time.
func Foresee(before Belief, seen Observation, p Parameters) (chance float64, is bool) {
	if !compares(seen.Outcome) || seen.Gap <= 0 {
		return 0, false
	}
	gap := days(seen.Gap)
	return 1 - p.forecast(before).over(before.Gamma(p.prior()), gap).Survival(gap), true
}

// Lag is how far the copy of a page is expected to be behind the page: the change metrics
// of Sizov, estimated.
type Lag struct {
	// Fresh is the chance that the page has not changed since the last look.
	Fresh float64
	// Age is the expected time, in days, since the first change that the copy lacks; 0
	// counts for none.
	Age float64
	// Rate is the expected number of changes a day until the next visit, and Delay how
	// many days these wait for it, in total and a day: Rate times half the time between
	// visits.
	Rate, Delay float64
}

// LagOf returns the lag of a page whose last look was elapsed ago, and whose visits are an
// interval apart.
func LagOf(b Belief, p Parameters, elapsed, interval time.Duration) Lag {
	own, ahead := b.Gamma(p.prior()), p.forecast(b)
	ago, apart := days(max(elapsed, 0)), days(max(interval, 0))
	now := ahead.over(own, ago)
	rate := ahead.over(own, apart).Mean()
	return Lag{Fresh: now.Survival(ago), Age: now.ExpectedAge(ago), Rate: rate, Delay: rate * apart / 2}
}
