package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

const (
	// innerRounds is the age, in rounds, from which on a page's rate of change falls
	// with its age: no crawl looks much sooner.
	innerRounds = 0.3
	// unitRounds is the age, in rounds, up to which a page lives as many days as
	// pass: that in which an unknown page is expected to change.
	unitRounds = priorRounds
)

// Clock tells how much a page lives in so many days. Pages change most
// when they are new or have just changed: in eight recorded collections their rates fall
// nearly like a power of the time since then, to a tenth or a hundredth within a
// year. On a page's own clock its rate is constant; against the calendar the clock
// runs like
//
//	(1 + u/c)^−Steep
//
// at an age of u days, with c = 0.3 rounds, and so fast that it shows 20 rounds at an
// age of 20 rounds. With a Steep of 0 it is the calendar.
type Clock struct {
	// Steep says how steeply rates fall with the age, 0 to mostSteep.
	Steep float64
	// Round is a round (default_interval) in days, > 0.
	Round float64
}

// Lives is how many days a page lives in so many days of the calendar, from an age of
// so many days on, all ≥ 0.
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

// tilt is the derivative of ln Lives over Steep, for days > 0.
func (c Clock) tilt(age, days float64) float64 {
	const h = 0.01
	more, less := c, c
	more.Steep += h
	less.Steep -= h
	return math.Log(more.Lives(age, days)/less.Lives(age, days)) / (2 * h)
}
