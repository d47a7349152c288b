package schedule

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/gamma"
)

// Outlook forecasts a crawl's pages under any budget: how many visits they would get,
// and how far their copies would be behind. It plans as the crawl does, with one
// threshold for all pages and a separate price for each full host, from the current
// beliefs about the pages.
//
// It answers for pages that have all been visited, and whose visits keep their plans.
// An [OutlookTally] makes one.
type Outlook struct {
	rules    Rules
	steering Steering
	hosts    map[int64]HostSteering
	common   []Demand               // by group, of hosts that cannot become full
	apart    map[int64]*hostOutlook // the others
	order    []int64                // their ids
	settled  lags                   // of pages that no threshold moves
	pages    float64                // that share the budget

	least, most Prospect // at the longest and the shortest intervals
}

// OutlookTally counts pages for an Outlook. Beliefs are counted in cells, so its memory
// does not grow with the pages.
type OutlookTally struct{ o *Outlook }

// hostOutlook is a host that may become full.
type hostOutlook struct {
	limit   float64  // visits a day that it can take
	demands []Demand // by group
	others  float64  // visits a day of pages that no threshold moves
	pages   float64  // in all
	price   float64  // the threshold at which its pages use up the limit; 0 if they never do
	full    lags     // the forecast for its pages at that threshold
}

// NewOutlookTally begins a tally. s and hosts are shared by the pages; limits are the
// visits a day of the hosts at which the crawl's pages could want more.
func NewOutlookTally(rules Rules, s Steering, hosts map[int64]HostSteering, limits map[int64]float64) OutlookTally {
	o := &Outlook{rules: rules, steering: s, hosts: hosts, common: demandsOf(rules.groups, s), apart: map[int64]*hostOutlook{}}
	for _, id := range slices.Sorted(maps.Keys(limits)) {
		o.apart[id] = &hostOutlook{limit: limits[id], demands: make([]Demand, len(rules.groups))}
		o.order = append(o.order, id)
	}
	return OutlookTally{o}
}

// Floor returns the shortest interval of any page, which bounds how many visits the pages
// of a host could want.
func (r Rules) Floor() (days float64) {
	days = math.Inf(1)
	for _, g := range r.groups {
		days = min(days, g.Parameters.Floor().Hours()/24)
	}
	return days
}

// Add counts an entry for n pages (> 0) like it; a sample has entries that stand for many.
// Pages that were never visited do not count: see AddUnseen.
func (t OutlookTally) Add(e Entry, n float64) {
	if e.Visit == 0 {
		return
	}
	g, h := t.o.rules.groups[e.Group], t.o.apart[e.Host]
	p := g.Steer(t.o.steering, t.o.hosts[e.Host], e.Weight)
	// A page that is due at once comes once like that; see Tally.Add.
	belief, apart := e.Belief.Gamma(p.prior()), days(max(e.Planned(), g.Parameters.Floor()))
	if _, budgeted := g.Policy.(Budgeted); budgeted && e.byPolicy() {
		t.o.demand(n, e.Host, e.Group).addAlike(n, p.forecast(e.Belief).counted(g.Policy, belief, apart), p.weight(), e.Belief.Timetable, 0)
		return
	}
	one := visiting(apart, apart)
	if e.State == crawl.Active || e.State == crawl.Failing || e.State == crawl.Duplicate {
		one = evenly(p.forecast(e.Belief).over(belief, apart), apart, apart)
	}
	t.o.settle(n, h, one)
}

// AddUnseen counts n pages (> 0) of a host and a group that were never visited, with the
// belief about such pages.
func (t OutlookTally) AddUnseen(host int64, group int, n float64) {
	g, h := t.o.rules.groups[group], t.o.apart[host]
	p := g.Steer(t.o.steering, t.o.hosts[host], 0)
	round := days(max(p.Round, 1))
	if _, budgeted := g.Policy.(Budgeted); !budgeted {
		t.o.settle(n, h, evenly(p.prior(), round, round))
		return
	}
	t.o.demand(n, host, group).addAlike(n, p.prior(), p.weight(), Timetable{}, 0)
}

// Settle ends the tally: it finds the threshold at which each host is full.
func (t OutlookTally) Settle() *Outlook {
	for _, id := range t.o.order {
		h := t.o.apart[id]
		left := max(h.limit-h.others, h.limit*leastShare)
		h.price = t.o.priceOf(h, left)
		// Where visits rise in a jump, or are too many even at the longest intervals, pages
		// take turns.
		h.full = t.o.stretched(h.demands, h.price, max(1, t.o.of(h.demands, h.price).visits/left))
	}
	t.o.least, t.o.most = t.o.at(math.Inf(1)), t.o.at(0)
	return t.o
}

