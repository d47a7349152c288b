package schedule

import (
	"maps"
	"math"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/gamma"
)

// Entry is a page as maintenance reads it: in the state after its last visit.
type Entry struct {
	Page
	Host  int64
	Group int
	// Weight is the page's importance, without its rule's; 0 is 1.
	Weight float64
	// At is when the last visit was, and Due when the next one is.
	At, Due time.Time
	// Hinted says that a sitemap or feed made the next visit sooner than planned.
	Hinted bool
}

// Planned returns the interval from the last visit to the next one, at least 1 ns.
func (e Entry) Planned() time.Duration { return max(1, e.Due.Sub(e.At)) }

// byPolicy reports whether the interval is the policy's: the last visit saw content
// that belongs to no other page. Thresholds do not move back-offs and probes.
func (e Entry) byPolicy() bool {
	return e.State == crawl.Active && e.Visit > 0 && e.Belief.Compared == e.At.UnixMilli()
}

// sooner returns how many days sooner than planned the page joins the line of its host,
// if that is full; see [queueing].
func (e Entry) sooner(full bool) float64 {
	if !e.byPolicy() {
		return 0
	}
	return queueing(e.Belief, full, days(e.Planned())/(1-lateShare))
}

// Sleeper returns the entry as [Reschedule] reads it. It reports false for a page that
// its policy would not plan now: one that does not sleep. Two kinds of pages are only moved
// nearer: those that a source said have changed, and those that share no budget. The latter's
// plans move with another spec, or with what the engine makes, which would otherwise have no effect
// for as long as they sleep; a page that comes too soon comes once.
func (e Entry) Sleeper(g Group, s Steering, h HostSteering, now time.Time) (Sleeper, bool) {
	if !e.byPolicy() || !e.Due.After(now) {
		return Sleeper{}, false
	}
	_, budgeted := g.Policy.(Budgeted)
	plan := Replan(g.Policy, e.Page, g.Steer(s, h, e.Weight))
	if (e.Hinted || !budgeted) && plan.Interval >= e.Planned() {
		return Sleeper{}, false
	}
	return Sleeper{ID: e.ID, Elapsed: now.Sub(e.At), Planned: e.Planned(), Wanted: plan.Interval}, true
}

// Tally sums up a crawl's pages in one pass of maintenance: the beliefs about them, in
// cells, and the planned visits. Its memory does not grow with the pages, only a little
// with the hosts.
type Tally struct {
	period   Period
	rules    Rules
	steering Steering
	hosts    map[int64]HostSteering
	counts   map[int64]*hostTally
	common   []Demand // by group, of the hosts that are not tight
	pages    int      // that share the budget
	visits   float64  // a day that are planned for the pages that share the budget, except on full hosts
	late     float64  // of these, each times the days by which the last one was late
	aging    struct{ slope, info float64 }
	most     float64 // visits a day of the pages that share the budget, at their shortest intervals
	others   float64 // visits a day that are not moved by thresholds: of other policies, probes and back-offs
	ruled    float64 // of these, those of policies without a budget
	wanted   float64 // the visits a day that these policies want, see Steering.Stretch
}

// Period is the time between two rounds of maintenance. From is zero before the first.
type Period struct{ From, To time.Time }

type hostTally struct {
	detector   waveDetector
	population Population
	planned    float64  // visits a day
	others     float64  // of these, those that are not moved by thresholds
	demands    []Demand // by group, if the host is tight
}

// NewTally begins a tally at the end of the period. s and hosts are the shared
// values by which the pages were planned; hosts has those with their own steering.
func NewTally(rules Rules, s Steering, hosts map[int64]HostSteering, period Period) *Tally {
	return &Tally{period: period, rules: rules, steering: s, hosts: hosts, counts: map[int64]*hostTally{}, common: demandsOf(rules.groups, s)}
}

