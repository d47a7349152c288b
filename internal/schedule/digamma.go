package schedule

import "math"

// digamma is ψ(x) for x > 0, the derivative of ln Γ(x): by ψ(x) = ψ(x+1) − 1/x and
// its asymptotic series (DLMF 5.11.2), to better than 1e-12.
func digamma(x float64) float64 {
	shift := 0.0
	for x < 10 {
		shift -= 1 / x
		x++
	}
	y := 1 / (x * x)
	return shift + math.Log(x) - 0.5/x - y*polynomial(y, []float64{1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132})
}
