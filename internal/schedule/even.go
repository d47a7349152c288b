package schedule

import "math"

// A page that changes λ times a day, each change independent of the others (a
// Poisson process: Sizov, "Modeling change"), and is visited every I days, sees
// x = λI changes between two visits on average. What that is worth, and how much
// more another visit would be, follows from three functions of x ≥ 0:
//
//	G(x) = 1 − (1+x)e^−x      H(x) = x²/2 − G(x)      K(x) = x − 1 + e^−x
//
// All three are 0 at 0 and rise; G to 1, the others without end. They and their
// inverses are exact to about 14 digits, small x included, where the formulas
// as written lose them all.

// seriesBelow is where the functions change to their power series: beneath, the
// first neglected term is under 1e-14 of the sum; above, cancellation costs less
// than three digits.
const seriesBelow = 0.1

// Coefficients of the power series: (−1)^k (k−1)/k! of G and (−1)^k /k! of K,
// from k = 2 on.
var (
	gSeries = [...]float64{1. / 2, -1. / 3, 1. / 8, -1. / 30, 1. / 144, -1. / 840, 1. / 5760, -1. / 45360, 1. / 403200}
	kSeries = [...]float64{1. / 2, -1. / 6, 1. / 24, -1. / 120, 1. / 720, -1. / 5040, 1. / 40320, -1. / 362880}
)

// mostInformative is the number of expected changes between two looks, λτ, from
// which most is learned about the rate: where the Fisher information
// τ² e^−x/(1−e^−x) of a look is largest, x = 2(1−e^−x).
const mostInformative = 1.5936242600400401

func evenG(x float64) float64 {
	if x < seriesBelow {
		return x * x * polynomial(x, gSeries[:])
	}
	return -math.Expm1(-x) - x*math.Exp(-x)
}

func evenH(x float64) float64 {
	if x < seriesBelow {
		return -x * x * x * polynomial(x, gSeries[1:])
	}
	return x*x/2 - evenG(x)
}

func evenK(x float64) float64 {
	if x < seriesBelow {
		return x * x * polynomial(x, kSeries[:])
	}
	return x + math.Expm1(-x)
}

// evenGInverse is the x ≥ 0 with G(x) = y; +Inf for y ≥ 1, which G never
// reaches. It is −1 − W₋₁((y−1)/e) with the lower branch of Lambert's function
// (Corless et al., "On the Lambert W function", 1996), found as the root of
// x − ln(1+x) = −ln(1−y). Near y = 1 it is only as exact as 1−y is.
func evenGInverse(y float64) float64 {
	switch {
	case y <= 0:
		return 0
	case y >= 1:
		return math.Inf(1)
	}
	l := -math.Log1p(-y)
	s := math.Sqrt(2 * l)
	// The series of W at its branch point (Corless et al., eq. 4.22), good to
	// 14 digits for small s and to two for s < 6; beyond, the asymptote.
	start := s * polynomial(s, []float64{1, 1. / 3, 1. / 36, -1. / 270, 1. / 4320})
	if s < 1e-3 {
		return start
	}
	if s > 6 {
		start = l + math.Log1p(l+math.Log1p(l))
	}
	return newton(start, func(x float64) (excess, slope float64) {
		return x - math.Log1p(x) - l, x / (1 + x)
	})
}

// evenHInverse is the x ≥ 0 with H(x) = y.
func evenHInverse(y float64) float64 {
	if y <= 0 || math.IsInf(y, 1) {
		return max(0, y)
	}
	start := math.Sqrt(2 * (y + 1)) // where e^−x is nothing
	if c := math.Cbrt(3 * y); c < 2.5 {
		start = c * polynomial(c, []float64{1, 1. / 8, 13. / 960}) // the inverse series
	}
	return newton(start, func(x float64) (excess, slope float64) {
		return evenH(x) - y, -x * math.Expm1(-x)
	})
}

// evenKInverse is the x ≥ 0 with K(x) = y.
func evenKInverse(y float64) float64 {
	if y <= 0 || math.IsInf(y, 1) {
		return max(0, y)
	}
	start := y + 1
	if s := math.Sqrt(2 * y); s < 2 {
		start = s * polynomial(s, []float64{1, 1. / 6, 1. / 36})
	}
	return newton(start, func(x float64) (excess, slope float64) {
		return evenK(x) - y, -math.Expm1(-x)
	})
}

// polynomial is c₀ + c₁x + c₂x² + …
func polynomial(x float64, c []float64) float64 {
	sum := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		sum = sum*x + c[i]
	}
	return sum
}