// demand returns where n more pages of a host that share the budget are counted.
func (o *Outlook) demand(n float64, host int64, group int) *Demand {
	o.pages += n
	h := o.apart[host]
	if h == nil {
		return &o.common[group]
	}
	h.pages += n
	return &h.demands[group]
}

// settle counts n pages that no threshold moves.
func (o *Outlook) settle(n float64, h *hostOutlook, one lags) {
	o.settled.add(n, one)
	if h != nil {
		h.pages += n
		h.others += n * one.visits
	}
}

// Budgeted reports whether the crawl's policy shares a budget. Otherwise each page is
// planned separately, and no budget changes anything.
func (o *Outlook) Budgeted() bool { _, is := o.rules.groups[0].Policy.(Budgeted); return is }

// Pages returns how many pages share the budget.
func (o *Outlook) Pages() float64 { return o.pages }

// Budget returns how many visits a day the crawl plans in all: its budget, or without one a
// visit per page and default_interval besides those that no threshold moves. r must be valid.
func (o *Outlook) Budget(r crawl.RevisitSpec) float64 {
	may := AllowanceOf(r, int(math.Round(o.pages)))
	if may.Apart {
		return may.Budget + o.settled.visits
	}
	return may.Budget
}

// Prospect is the forecast for a budget.
type Prospect struct {
	// Visits is the number of visits a day, of all pages.
	Visits float64
	// Copies is the number of pages with a copy. Fresh is the share of them that is up to
	// date, on average over time; Age is the mean number of days since the first change
	// that a copy lacks, 0 for copies that lack none; Delay is the mean number of days that
	// a change waits for the visit that finds it.
	Copies, Fresh, Age, Delay float64
	// Full are the hosts that have reached their limits, in the order of their ids.
	Full []int64
}

// FullHost is a host that limits the effect of a budget.
type FullHost struct {
	ID    int64
	Pages float64
	// Limit is how many visits a day it can take. From is the lowest budget, in visits a
	// day, at which it is full; 0 if it is full at any.
	Limit, From float64
}

// priceOf returns the threshold at which a host's pages use up its limit, 0 if they never
// want that much, +Inf if they do even at the longest intervals.
func (o *Outlook) priceOf(h *hostOutlook, left float64) float64 {
	planned := func(threshold float64) float64 { return o.of(h.demands, threshold).visits }
	switch {
	case !o.Budgeted() || planned(0) <= left:
		return 0
	case planned(math.Inf(1)) > left:
		return math.Inf(1)
	}
	return o.solve(left, planned)
}

// solve returns the threshold at which a quantity that rises as the threshold falls
// reaches the wanted value, which must be within reach.
func (o *Outlook) solve(want float64, f func(threshold float64) float64) float64 {
	excess := func(u float64) float64 { return math.Log(max(f(math.Exp(u)), 1e-300) / want) }
	g := o.rules.groups[0]
	start := math.Log(g.Policy.(Budgeted).Worth(g.Steer(o.steering, HostSteering{}, 0).prior(), days(max(g.Parameters.Round, 1))))
	const far, exact = 100, 1e-4
	u, _ := gamma.Solve(excess, false, gamma.PointOn(excess, start), 1, far, exact)
	return math.Exp(u)
}

// At returns the forecast for a budget of visits a day (> 0). A budget beyond what
// politeness and the shortest intervals can use achieves no more than Most; one below the
// needs of the longest intervals is exceeded.
func (o *Outlook) At(budget float64) Prospect {
	switch {
	case budget <= o.least.Visits:
		return o.least
	case budget >= o.most.Visits:
		return o.most
	}
	return o.at(o.solve(budget, func(threshold float64) float64 { return o.at(threshold).Visits }))
}

// Most returns the forecast if visits cost nothing: every page is visited as often as its
// host and the shortest interval allow.
func (o *Outlook) Most() Prospect { return o.most }

// Obstacle is the reason why a promise is impossible.
type Obstacle int

// The obstacles.
const (
	NoObstacle    Obstacle = iota
	FullHosts              // politeness: hosts cannot take enough visits
	ShortestBound          // pages change too often for the shortest interval
)

// Promise returns the cost of keeping a share of the copies (0 to 1) up to date. If that
// is out of reach, it returns Most and the reason.
func (o *Outlook) Promise(fresh float64) (Prospect, Obstacle) {
	if o.most.Fresh < fresh {
		why := ShortestBound
		if o.unlimited().Fresh >= fresh {
			why = FullHosts
		}
		return o.most, why
	}
	if o.least.Fresh >= fresh || !o.Budgeted() {
		return o.least, NoObstacle
	}
	return o.at(o.solve(fresh, func(threshold float64) float64 { return o.at(threshold).Fresh })), NoObstacle
}

