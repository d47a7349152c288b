package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

const (
	// innerRounds is the age, in rounds, at which a page's rate of change begins to
	// fall. No crawl looks much sooner.
	innerRounds = 0.3
	// settledRounds is the age, in rounds, at which it stops falling.
	settledRounds = 10
	// unitRounds is the age, in rounds, up to which a page lives as many days as the
	// calendar shows. It is the time in which an unknown page is expected to change
	// once.
	unitRounds = priorRounds
)

// Clock converts calendar time into a page's own time. Pages change most when they are
// new or have just changed: in eight recorded collections the rate falls nearly as a
// power of the time since then. On the page's own clock its rate is constant. At an age
// of u days the clock runs with speed proportional to
//
//	(1 + min(u, 10 rounds)/c)^−Steep
//
// where c is 0.3 rounds. It is scaled to show 20 rounds at an age of 20 rounds. With
// Steep = 0 it is the calendar.
//
// An old page's rate is taken not to fall on. Edits of many pages at once change old
// pages like young ones, and not all of them are recognised as waves. A policy that
// hardly looks at old pages lets these changes wait.
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

// runs is the integral of the clock's speed, before scaling, over the days after an age.
func (c Clock) runs(age, days float64) float64 {
	inner, settled := innerRounds*c.Round, settledRounds*c.Round
	young := min(max(settled-age, 0), days)
	from, r := math.Log1p(age/inner), math.Log1p(young/(inner+age))
	falling := inner * math.Exp((1-c.Steep)*from) * r * gamma.Expm1Ratio((1-c.Steep)*r)
	return falling + (days-young)*math.Pow(1+settled/inner, -c.Steep)
}

// tilt returns the derivative of ln Lives with respect to Steep, for days > 0.
func (c Clock) tilt(age, days float64) float64 {
	const h = 0.01
	more, less := c, c
	more.Steep += h
	less.Steep -= h
	return math.Log(more.Lives(age, days)/less.Lives(age, days)) / (2 * h)
}
