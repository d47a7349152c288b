package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

// forecast says how many changes to expect of a page after its last look. The page's
// own changes come at its rate times the speed of its clock; changes with the whole
// site come in addition.
type forecast struct {
	clock Clock
	age   float64 // days, at the last look
	site  float64 // changes a day
}

// clock returns the clock of a page. It is the calendar if the page's age is not known.
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

// over converts the belief g about the rate on the page's own clock into a belief about
// the mean rate in calendar time over the next days (≥ 0), changes with the site
// included. The shape stays the same.
func (a forecast) over(g gamma.Distribution, days float64) gamma.Distribution {
	if a.clock.Steep == 0 && a.site == 0 || !(days > 0) {
		return g
	}
	changes := g.Mean()*a.clock.Lives(a.age, days) + a.site*days
	return gamma.Distribution{A: g.A, B: g.A * days / changes}
}

// counted returns the belief with which a [Demand] counts a page that is planned to be
// visited after some days: over gives the belief about the mean rate until then.
//
// If Fresh took up a page again that it has given up, it would visit the page after every few
// changes, not after that many days. Until such a visit its rate is higher than until the far one, if
// rates fall with age. With the lower rate the page would count as worth visits at a
// threshold at which it is not: the budget would seem to be planned for pages that
// nobody visits.
func (a forecast) counted(policy Policy, g gamma.Distribution, days float64) gamma.Distribution {
	far := a.over(g, days)
	if budgeted, is := policy.(Budgeted); !is || !givesUp(budgeted.Objective) || far.Mean()*days <= surely {
		return far
	}
	return a.over(g, surely/far.Mean())
}

// due is [Due] for a page with this forecast.
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