// Add counts a page. Pages that were never visited do not count.
func (s *Tally) Add(e Entry) {
	if e.Visit == 0 {
		return
	}
	h := s.counts[e.Host]
	if h == nil {
		h = &hostTally{detector: waveDetector{now: s.period.To.UnixMilli(), window: s.window(s.hosts[e.Host].Planned)}}
		if s.hosts[e.Host].tight() {
			h.demands = make([]Demand, len(s.rules.groups))
		}
		s.counts[e.Host] = h
	}
	full := s.hosts[e.Host].Price > s.steering.Threshold
	g := s.rules.groups[e.Group]
	p := g.Steer(s.steering, s.hosts[e.Host], e.Weight)
	// A page that is due at once, such as one that was sent to another spelling of its
	// address, comes once like that, not thousands of times a day.
	interval := days(max(e.Planned(), g.Parameters.Floor()))
	visits := 1 / (interval + e.sooner(full))
	h.planned += visits
	_, budgeted := g.Policy.(Budgeted)
	if !budgeted || !e.byPolicy() {
		// What is believed of a page outlasts the time in which it fails: a site in trouble must
		// not make its crawl forget what its pages are like.
		if budgeted && e.State == crawl.Failing {
			s.believe(h, e, e.Belief.Gamma(p.prior()))
		}
		h.others += visits
		s.others += visits
		if !budgeted && e.byPolicy() {
			s.ruled += visits
			s.wanted += 1 / days(max(1, Replan(g.Policy, e.Page, g.Parameters).Interval))
		}
		return
	}
	s.pages++
	s.most += 1 / days(g.Parameters.Floor())
	if !full {
		s.visits += visits
		s.late += visits * min(float64(e.Belief.Late), lateShare/visits)
	}
	belief := e.Belief.Gamma(p.prior())
	s.believe(h, e, belief)
	h.detector.look(e.Belief, belief, p)
	censuses := s.common
	if h.demands != nil {
		censuses = h.demands
	}
	soon := 0.0
	if b, is := g.Policy.(Budgeted); is && givesUp(b.Objective) {
		soon = rareLooksOf(p.Interval, e.Belief).soon
	}
	censuses[e.Group].addAlike(1, p.forecast(e.Belief).counted(g.Policy, belief, interval), p.weight(), e.Belief.Timetable, soon)
}

// believe counts what is believed of a page for the priors, and for how rates fall with age.
func (s *Tally) believe(h *hostTally, e Entry, belief gamma.Distribution) {
	if e.Belief.Pairs > 0 {
		h.population.Add(belief)
	}
	s.aging.slope += float64(e.Belief.Aging.Slope)
	s.aging.info += float64(e.Belief.Aging.Info)
}

// window returns over how many days the looks at a host's pages are combined to find a
// wave, given the visits a day planned at the host.
func (s *Tally) window(planned float64) float64 {
	window := wavePages * s.steering.Interval
	if !s.period.From.IsZero() {
		window = max(window, days(s.period.To.Sub(s.period.From)))
	}
	if planned > 0 {
		window = max(window, waveLooks/planned)
	}
	return window
}

// Pages returns how many pages share the budget.
func (s *Tally) Pages() int { return s.pages }

// Busy returns the ids, in order, of the hosts at which more than least visits a day
// are planned, or which are near their limits.
func (s *Tally) Busy(least float64) []int64 {
	var busy []int64
	for _, id := range slices.Sorted(maps.Keys(s.counts)) {
		if s.counts[id].planned > least || s.hosts[id].tight() {
			busy = append(busy, id)
		}
	}
	return busy
}

// Planned returns how many visits a day are planned at a host.
func (s *Tally) Planned(host int64) float64 {
	if h := s.counts[host]; h != nil {
		return h.planned
	}
	return 0
}

// Round is the outcome of a round of maintenance.
type Round struct {
	Steering
	// Hosts are the steerings of the hosts for which they differ noticeably from
	// before.
	Hosts map[int64]HostSteering
	// Planned is how many visits a day were planned in all, Budget how many may be, and Asked
	// how many the crawl wants to make; see [Tally.Asked].
	Planned, Budget, Asked float64
	// Reasons say why the threshold moved.
	Reasons []crawl.Reason
}

