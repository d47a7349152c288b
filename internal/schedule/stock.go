package schedule

import (
	"maps"
	"math"
	"slices"
	"time"

	"recrawl/internal/crawl"
)

// Entry is a page as maintenance reads it: as its last visit left it.
type Entry struct {
	Page
	Host  int64
	Group int
	// Weight is the page's importance, without its rule's; 0 is 1.
	Weight float64
	// At is when the last visit was, and Due when the next one is.
	At, Due time.Time
}

// Planned is the interval from the last visit to the next one.
func (e Entry) Planned() time.Duration { return max(1, e.Due.Sub(e.At)) }

// byPolicy reports whether the policy planned the page: its last visit saw content
// that is not another page's. A back-off or a probe is not moved by thresholds.
func (e Entry) byPolicy() bool {
	return e.State == crawl.Active && e.Visit > 0 && e.Belief.Compared == e.At.UnixMilli()
}

// Sleeper is the entry as Reschedule reads it, and whether its policy would plan
// it now: it sleeps, and shares a budget.
func (e Entry) Sleeper(g Group, s Steering, h HostSteering, now time.Time) (Sleeper, bool) {
	if _, budgeted := g.Policy.(Budgeted); !budgeted || !e.byPolicy() || !e.Due.After(now) {
		return Sleeper{}, false
	}
	plan := Replan(g.Policy, e.Page, g.Steer(s, h, e.Weight))
	return Sleeper{ID: e.ID, Elapsed: now.Sub(e.At), Planned: e.Planned(), Wanted: plan.Interval}, true
}

// Stock is what maintenance counts of a crawl's pages in one pass, in memory that
// does not grow with them but for a little for each host: what is believed, by
// cells, and what is planned.
type Stock struct {
	period   Period
	rules    Rules
	steering Steering
	hosts    map[int64]HostSteering
	counts   map[int64]*hostStock
	common   []Census // by group, of the hosts that are not tight
	pages    int      // that share the budget
	visits   float64  // a day that the pages that share the budget have planned
	late     float64  // of these, each times the days by which the last one was late
	slants   struct{ slope, info float64 }
	others   float64 // visits a day that are not moved by thresholds: of other policies, probes and back-offs
}

// Period is the time from one turn of maintenance to the next. From is zero before the
// first.
type Period struct{ From, To time.Time }

type hostStock struct {
	watch      watch
	population Population
	planned    float64  // visits a day
	others     float64  // of these, those that are not moved by thresholds
	censuses   []Census // by group, if the host is tight
}

// NewStock begins a count, with what the pages shared when they were planned. The
// hosts are those that have a steering of their own. The period ends now.
func NewStock(rules Rules, s Steering, hosts map[int64]HostSteering, period Period) *Stock {
	return &Stock{period: period, rules: rules, steering: s, hosts: hosts, counts: map[int64]*hostStock{}, common: make([]Census, len(rules.groups))}
}

// Add counts a page. One that was never visited does not count.
func (s *Stock) Add(e Entry) {
	if e.Visit == 0 {
		return
	}
	h := s.counts[e.Host]
	if h == nil {
		h = &hostStock{watch: watch{now: s.period.To.UnixMilli(), window: s.window(s.hosts[e.Host].Planned)}}
		if s.hosts[e.Host].tight() {
			h.censuses = make([]Census, len(s.rules.groups))
		}
		s.counts[e.Host] = h
	}
	visits := 1 / days(e.Planned())
	h.planned += visits
	g := s.rules.groups[e.Group]
	if _, budgeted := g.Policy.(Budgeted); !budgeted || !e.byPolicy() {
		h.others += visits
		s.others += visits
		return
	}
	s.pages++
	s.visits += visits
	s.late += visits * min(float64(e.Belief.Late), lateShare/visits)
	p := g.Steer(s.steering, s.hosts[e.Host], e.Weight)
	belief := e.Belief.Gamma(p.prior())
	if e.Belief.Pairs > 0 {
		h.population.Add(belief)
	}
	h.watch.look(e.Belief, belief, p)
	s.slants.slope += float64(e.Belief.Slant.Slope)
	s.slants.info += float64(e.Belief.Slant.Info)
	censuses := s.common
	if h.censuses != nil {
		censuses = h.censuses
	}
	censuses[e.Group].Add(p.prospect(e.Belief).over(belief, days(e.Planned())), p.weight())
}

