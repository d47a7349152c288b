package gamma

import "math"

// Gamma is a belief about a page's rate of change in changes a day: the Gamma
// distribution with shape A > 0 and rate B > 0, as if A changes had been counted
// in B days. Its mean is A/B, and the wider it is the less is known. A point
// estimate put in the place of the rate abandons pages that were lucky once; a
// belief does not, because rates that are still possible keep their part.
type Distribution struct {
	A float64 // changes
	B float64 // days
}

// Mean is the expected rate, changes a day.
func (g Distribution) Mean() float64 { return g.A / g.B }

// Variance is the variance of the rate.
func (g Distribution) Variance() float64 { return g.A / (g.B * g.B) }

// Unchanged is the belief after a look that found no change in so many days
// (≥ 0): exact.
func (g Distribution) Unchanged(days float64) Distribution { return Distribution{g.A, g.B + days} }

// Changed is the belief after a look that found at least one change in so many
// days (> 0), as comparing two copies tells. The exact belief is no Gamma
// distribution any more; this is the one with its mean and variance (assumed
// density). For short times it is one more change at half time; for times in
// which a change was certain anyway the belief stays as it was, so that a page
// that changed at every look is not believed to change without limit.
//
// With s = b/(b+τ) and q = s^a the moments are m = (a/b)(1−qs)/(1−q) and
// m₂ = (a(a+1)/b²)(1−qs²)/(1−q), and the new belief (m²/v, m/v) with v = m₂ − m².
// Written with d = (1−s) q/(1−q) that is m = (a/b)(1+d) and
// v = (a/b²)(1 + d(1+s) − ad(1−s) − ad²), which nothing cancels in.
func (g Distribution) Changed(days float64) Distribution {
	r := math.Log1p(days / g.B)
	if r == 0 {
		return Distribution{g.A + 1, g.B}
	}
	gone := -math.Expm1(-r) // 1 − s
	d := gone / math.Expm1(g.A*r)
	spread := 1 + d*(2-gone) - g.A*d*(gone+d)
	return Distribution{g.A * (1 + d) * (1 + d) / spread, g.B * (1 + d) / spread}
}