// Settle ends the tally and moves the values that the pages share: the priors to the
// beliefs about the pages, the threshold to the point where the planned visits meet the
// budget, and the prices of hosts to where they meet the limits. Only hosts that are Busy
// need a limit. Visits planned by other rules are subtracted from the budget first; see
// [Tally.left]. Visits that the engine cannot make are not part of the budget. They lengthen
// the intervals of policies that have no budget.
func (s *Tally) Settle(may Allowance) Round {
	asked, budget := s.Asked(may), s.inAll(may)
	if may.Engine > 0 {
		budget = min(budget, may.Engine)
	}
	round := Round{Steering: s.steering, Hosts: map[int64]HostSteering{}, Budget: budget, Planned: s.planned(), Asked: asked}
	s.leave(&round)
	own := s.rules.groups[0]
	objective, budgeted := own.Policy.(Budgeted)
	if !budgeted {
		round.Steering = Steering{}
	}
	round.Stretch = s.stretch(may.Engine)
	if may.Engine > 0 && may.Engine < asked {
		round.Reasons = append(round.Reasons, because(CodeEngine, may.Engine, asked).reason())
	}
	if !budgeted {
		return round
	}
	first := FirstPrior(max(own.Parameters.Round, 1))
	s.fit(&round, first)
	if s.pages == 0 || !(budget > 0) {
		return round
	}
	s.moveThreshold(&round, objective.Objective, may)
	s.movePrices(&round, objective.Objective, may.Hosts)
	return round
}

func (s *Tally) planned() float64 {
	sum := 0.0
	for _, id := range slices.Sorted(maps.Keys(s.counts)) {
		sum += s.counts[id].planned
	}
	return sum
}

// fit computes the priors of crawl and hosts from the beliefs about their pages.
func (s *Tally) fit(round *Round, first gamma.Distribution) {
	var all Population
	ids := slices.Sorted(maps.Keys(s.counts))
	for _, id := range ids {
		all.Merge(s.counts[id].population)
	}
	round.Prior = all.Prior(first)
	round.Steep = steepnessOf(s.aging.slope, s.aging.info)
	for _, id := range ids {
		before := s.hosts[id]
		after := before
		after.Planned, after.Site = s.counts[id].planned, s.counts[id].detector.site(before.Site)
		if s.counts[id].population.N > 0 {
			after.Prior = s.counts[id].population.Prior(round.Prior)
		}
		s.change(round, id, after)
	}
}

// leave notes that nothing is planned any more at hosts where no page is left. Other crawls
// would keep what was planned there free for ever.
func (s *Tally) leave(round *Round) {
	for id, h := range s.hosts {
		if s.counts[id] == nil && (h.Planned > 0 || h.Price > 0) {
			h.Planned, h.Limit, h.Price = 0, 0, 0
			round.Hosts[id] = h
		}
	}
}

// change records a host's steering if it differs from the one before.
func (s *Tally) change(round *Round, id int64, after HostSteering) {
	if after.near(s.hosts[id]) {
		delete(round.Hosts, id)
		return
	}
	round.Hosts[id] = after
}

// now returns a host's steering including what this round has changed so far.
func (s *Tally) now(round *Round, id int64) HostSteering {
	if h, ok := round.Hosts[id]; ok {
		return h
	}
	return s.hosts[id]
}

// moveThreshold moves the threshold. A change that is known beforehand (more pages,
// another budget) does not wait for small moves: the threshold first jumps to where an
// average page is visited as often as there is now budget for it. What other visits leave of
// the budget rises and falls from round to round, and moves the threshold in small steps.
func (s *Tally) moveThreshold(round *Round, o Objective, may Allowance) {
	budget, interval := s.left(may, round.Budget), float64(s.pages)/round.Budget
	if may.Apart {
		interval = float64(s.pages) / budget
	}
	from, theta := s.steering.Threshold, s.steering.Threshold
	fresh := theta <= 0 || s.steering.Policy != o.Name()
	planned := s.plannedAt(o)
	off := func(theta float64) float64 { return math.Abs(math.Log(planned(theta) / budget)) }
	switch {
	case fresh:
		from, theta = 0, FirstThreshold(o, round.Prior, float64(s.pages), budget)
	case s.steering.Interval > 0 && !like(interval, s.steering.Interval):
		there := theta * o.Worth(round.Prior, interval) / o.Worth(round.Prior, s.steering.Interval)
		if off(there) > off(theta) {
			break // the pages are not like the average one
		}
		theta = there
		round.Reasons = append(round.Reasons, because(CodeSpacing, duration(interval).Seconds(), duration(s.steering.Interval).Seconds()).reason())
	}
	move := MoveThreshold(theta, budget, planned)
	for range firstMoves {
		if !fresh || like(planned(move.To), budget) {
			break
		}
		before := move.To
		if move = MoveThreshold(before, budget, planned); move.To == before {
			break
		}
	}
	round.Policy, round.Threshold, round.Interval = o.Name(), move.To, interval
	if !fresh {
		round.Reasons = append(round.Reasons, because(CodePlanned, move.Planned, budget).reason())
	}
	round.Reasons = append(round.Reasons, because(CodeThreshold, from, move.To).reason())
}