// window is for how many days looks at a host's pages are taken together to find a
// wave, with so many visits planned a day.
func (s *Stock) window(planned float64) float64 {
	window := wavePages * s.steering.Interval
	if !s.period.From.IsZero() {
		window = max(window, days(s.period.To.Sub(s.period.From)))
	}
	if planned > 0 {
		window = max(window, waveLooks/planned)
	}
	return window
}

// Pages is how many pages share the budget.
func (s *Stock) Pages() int { return s.pages }

// Busy lists the hosts at which more than so many visits a day are planned, by id.
func (s *Stock) Busy(least float64) []int64 {
	var busy []int64
	for _, id := range slices.Sorted(maps.Keys(s.counts)) {
		if s.counts[id].planned > least || s.hosts[id].tight() {
			busy = append(busy, id)
		}
	}
	return busy
}

// Planned is how many visits a day are planned at a host.
func (s *Stock) Planned(host int64) float64 {
	if h := s.counts[host]; h != nil {
		return h.planned
	}
	return 0
}

// Turn is what a turn of maintenance changes.
type Turn struct {
	Steering
	// Hosts are the steerings of hosts that differ from before by more than a hair.
	Hosts map[int64]HostSteering
	// Planned is how many visits a day were planned in all, of a budget of Budget.
	Planned, Budget float64
	// Reasons say why the threshold moved.
	Reasons []crawl.Reason
}

// Turn moves what the pages share: the priors to what is believed of the pages,
// the threshold to where their visits meet the budget (visits a day), and the
// prices of hosts to where they meet the limits, which need only name the hosts
// that are Busy. What is planned by other rules comes out of the budget first.
func (s *Stock) Turn(budget float64, limits map[int64]float64) Turn {
	turn := Turn{Steering: s.steering, Hosts: map[int64]HostSteering{}, Budget: budget, Planned: s.planned()}
	own := s.rules.groups[0]
	objective, budgeted := own.Policy.(Budgeted)
	if !budgeted {
		turn.Steering = Steering{}
		return turn
	}
	first := FirstPrior(max(own.Parameters.Round, 1))
	s.fit(&turn, first)
	if s.pages == 0 || !(budget > 0) {
		return turn
	}
	left := max(budget-s.others, budget*leastShare)
	s.moveThreshold(&turn, objective.Objective, left, own.Parameters)
	s.movePrices(&turn, objective.Objective, limits)
	return turn
}

// leastShare is the share of a budget that is kept for the pages that share it
// when other rules plan more than all of it.
const leastShare = 0.05

func (s *Stock) planned() float64 {
	sum := 0.0
	for _, id := range slices.Sorted(maps.Keys(s.counts)) {
		sum += s.counts[id].planned
	}
	return sum
}

// fit makes the priors of crawl and hosts of what is believed of their pages.
func (s *Stock) fit(turn *Turn, first Gamma) {
	var all Population
	ids := slices.Sorted(maps.Keys(s.counts))
	for _, id := range ids {
		all.Merge(s.counts[id].population)
	}
	turn.Prior = all.Prior(first)
	turn.Steep = steepOf(s.slants.slope, s.slants.info)
	for _, id := range ids {
		before := s.hosts[id]
		after := before
		after.Planned, after.Site = s.counts[id].planned, s.counts[id].watch.site(before.Site)
		if s.counts[id].population.N > 0 {
			after.Prior = s.counts[id].population.Prior(turn.Prior)
		}
		s.change(turn, id, after)
	}
}

// change notes a host's steering if it differs from the one before.
func (s *Stock) change(turn *Turn, id int64, after HostSteering) {
	if after.near(s.hosts[id]) {
		delete(turn.Hosts, id)
		return
	}
	turn.Hosts[id] = after
}

// now is a host's steering with what the turn has changed so far.
func (s *Stock) now(turn *Turn, id int64) HostSteering {
	if h, ok := turn.Hosts[id]; ok {
		return h
	}
	return s.hosts[id]
}