// Limiting returns the hosts that limit the effect of some budget, those with the longest
// pass over their pages first.
func (o *Outlook) Limiting(most int) []FullHost {
	var full []FullHost
	for _, id := range o.order {
		if h := o.apart[id]; h.price > 0 {
			full = append(full, FullHost{ID: id, Pages: h.pages, Limit: h.limit})
		}
	}
	slices.SortStableFunc(full, func(a, b FullHost) int { return cmp.Compare(b.Pages/b.Limit, a.Pages/a.Limit) })
	full = full[:min(most, len(full))]
	for i := range full {
		if price := o.apart[full[i].ID].price; !math.IsInf(price, 1) {
			full[i].From = o.at(price).Visits
		}
	}
	return full
}

// at returns the forecast at a threshold.
func (o *Outlook) at(threshold float64) Prospect {
	sum, full := o.settled, []int64(nil)
	sum.add(1, o.of(o.common, threshold))
	for _, id := range o.order {
		h := o.apart[id]
		if threshold >= h.price && !math.IsInf(h.price, 1) {
			sum.add(1, o.of(h.demands, threshold))
			continue
		}
		full = append(full, id)
		sum.add(1, h.full)
	}
	return sum.prospect(full)
}

// unlimited returns the forecast if neither budget nor politeness limited the visits.
func (o *Outlook) unlimited() Prospect {
	sum := o.settled
	sum.add(1, o.of(o.common, 0))
	for _, id := range o.order {
		sum.add(1, o.of(o.apart[id].demands, 0))
	}
	return sum.prospect(nil)
}

// of returns the forecast for demands by group at a threshold.
func (o *Outlook) of(demands []Demand, threshold float64) lags {
	return o.stretched(demands, threshold, 1)
}

// stretched is of with intervals multiplied by a factor.
func (o *Outlook) stretched(demands []Demand, threshold, by float64) (sum lags) {
	for group := range demands {
		g := o.rules.groups[group]
		budgeted, is := g.Policy.(Budgeted)
		if !is {
			continue
		}
		low, high := days(g.Parameters.Floor()), days(g.Parameters.Max)
		for i := range demands[group].cells {
			cell := &demands[group].cells[i]
			sum.add(cell.n, cell.lags(budgeted.Objective, threshold, low, high, demands[group].rarest, by))
		}
	}
	return sum
}

// lags returns the forecast for a page of the cell at a threshold.
func (c *demandCell) lags(o Objective, threshold, low, high, rarest, by float64) lags {
	g, threshold := c.belief(), threshold/c.weight()
	if t := (Timetable{Period: uint8(c.key[3])}); t.Period != 0 {
		every := periods[t.Period].days()
		if n, worth := t.skips(o, threshold, low); worth && float64(n)*every <= high {
			return timely(math.Ceil(float64(n)*by), every)
		}
	}
	one, other := high, high
	if !math.IsInf(threshold, 1) {
		one, other = intervalsAt(o, g, threshold, low, high, c.looks(rarest))
	}
	return evenly(g, by*one, by*other)
}

// lags are sums over pages: of visits a day, and of how far copies are behind.
type lags struct {
	visits, copies, fresh, age float64
	rate, waits                float64 // changes a day, and each times the days for which it waits
}

func (l *lags) add(n float64, o lags) {
	l.visits += n * o.visits
	l.copies += n * o.copies
	l.fresh += n * o.fresh
	l.age += n * o.age
	l.rate += n * o.rate
	l.waits += n * o.waits
}

func (l lags) prospect(full []int64) Prospect {
	p := Prospect{Visits: l.visits, Copies: l.copies, Full: full}
	if l.copies > 0 {
		p.Fresh, p.Age = l.fresh/l.copies, l.age/l.copies
	}
	if l.rate > 0 {
		p.Delay = l.waits / l.rate
	}
	return p
}

// visiting is a page without a copy whose visits are alternately one and other days
// apart.
func visiting(one, other float64) lags { return lags{visits: 2 / (one + other)} }

// evenly is a page with belief g whose visits are alternately one and other days apart:
// the means of [LagOf] over the time from visit to visit.
func evenly(g gamma.Distribution, one, other float64) lags {
	l, span := visiting(one, other), one+other
	behind := g.ExpectedAge(one) + g.ExpectedAge(other)
	l.copies, l.fresh, l.rate = 1, 1-behind/span, g.Mean()
	l.age = (one*g.ExpectedAge(one) - g.AgeMoment(one) + other*g.ExpectedAge(other) - g.AgeMoment(other)) / span
	l.waits = l.rate * (one*one + other*other) / (2 * span)
	return l
}

// timely is a page that changes at an exact interval in days, and is visited right after
// each n-th change: it is fresh for one of n periods.
func timely(n, every float64) lags {
	return lags{
		visits: 1 / (n * every), copies: 1, fresh: 1 / n, age: (n - 1) * (n - 1) * every / (2 * n),
		rate: 1 / every, waits: (n - 1) / 2,
	}
}
