package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

// prospect is how changes of a page are expected to come in after its last look, in
// proportion to its rate of change: by its own clock, and with its site.
type forecast struct {
	clock Clock
	age   float64 // days, at the last look
	site  float64 // changes a day
}

// clock is the clock of a page; the calendar if its age is not known.
func (p Parameters) clock(b Belief) Clock {
	if b.Since == 0 {
		return Clock{Round: 1}
	}
	return Clock{Steep: p.Steep, Round: days(max(p.Round, 1))}
}

func (p Parameters) forecast(b Belief) forecast {
	a := forecast{clock: p.clock(b), site: p.Site.Rate(b.Compared)}
	if b.Since != 0 {
		a.age = max(0, msDays(b.Compared-b.Since))
	}
	return a
}

// over is the belief g, of a rate on the page's clock, as one of the rate, against the
// calendar, in the next so many days (≥ 0).
func (a forecast) over(g gamma.Distribution, days float64) gamma.Distribution {
	if a.clock.Steep == 0 && a.site == 0 || !(days > 0) {
		return g
	}
	changes := g.Mean()*a.clock.Lives(a.age, days) + a.site*days
	return gamma.Distribution{A: g.A, B: g.A * days / changes}
}

// due is Due of a page with the prospect.
func (a forecast) due(o Objective, g gamma.Distribution, threshold float64) float64 {
	if a.clock.Steep == 0 && a.site == 0 {
		return Due(o, g, threshold)
	}
	first := Due(o, a.over(g, a.clock.Round), threshold)
	if first == 0 {
		return 0
	}
	return dueFrom(math.Log(min(first, horizon)), threshold, func(days float64) float64 { return o.Worth(a.over(g, days), days) })
}
