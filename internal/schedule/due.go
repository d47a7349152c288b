package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

// horizon is how far ahead, in days, a due time is looked for: beyond any
// interval that can be asked for.
const horizon = 1e7

// Due is how many days after its last visit a page of weight 1 is worth a visit:
// when the objective's Worth reaches the threshold (≥ 0). It is +Inf if it never
// does within 27 000 years; a weight w is a threshold w times less.
func Due(o Objective, g gamma.Distribution, threshold float64) float64 {
	if threshold <= 0 {
		return 0
	}
	return dueFrom(math.Log(2*threshold/g.Mean())/2, threshold, func(days float64) float64 { return o.Worth(g, days) })
}

// dueFrom is after how many days a worth that rises reaches the threshold (> 0), looked
// for from start on, the logarithm of a guess.
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
