package gamma

import "math"

// Evidence is the evidence of looks at a page on its rate of change λ without any
// prior: the likelihood
//
//	λ^Changes e^(−λ Days) (1 − e^(−λ Gap))^Looks
//
// up to a factor. The first two parts are exact for looks that found no change and for
// changes at known times. The third is for looks that found at least one change some
// time in Gap days. All fields are ≥ 0. They need not be whole, because evidence fades.
type Evidence struct {
	Changes float64 // changes at known times
	Days    float64 // days without others
	Looks   float64 // looks that found a change at an unknown time
	Gap     float64 // days before each of those; > 0 if there are any
}

// certain is the number of expected changes from which on no change at all is too unlikely to
// count.
const certain = 40

// Faded returns the evidence weighted with a share (0 to 1).
func (e Evidence) Faded(keep float64) Evidence {
	return Evidence{e.Changes * keep, e.Days * keep, e.Looks * keep, e.Gap}
}

// Under returns the belief that follows from a prior and the evidence: the Gamma
// distribution with the mean and the variance of the exact posterior. Their relative
// errors are below 1e-3 and 5e-3.
func (e Evidence) Under(prior Distribution) Distribution {
	g := Distribution{prior.A + e.Changes, prior.B + e.Days}
	if e.Looks == 0 {
		return g
	}
	return g.changed(e.Looks, e.Gap)
}

// Changed adds a look that found a change, days (> 0) after the previous look. rate (>
// 0) is the rate believed at the time. All such looks share one Gap. If their gaps
// differ, Gap and Looks become those whose log-likelihood has, at the rate, the same
// slope and curvature over ln λ as the product. So a look in which a change was
// certain counts for almost nothing beside one in which it was not. Gap stays between the
// gaps of the looks, however high the rate is: where a change was certain in all of them, a
// shorter gap would be evidence, which nobody saw, that the rate is higher still.
func (e Evidence) Changed(days, rate float64) Evidence {
	if e.Looks == 0 || e.Gap == days {
		e.Looks, e.Gap = e.Looks+1, days
		return e
	}
	// With x = λτ, the slope of ln(1 − e^−x) over ln λ is s(x) = x/(e^x − 1), and its
	// curvature s(x) (1 − x/(1−e^−x)).
	rate = min(rate, certain/max(e.Gap, days))
	x, y := rate*e.Gap, rate*days
	old, added := e.Looks*slope(x), slope(y)
	bend := (old*ratio(x) + added*ratio(y)) / (old + added)
	z := ratioInverse(bend)
	e.Looks, e.Gap = (old+added)/slope(z), z/rate
	return e
}

// slope returns x/(e^x − 1), 1 at 0.
func slope(x float64) float64 { return 1 / Expm1Ratio(x) }

// ratio returns x/(1 − e^−x), which is ≥ 1.
func ratio(x float64) float64 { return 1 / Expm1Ratio(-x) }

// ratioInverse returns the x ≥ 0 with ratio(x) = y. Because ratio is convex and exceeds
// both 1 + x/2 and x, Newton's steps from there descend to it.
func ratioInverse(y float64) float64 {
	if y <= 1 {
		return 1e-9
	}
	return newton(min(2*(y-1), y), func(x float64) (excess, gradient float64) {
		r := ratio(x)
		return r - y, r * (1 - slope(x)) / x
	})
}

// changed returns the belief after a number of looks (> 0), each of which found a
// change some time in the days (> 0) before it: the Gamma distribution with the mean
// and the variance of the exact posterior. With u = ln λ the moments are integrals of
// e^(au − bλ) (1−e^−λτ)^n times powers of λ over all u. For such functions the
// trapezoidal rule converges exponentially (Trefethen and Weideman, "The exponentially
// convergent trapezoidal rule", 2014, §5).
func (g Distribution) changed(looks, days float64) Distribution {
	if looks == 1 {
		return g.Changed(days)
	}
	mode, sharp := g.changedMode(looks, days)
	q := quadrature{g: g, looks: looks, days: days, mode: mode}
	q.top = q.height(mode, 0)
	step := min(0.5, 0.7/math.Sqrt(sharp))
	q.sum(0, step)
	q.sum(-step, -step)
	mean := q.m1 / q.m0
	variance := q.m2/q.m0 - mean*mean
	return Distribution{mean * mean / variance, mean / variance}
}

// quadrature sums the integrand of changed and its moments.
type quadrature struct {
	g                      Distribution
	looks, days, mode, top float64
	m0, m1, m2             float64
}

// sum adds the integrand at points a step apart, beginning at a distance u from the
// mode, until little is left. Below the mode the remainder is a geometric series.
func (q *quadrature) sum(u, step float64) {
	factor := math.Exp(step)
	for lambda := q.mode * math.Exp(u); ; lambda *= factor {
		weight := math.Exp(q.height(lambda, u) - q.top)
		q.m0 += weight
		q.m1 += weight * lambda
		q.m2 += weight * lambda * lambda
		switch {
		case step > 0 && weight < 1e-5:
			return
		case step < 0 && weight < 1e-3:
			factor := math.Exp((q.g.A + q.looks) * step)
			q.m0 += weight * factor / (1 - factor)
			return
		}
		u += step
	}
}

// height returns the logarithm of the integrand up to a constant.
func (q *quadrature) height(lambda, u float64) float64 {
	return q.g.A*u - q.g.B*lambda + q.looks*LogChange(lambda*q.days)
}

// LogChange returns ln(1 − e^−x), the logarithm of the probability of a change in x ≥ 0
// expected ones. Where the difference loses no digits it is the quicker way.
func LogChange(x float64) float64 {
	if x > math.Ln2 {
		return math.Log(1 - math.Exp(-x))
	}
	return math.Log(-math.Expm1(-x))
}

// changedMode returns where the integrand of changed is largest over u, and its
// curvature there. The derivative over u, a − bλ + n s(λτ), is convex in λ and not
// negative at a/b, so Newton's steps from there ascend to the root.
func (g Distribution) changedMode(looks, days float64) (mode, sharp float64) {
	mode = g.A / g.B
	for range 30 {
		x := mode * days
		s := slope(x)
		falls := g.B*mode + looks*s*(ratio(x)-1) // minus the derivative, times λ
		rise := g.A - g.B*mode + looks*s
		mode *= 1 + rise/falls
		if rise < 1e-3*falls {
			break
		}
	}
	x := mode * days
	return mode, g.B*mode + looks*slope(x)*(ratio(x)-1)
}
