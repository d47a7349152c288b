package gamma

import "math"

// Distribution is a Gamma distribution with shape A > 0 and rate parameter B > 0, used
// as a belief about a rate of change λ in changes a day: as if A changes had been
// counted in B days. Its mean is A/B; the larger A, the more is known. Decisions use
// the belief instead of a point estimate because a page that was unchanged by luck has
// an estimate of 0 and would be abandoned, while a belief keeps higher rates possible.
type Distribution struct {
	A float64 // changes
	B float64 // days
}

// Mean returns the expected rate in changes a day.
func (g Distribution) Mean() float64 { return g.A / g.B }

// Variance returns the variance of the rate.
func (g Distribution) Variance() float64 { return g.A / (g.B * g.B) }

// Unchanged returns the belief after a look, days (≥ 0) after the previous one, that
// found no change. It is exact (Gamma distributions are conjugate to Poisson counts).
func (g Distribution) Unchanged(days float64) Distribution { return Distribution{g.A, g.B + days} }

// Changed returns the belief after a look, days (≥ 0) after the previous one, that
// found at least one change, as a comparison of two copies does. The exact belief is
// not a Gamma distribution; the result is the one with the same mean and variance
// (assumed-density filtering). After a very short time it counts one more change. After
// a time in which a change was certain the belief stays as it was, so a page that
// changed at every look is not believed to change without limit.
//
// With s = b/(b+τ) and q = s^a the exact moments are m = (a/b)(1−qs)/(1−q) and m₂ =
// (a(a+1)/b²)(1−qs²)/(1−q), and the result is (m²/v, m/v) with v = m₂ − m². In terms of
// d = (1−s) q/(1−q) these are m = (a/b)(1+d) and v = (a/b²)(1 + d(1+s) − ad(1−s) −
// ad²), a form without cancellation.
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
