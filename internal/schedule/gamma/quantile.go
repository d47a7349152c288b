package gamma

import "math"

// Quantile returns the rate below which the true rate is with probability p: 0 for p ≤
// 0, +Inf for p ≥ 1. Quantile(0.05) and Quantile(0.95) bound the 90 % interval. The
// error is below 1e-9.
func (g Distribution) Quantile(p float64) float64 {
	switch {
	case !(p > 0):
		return 0
	case p >= 1:
		return math.Inf(1)
	}
	excess := func(u float64) float64 { return incompleteGamma(g.A, math.Exp(u)) - p }
	// Near zero P(a, x) is x^a/Γ(a+1), which is exact where the quantile of a wide
	// belief is so small that no other term matters.
	lnGamma, _ := math.Lgamma(g.A + 1)
	start := min((math.Log(p)+lnGamma)/g.A, math.Log(g.A+1))
	u, _ := Solve(excess, true, PointOn(excess, start), 0.1, 1e4, 1e-11)
	return math.Exp(u) / g.B
}

// incompleteGamma returns the regularised lower incomplete gamma function P(a, x), the
// probability that a Gamma(a, 1) variable is below x, for a > 0 and x ≥ 0. Below a+1 it
// sums the series (DLMF 8.11.4); above, the continued fraction of the complement (DLMF
// 8.9.2) with Lentz's method.
func incompleteGamma(a, x float64) float64 {
	if x <= 0 {
		return 0
	}
	lnGamma, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - lnGamma)
	if x < a+1 {
		sum, term := 1/a, 1/a
		for n := 1.0; term > 1e-17*sum && n < 1e5; n++ {
			term *= x / (a + n)
			sum += term
		}
		return front * sum
	}
	// From x = a+1 on the n-th denominators c and 1/d are at least n+1, so that
	// nothing is divided by zero.
	b := x + 1 - a
	c, d := math.Inf(1), 1/b
	f := d
	for n := 1.0; n < 1e5; n++ {
		an := -n * (n - a)
		b += 2
		c, d = b+an/c, 1/(b+an*d)
		f *= c * d
		if math.Abs(c*d-1) < 1e-15 {
			break
		}
	}
	return 1 - front*f
}

// Above returns the probability that the true rate is above a rate ≥ 0.
func (g Distribution) Above(rate float64) float64 { return max(0, 1-incompleteGamma(g.A, g.B*rate)) }
