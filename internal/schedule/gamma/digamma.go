package gamma

import "math"

// digamma is ψ(x) for x > 0, the derivative of ln Γ(x): by ψ(x) = ψ(x+1) − 1/x and
// its asymptotic series (DLMF 5.11.2), to better than 1e-12.
func Digamma(x float64) float64 {
	shift := 0.0
	for x < 10 {
		shift -= 1 / x
		x++
	}
	y := 1 / (x * x)
	return shift + math.Log(x) - 0.5/x - y*polynomial(y, []float64{1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132})
}

// shapeOf is the shape a at which ln a − ψ(a), which falls, is the excess: +Inf for
// none. It starts from Minka, "Estimating a Gamma distribution", 2002, eq. 11.
func ShapeOf(excess float64) float64 {
	if !(excess > 0) {
		return math.Inf(1)
	}
	start := (3 - excess + math.Sqrt((excess-3)*(excess-3)+24*excess)) / (12 * excess)
	over := func(u float64) float64 { return u - Digamma(math.Exp(u)) - excess }
	u, _ := Solve(over, false, PointOn(over, math.Log(start)), 0.02, 2, 1e-9)
	return math.Exp(u)
}
