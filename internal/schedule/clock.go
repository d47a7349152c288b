package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

const (
	// innerRounds is the age, in rounds, at which a page's rate of change begins to
	// fall. No crawl looks much sooner.
	innerRounds = 0.3
	// unitRounds is the age, in rounds, up to which a page lives as many days as the
	// calendar shows. It is the time in which an unknown page is expected to change
	// once.
	unitRounds = priorRounds
)

// Clock converts calendar time into a page's own time. Pages change most when they are
// new or have just changed: in eight recorded collections the rate falls nearly as a
// power of the time since then, to a tenth or a hundredth within a year. On the page's
// own clock its rate is constant. At an age of u days the clock runs with speed
// proportional to
//
//	(1 + u/c)^−Steep
//
// where c is 0.3 rounds. It is scaled to show 20 rounds at an age of 20 rounds. With
// Steep = 0 it is the calendar.
type Clock struct {
	// Steep says how steeply rates fall with age: 0 (not at all) to mostSteep.
	Steep float64
	// Round is the length of a round (default_interval) in days, > 0.
	Round float64
}

// Lives returns how many days pass on the page's clock during calendar days that begin
// at an age, in days. All are ≥ 0.
func (c Clock) Lives(age, days float64) float64 {
	if c.Steep == 0 {
		return days
	}
	return c.runs(age, days) * unitRounds * c.Round / c.runs(0, unitRounds*c.Round)
}

// runs is the integral of (1+u/c)^−Steep over the days after an age.
func (c Clock) runs(age, days float64) float64 {
	inner := innerRounds * c.Round
	from, r := math.Log1p(age/inner), math.Log1p(days/(inner+age))
	return inner * math.Exp((1-c.Steep)*from) * r * gamma.Expm1Ratio((1-c.Steep)*r)
}

// tilt returns the derivative of ln Lives with respect to Steep, for days > 0.
func (c Clock) tilt(age, days float64) float64 {
	const h = 0.01
	more, less := c, c
	more.Steep += h
	less.Steep -= h
	return math.Log(more.Lives(age, days)/less.Lives(age, days)) / (2 * h)
}
