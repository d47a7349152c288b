package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

// horizon is how many days ahead a due time is searched for. It is beyond any interval
// that can be configured.
const horizon = 1e7

// Due returns how many days after its last visit a page of weight 1 is due: when the
// objective's Worth reaches the threshold (≥ 0). It returns +Inf if that does not
// happen within 27 000 years. For a page of weight w, pass the threshold divided by w.
func Due(o Objective, g gamma.Distribution, threshold float64) float64 {
	if threshold <= 0 {
		return 0
	}
	return dueFrom(math.Log(2*threshold/g.Mean())/2, threshold, func(days float64) float64 { return o.Worth(g, days) })
}

// dueFrom returns the days after which a rising worth reaches the threshold (> 0). The
// search begins at start, the logarithm of a guess.
func dueFrom(start, threshold float64, worth func(days float64) float64) float64 {
	goal := math.Log(threshold)
	// In logarithms Worth is close to a line, near the start with the slope 2 (3
	// for Age), so that few steps find the time.
	shortfall := func(u float64) float64 { return math.Log(worth(math.Exp(u))) - goal }
	end := math.Log(horizon)
	u, ok := gamma.Solve(shortfall, true, gamma.PointOn(shortfall, min(start, end)), 0.5, max(1, end-start), 1e-10)
	if !ok {
		return math.Inf(1)
	}
	return math.Exp(u)
}
