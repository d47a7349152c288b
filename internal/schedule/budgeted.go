package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

// Budgeted visits a page when the visit is worth the crawl's threshold: when the
// objective's index, under the belief about the page's rate and times the page's
// weight, reaches θ. θ is one number for all pages, moved slowly so that all visits
// together meet the crawl's budget. A host that would get more than it can take has a
// higher one. Each page is planned by itself, in constant time.
type Budgeted struct{ Objective }

// Next implements Policy. A page that was never compared is planned by the prior and
// looked at sooner; see firstLook. A page that never changed is not given up, because
// the prior leaves a chance that it does change.
func (o Budgeted) Next(page Page, seen Observation, p Parameters) Decision {
	belief := page.Belief.observe(seen, p)
	g := belief.Gamma(p.prior())
	theta, own := p.threshold(o.Objective)
	price := max(theta, p.HostPrice)
	ahead := p.forecast(belief)
	due := ahead.due(o.Objective, g, price/p.weight())
	g = ahead.over(g, min(due, days(p.Max)))

	why := belief.grounds(g, p)
	why.addAging(page.Belief, seen, p, ahead)
	why.add(o.worth(due, price))
	if own {
		why.add(because(CodeOwn, p.Round.Seconds()))
	}
	if price > theta {
		why.add(because(CodePrice, price, theta))
	}
	if w := p.weight(); w != 1 {
		why.add(because(CodeWeight, w))
	}
	if gap, is := exploratoryLook(o.Objective, g, due, days(p.Max)); is && belief.Pairs > 0 && page.Visit%2 == 0 {
		due = gap
		why.add(because(CodeEarly, duration(due).Seconds()))
	} else if rare := rarely(o.Objective, g, due, days(p.Max), rareLooksOf(p.Interval, belief)); rare < min(due, days(p.Max)) {
		due = rare
		why.add(because(CodeRare, duration(due).Seconds()))
	}
	if first := firstLook(page.ID, g, due, days(max(p.Round, 1))); belief.Pairs == 0 && due > first {
		due = first
		why.add(because(CodeExplore, duration(due).Seconds()))
	}
	if early := queueing(belief, price > theta, due); early > 0 {
		due -= early
		why.add(because(CodeQueue, duration(early).Seconds()))
	}
	d, is, soonest := o.byTimetable(page, seen, belief, price/p.weight(), p, why)
	if is {
		return d
	}
	d = p.decide(page, belief, duration(max(due, soonest)), why.list[:why.n]...)
	d.why.add(because(CodeJitter, shift(page.ID, page.Visit)))
	return d
}

// queueing returns how many days before it is due a page of a full host joins the host's
// line: as long as it waits there, and at most a quarter of the interval. The line
// of a full host is seldom empty, for an idle host is capacity lost. A page that joined
// it when due would be visited late. The wait is about as long for all pages, so the
// pages due soonest would lose most of it, and all intervals come out more alike than
// they were planned.
func queueing(b Belief, full bool, due float64) float64 {
	if !full {
		return 0
	}
	return min(float64(b.Late), lateShare*due)
}

// grounds returns the evidence on the page's rate and the belief that follows from it.
func (b Belief) grounds(g gamma.Distribution, p Parameters) grounds {
	var why grounds
	x, counter := b.last(window)
	why.add(evidence(x, counter))
	if told := b.told(window); told > 0 {
		why.add(because(CodeTold, float64(told)))
	}
	if looks, is := b.noisy(p); is {
		why.add(because(CodeNoisy, float64(looks), duration(float64(b.Soonest)).Seconds()))
	}
	believed := ground{code: CodeBelief, belief: g}
	if x == 0 {
		believed.code = CodePrior
	}
	why.add(believed)
	return why
}

// addAging adds the page's age and its effect on the rate, and whether a change that
// was found is attributed to the whole site. before is the belief before the visit.
func (all *grounds) addAging(before Belief, seen Observation, p Parameters, ahead forecast) {
	if compares(seen.Outcome) && seen.Gap > 0 && before.look(seen, p).site {
		all.add(because(CodeSite, p.Site.Share))
	}
	if ahead.clock.Steep > 0 {
		round := ahead.clock.Round
		all.add(because(CodeAged, duration(ahead.age).Seconds(), ahead.clock.Lives(ahead.age, round)/round))
	}
}

// worth says when the index reaches the threshold.
func (o Budgeted) worth(due, threshold float64) ground {
	if math.IsInf(due, 1) {
		return because(CodeNever, threshold)
	}
	return because(o.Name(), duration(due).Seconds(), threshold)
}

// threshold returns θ, and whether it is the default rather than the crawl's.
func (p Parameters) threshold(o Objective) (theta float64, own bool) {
	if p.Threshold > 0 {
		return p.Threshold, false
	}
	return o.Worth(p.prior(), days(max(p.Round, 1))), true
}
