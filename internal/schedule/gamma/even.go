package gamma

import "math"

// A page that changes λ times a day, each change independent of the others (a
// Poisson process: Sizov, "Modeling change"), and is visited every I days, sees
// x = λI changes between two visits on average. Their worth, and that of one visit
// more, follow from three functions of x ≥ 0:
//
//	G(x) = 1 − (1+x)e^−x      H(x) = x²/2 − G(x)      K(x) = x − 1 + e^−x
//
// All three are 0 at 0 and rise; G to 1, the others without end. They and their
// inverses are exact to about 14 digits, small x included, where the formulas
// as written lose them all.

// seriesBelow is where the functions switch to their power series. Below it, the first
// neglected term is under 1e-14 of the sum; above it, cancellation costs less than
// three digits.
const seriesBelow = 0.1

// Coefficients of the power series: (−1)^k (k−1)/k! of G and (−1)^k /k! of K,
// from k = 2 on.
var (
	gSeries = [...]float64{1. / 2, -1. / 3, 1. / 8, -1. / 30, 1. / 144, -1. / 840, 1. / 5760, -1. / 45360, 1. / 403200}
	kSeries = [...]float64{1. / 2, -1. / 6, 1. / 24, -1. / 120, 1. / 720, -1. / 5040, 1. / 40320, -1. / 362880}
)

// MostInformative is the expected number of changes between two looks, λτ, at which a
// look is most informative about the rate: the maximum of its Fisher information τ²
// e^−x/(1−e^−x), where x = 2(1−e^−x).
const MostInformative = 1.5936242600400401

// EvenG returns G(x) = 1 − (1+x)e^−x for x ≥ 0, the probability of two changes or more
// between two visits that expect x.
func EvenG(x float64) float64 {
	if x < seriesBelow {
		return x * x * polynomial(x, gSeries[:])
	}
	return -math.Expm1(-x) - x*math.Exp(-x)
}

// EvenH returns H(x) = x²/2 − G(x) for x ≥ 0.
func EvenH(x float64) float64 {
	if x < seriesBelow {
		return -x * x * x * polynomial(x, gSeries[1:])
	}
	return x*x/2 - EvenG(x)
}

// EvenK returns K(x) = x − 1 + e^−x for x ≥ 0. K(x)/x is the share of time in which a
// copy is not fresh.
func EvenK(x float64) float64 {
	if x < seriesBelow {
		return x * x * polynomial(x, kSeries[:])
	}
	return x + math.Expm1(-x)
}

// EvenGInverse returns the x ≥ 0 with G(x) = y: 0 for y ≤ 0 and +Inf for y ≥ 1, which G
// never reaches. It is −1 − W₋₁((y−1)/e) with the lower branch of Lambert's function
// (Corless et al., "On the Lambert W function", 1996), computed as the root of x −
// ln(1+x) = −ln(1−y). Near y = 1 it is only as exact as 1−y.
func EvenGInverse(y float64) float64 {
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

// EvenHInverse returns the x ≥ 0 with H(x) = y, and 0 for y ≤ 0.
func EvenHInverse(y float64) float64 {
	if y <= 0 || math.IsInf(y, 1) {
		return max(0, y)
	}
	start := math.Sqrt(2 * (y + 1)) // where e^−x is negligible
	if c := math.Cbrt(3 * y); c < 2.5 {
		start = c * polynomial(c, []float64{1, 1. / 8, 13. / 960}) // the inverse series
	}
	return newton(start, func(x float64) (excess, slope float64) {
		return EvenH(x) - y, -x * math.Expm1(-x)
	})
}

// EvenKInverse returns the x ≥ 0 with K(x) = y, and 0 for y ≤ 0.
func EvenKInverse(y float64) float64 {
	if y <= 0 || math.IsInf(y, 1) {
		return max(0, y)
	}
	start := y + 1
	if s := math.Sqrt(2 * y); s < 2 {
		start = s * polynomial(s, []float64{1, 1. / 6, 1. / 36})
	}
	return newton(start, func(x float64) (excess, slope float64) {
		return EvenK(x) - y, -math.Expm1(-x)
	})
}

// polynomial returns c₀ + c₁x + c₂x² + …
func polynomial(x float64, c []float64) float64 {
	sum := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		sum = sum*x + c[i]
	}
	return sum
}

// Ein returns the entire exponential integral ∫₀^x (1−e^−u)/u du for x ≥ 0, the
// expected harmonic number of a Poisson variable with mean x. Below 3 it sums the power
// series; above, it is ln x + γ + E₁(x) with the continued fraction of E₁ (DLMF 6.9.1).
// The error is below 1e-9.
func Ein(x float64) float64 {
	if x < 3 {
		sum, term := 0.0, 1.0
		for k := 1.0; math.Abs(term) > 1e-17*sum; k++ {
			term *= -x / k
			sum -= term / k
		}
		return sum
	}
	const gamma = 0.57721566490153286
	// From the bottom of the fraction up: from x = 3 on 60 levels are exact.
	rest := 0.0
	for k := 60.0; k > 0; k-- {
		rest = k / (1 + k/(x+rest))
	}
	return math.Log(x) + gamma + math.Exp(-x)/(x+rest)
}

// ageSeries has the coefficients (−1)^(k+1)/k! of x²/2 − K(x), from k = 3 on.
var ageSeries = [...]float64{1. / 6, -1. / 24, 1. / 120, -1. / 720, 1. / 5040, -1. / 40320, 1. / 362880}

// EvenAge returns 1/2 − K(x)/x² for x > 0: the mean age of a copy, in intervals between
// two visits that expect x changes.
func EvenAge(x float64) float64 {
	if x < seriesBelow {
		return x * polynomial(x, ageSeries[:])
	}
	return 0.5 - EvenK(x)/(x*x)
}