// moveThreshold moves the threshold. What is known beforehand, that there are more
// pages or another budget, is not left to small moves: the threshold goes first to
// where an average page would be visited as often as there is now budget for each.
func (s *Stock) moveThreshold(turn *Turn, o Objective, budget float64, p Parameters) {
	interval := float64(s.pages) / budget
	from, theta := s.steering.Threshold, s.steering.Threshold
	fresh := theta <= 0 || s.steering.Policy != o.Name()
	switch {
	case fresh:
		from, theta = 0, FirstThreshold(o, turn.Prior, float64(s.pages), budget)
	case s.steering.Interval > 0 && !like(interval, s.steering.Interval):
		theta *= o.Worth(turn.Prior, interval) / o.Worth(turn.Prior, s.steering.Interval)
		turn.Reasons = append(turn.Reasons, because(CodeSpacing, duration(interval).Seconds(), duration(s.steering.Interval).Seconds()).reason())
	}
	planned := s.plannedAt(o)
	move := MoveThreshold(theta, budget, planned)
	for range firstMoves {
		if !fresh || like(planned(move.To), budget) {
			break
		}
		move = MoveThreshold(move.To, budget, planned)
	}
	turn.Policy, turn.Threshold, turn.Interval = o.Name(), move.To, interval
	if !fresh {
		turn.Reasons = append(turn.Reasons, because(CodePlanned, move.Planned, budget).reason())
	}
	turn.Reasons = append(turn.Reasons, because(CodeThreshold, from, move.To).reason())
}

// firstMoves bounds the moves of a first threshold, which no plan was made by yet:
// by a factor of e^20 in all.
const firstMoves = 40

// plannedAt is how many visits a day the pages that share the budget come to at a
// threshold.
func (s *Stock) plannedAt(o Objective) func(threshold float64) float64 {
	tight := slices.DeleteFunc(slices.Sorted(maps.Keys(s.counts)), func(id int64) bool { return s.counts[id].censuses == nil })
	return func(threshold float64) float64 {
		sum := s.sum(s.common, o, threshold)
		for _, id := range tight {
			sum += s.sum(s.counts[id].censuses, o, max(threshold, s.hosts[id].Price))
		}
		return sum
	}
}

// lateness is by how much visits come after they are due, on average. What is
// planned must allow for it to come to the budget.
func (s *Stock) lateness() time.Duration {
	if s.visits <= 0 {
		return 0
	}
	return duration(s.late / s.visits)
}

func (s *Stock) sum(censuses []Census, o Objective, threshold float64) float64 {
	sum := 0.0
	for group := range censuses {
		p := s.rules.groups[group].Parameters
		sum += censuses[group].held(o, threshold, p.Floor(), p.Max, s.lateness())
	}
	return sum
}

// movePrices moves the prices of hosts. A host that was not counted apart gets its
// price when it is, in the next turn.
func (s *Stock) movePrices(turn *Turn, o Objective, limits map[int64]float64) {
	for _, id := range slices.Sorted(maps.Keys(s.counts)) {
		h, limit := s.counts[id], limits[id]
		after := s.now(turn, id)
		after.Planned, after.Limit = h.planned, limit
		if s.steering.Policy != turn.Policy {
			after.Price = 0 // of another unit
		}
		if limit > 0 && h.censuses != nil {
			after.Price = s.price(h, o, after.Price, turn.Threshold, max(limit-h.others, limit*leastShare))
		}
		s.change(turn, id, after)
	}
}

// price moves a host's price towards where its pages meet the limit. A first one, or
// none, goes there at once: the host's line is long already.
func (s *Stock) price(h *hostStock, o Objective, price, threshold, limit float64) float64 {
	planned := func(threshold float64) float64 { return s.sum(h.censuses, o, threshold) }
	first := price <= threshold
	for range firstMoves {
		price = MoveHostPrice(price, threshold, limit, planned)
		if !first || price == 0 || like(planned(price), limit) {
			break
		}
	}
	return price
}

// Moved are the sleepers of a crawl that may be worth waking, gathered one by one:
// see Reschedule.
type Moved struct{ far []Sleeper }

// Add considers a sleeper, and reports whether it may be chosen.
func (m *Moved) Add(s Sleeper) bool {
	if s.Gain() <= 0 || !s.far() {
		return false
	}
	m.far = append(m.far, s)
	return true
}

// Choose is Reschedule of the sleepers considered.
func (m *Moved) Choose(visits float64) []int64 { return Reschedule(m.far, visits) }

// LookEvery is how many turns of maintenance there are between two looks at all
// sleepers: looking at each of them takes longer than all the rest of a turn.
const LookEvery = 7

// PeriodVisits is how many visits are planned in a period.
func PeriodVisits(perDay float64, period time.Duration) float64 {
	return math.Max(0, perDay*days(period))
}
