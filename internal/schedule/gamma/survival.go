package gamma

import "math"

// Survival returns S(s) = (1+s/b)^−a, the probability that the page has not changed s
// days (≥ 0) after a look (Lomax distribution).
func (g Distribution) Survival(days float64) float64 { return math.Exp(-g.A * math.Log1p(days/g.B)) }

// meanSurvival returns ∫₀^τ S, the expected time until the next change or τ, whichever
// is first: b (1−(1+τ/b)^(1−a))/(a−1) for a ≠ 1.
func (g Distribution) meanSurvival(days float64) float64 {
	r := math.Log1p(days / g.B)
	return g.B * r * Expm1Ratio((1-g.A)*r)
}

// survivalMoment returns ∫₀^τ s S(s) ds: by parts for a > 2, otherwise as a difference
// of powers. Each form is exact where the other cancels.
func (g Distribution) survivalMoment(days float64) float64 {
	r := math.Log1p(days / g.B)
	second := g.B * r * Expm1Ratio((2-g.A)*r) // ∫₀^τ (1+s/b)^(1−a) ds
	if g.A > 2 {
		return days*g.meanSurvival(days) - g.B/(g.A-1)*(days-second)
	}
	return g.B * (second - g.meanSurvival(days))
}

// early reports whether a change within days is so unlikely that the integrals of 1−S
// must be summed as power series, because their closed forms cancel.
func (g Distribution) early(days float64) bool { return (g.A+12)*days < 0.5*g.B }

// changeSeries returns Σ c_k m(k) (τ/b)^k, where Σ c_k (τ/b)^k = 1 − S(τ) is the
// binomial series.
func (g Distribution) changeSeries(days float64, m func(k float64) float64) float64 {
	x := days / g.B
	sum, term := 0.0, g.A*x
	for k := 1.0; k < 40 && math.Abs(term) > 1e-17*sum; k++ {
		sum += term * m(k)
		term *= -(g.A + k) * x / (k + 1)
	}
	return sum
}

// Expm1Ratio returns (e^z − 1)/z, and 1 for z = 0.
func Expm1Ratio(z float64) float64 {
	if z == 0 {
		return 1
	}
	return math.Expm1(z) / z
}

// ExpectedAge returns ∫₀^τ (1−S(s)) ds, the expected time since the first change at τ =
// days (≥ 0) after a look, in days; 0 counts for no change. It keeps its accuracy for
// small τ.
func (g Distribution) ExpectedAge(days float64) float64 {
	if g.early(days) {
		return days * g.changeSeries(days, func(k float64) float64 { return 1 / (k + 1) })
	}
	return days - g.meanSurvival(days)
}

// AgeMoment returns ∫₀^τ s (1−S(s)) ds for τ days (≥ 0). It keeps its accuracy for
// small τ.
func (g Distribution) AgeMoment(days float64) float64 {
	if g.early(days) {
		return days * days * g.changeSeries(days, func(k float64) float64 { return 1 / (k + 2) })
	}
	return days*days/2 - g.survivalMoment(days)
}

// PartialMean returns ∫₀^τ s dF(s) with F = 1−S, the part of the mean time to the first
// change that comes from changes within τ days (≥ 0). It keeps its accuracy for small
// τ.
func (g Distribution) PartialMean(days float64) float64 {
	if g.early(days) {
		return days * g.changeSeries(days, func(k float64) float64 { return k / (k + 1) })
	}
	return g.meanSurvival(days) - days*g.Survival(days)
}
