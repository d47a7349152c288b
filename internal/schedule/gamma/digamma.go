package gamma

import "math"

// Digamma returns ψ(x), the derivative of ln Γ(x), for x > 0. It uses the recurrence
// ψ(x) = ψ(x+1) − 1/x and the asymptotic series (DLMF 5.11.2). The error is below
// 1e-12.
func Digamma(x float64) float64 {
	shift := 0.0
	for x < 10 {
		shift -= 1 / x
		x++
	}
	y := 1 / (x * x)
	return shift + math.Log(x) - 0.5/x - y*polynomial(y, []float64{1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132})
}

// ShapeOf returns the shape a of the Gamma distribution for which ln a − ψ(a), the
// excess of ln E λ over E ln λ, has the given value. The excess falls with a. The
// result is +Inf for an excess that is not positive. Its relative error is below 1e-6.
// The search starts from Minka, "Estimating a Gamma distribution", 2002, eq. 11.
func ShapeOf(excess float64) float64 {
	if !(excess > 0) {
		return math.Inf(1)
	}
	start := (3 - excess + math.Sqrt((excess-3)*(excess-3)+24*excess)) / (12 * excess)
	over := func(u float64) float64 { return u - Digamma(math.Exp(u)) - excess }
	u, _ := Solve(over, false, PointOn(over, math.Log(start)), 0.02, 2, 1e-9)
	return math.Exp(u)
}