// firstMoves bounds how many moves a first threshold, which no plan was made with yet,
// may make at once. It allows a factor of e^20 in all.
const firstMoves = 40

// plannedAt returns a function that gives the visits a day planned at a threshold
// for the pages that share the budget.
func (s *Tally) plannedAt(o Objective) func(threshold float64) float64 {
	tight := slices.DeleteFunc(slices.Sorted(maps.Keys(s.counts)), func(id int64) bool { return s.counts[id].demands == nil })
	late := s.lateness()
	priced := s.steering.Policy == o.Name() // otherwise prices are of another unit
	return func(threshold float64) float64 {
		sum := s.sum(s.common, o, threshold, late)
		for _, id := range tight {
			if price := s.hosts[id].Price; priced && price > threshold {
				sum += s.sum(s.counts[id].demands, o, price, 0) // their plans allow for waiting
			} else {
				sum += s.sum(s.counts[id].demands, o, threshold, late)
			}
		}
		return sum
	}
}

// lateness returns the mean time by which visits come after they are due. Plans must
// allow for it in order to use up the budget.
func (s *Tally) lateness() time.Duration {
	if s.visits <= 0 {
		return 0
	}
	return duration(s.late / s.visits)
}

func (s *Tally) sum(censuses []Demand, o Objective, threshold float64, late time.Duration) float64 {
	sum := 0.0
	for group := range censuses {
		p := s.rules.groups[group].Parameters
		sum += censuses[group].held(o, threshold, p.Floor(), p.Max, late)
	}
	return sum
}

// movePrices moves the prices of hosts. A host that was not tallied separately will be
// in the next round, and gets its price then.
func (s *Tally) movePrices(round *Round, o Objective, limits map[int64]float64) {
	for _, id := range slices.Sorted(maps.Keys(s.counts)) {
		h, limit := s.counts[id], limits[id]
		after := s.now(round, id)
		after.Planned, after.Limit = h.planned, limit
		if s.steering.Policy != round.Policy {
			after.Price = 0 // of another unit
		}
		if limit > 0 && h.demands != nil {
			after.Price = s.price(h, o, after.Price, round.Threshold, max(limit-h.others, limit*leastShare))
		}
		s.change(round, id, after)
	}
}

// price moves a host's price towards where its pages meet the limit. A first price goes
// there at once, because the host's line is long already.
func (s *Tally) price(h *hostTally, o Objective, price, threshold, limit float64) float64 {
	planned := func(threshold float64) float64 { return s.sum(h.demands, o, threshold, 0) }
	first := price <= threshold
	for range firstMoves {
		before := price
		price = MoveHostPrice(before, threshold, limit, planned)
		if !first || price == 0 || price == before || like(planned(price), limit) {
			break
		}
	}
	return price
}

// Moved collects, one by one, the sleepers of a crawl that may be worth waking. See
// [Reschedule].
type Moved struct{ far []Sleeper }

// Add considers a sleeper, and reports whether it may be chosen.
func (m *Moved) Add(s Sleeper) bool {
	if s.Gain() <= 0 || !s.far() {
		return false
	}
	m.far = append(m.far, s)
	return true
}

// Choose applies [Reschedule] to the sleepers considered, with the visits planned
// between two choices.
func (m *Moved) Choose(visits float64) []int64 { return Reschedule(m.far, visits) }

// LookEvery is how many rounds of maintenance there are between two passes over all
// sleepers. A pass takes longer than the rest of a round.
const LookEvery = 7

// PeriodVisits returns how many visits are planned in a period, given the visits a day.
func PeriodVisits(perDay float64, period time.Duration) float64 {
	return math.Max(0, perDay*days(period))
}
