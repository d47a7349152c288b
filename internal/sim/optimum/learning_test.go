package optimum

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

// life is a stationary world in which a policy learns rates from its own visits
// only: hosts of pages alike, weights of a heavy tail, a budget, and maintenance
// that moves the threshold and the hosts' priors.
type life struct {
	policy   schedule.Budgeted
	elements []Element
	budget   float64
	pages    []schedule.Page
	due      dueHeap
	planned  []time.Duration
	p        schedule.Parameters
	priors   []gamma.Distribution
	random   *rand.Rand
}

const (
	lifeHosts   = 12
	maintenance = 4.0 // days between two rounds
	day         = 24 * time.Hour
)

// newLife has n pages with rates about one in 30 days, apart by a factor of 4.5 from host
// to host and of 2.7 on a host, and perPage visits a day per page.
func newLife(o schedule.Objective, seed uint64, n int, perPage float64, weighted bool) *life {
	l := &life{policy: schedule.Budgeted{Objective: o}, random: rand.New(rand.NewPCG(seed, 11)), budget: perPage * float64(n)}
	l.p = schedule.Parameters{Round: time.Duration(float64(day) / perPage), Min: 30 * time.Minute, Max: 120 * day, HalfLife: 1 << 62}
	l.p.Threshold = schedule.FirstThreshold(o, schedule.FirstPrior(l.p.Round), float64(n), l.budget)
	centres := make([]float64, lifeHosts)
	for h := range centres {
		centres[h] = math.Log(1./30) + 1.5*l.random.NormFloat64()
		l.priors = append(l.priors, schedule.FirstPrior(l.p.Round))
	}
	l.planned = make([]time.Duration, n)
	for i := range n {
		e := Element{Host: i % lifeHosts, Weight: 1}
		e.Lambda = min(max(math.Exp(centres[e.Host]+l.random.NormFloat64()), 1e-4), 20)
		if weighted {
			e.Weight = min(100, math.Pow(1-l.random.Float64(), -1/1.5))
		}
		l.elements = append(l.elements, e)
		l.pages = append(l.pages, schedule.Page{ID: int64(i), State: crawl.Active})
		l.plan(i, schedule.Observation{Outcome: crawl.OutcomeNew}, 0)
	}
	return l
}

// plan plans a page after a visit.
func (l *life) plan(i int, seen schedule.Observation, now float64) {
	p := l.p
	p.Prior, p.Weight = l.priors[l.elements[i].Host], l.elements[i].Weight
	l.pages[i].Visit++
	plan := schedule.AfterVisit(l.policy, l.pages[i], seen, p)
	l.pages[i].Belief, l.planned[i] = plan.Belief, plan.Interval
	heap.Push(&l.due, dueAt{now + days(plan.Interval), i})
}

// run lives until end and returns the mean penalty after the warm-up, in expectation by the
// true rates and weights, and the visits a day.
func (l *life) run(warmUp, end float64) (penalty, visits float64) {
	weights := 0.0
	for _, e := range l.elements {
		weights += e.Weight
	}
	for round := maintenance; l.due[0].at < end; {
		next := heap.Pop(&l.due).(dueAt)
		for ; round < next.at; round += maintenance {
			l.maintain()
		}
		e, gap := l.elements[next.page], l.planned[next.page]
		penalty += l.penalty(e, days(gap)) - l.penalty(e, min(days(gap), warmUp-next.at+days(gap)))
		if next.at >= warmUp {
			visits++
		}
		seen := schedule.Observation{Outcome: crawl.OutcomeUnchanged, Gap: gap}
		if l.random.Float64() > math.Exp(-e.Lambda*days(gap)) {
			seen.Outcome = crawl.OutcomeChanged
		}
		l.plan(next.page, seen, next.at)
	}
	for _, d := range l.due { // the ends of the last cycles
		e, gap := l.elements[d.page], days(l.planned[d.page])
		penalty += l.penalty(e, end-d.at+gap) - l.penalty(e, warmUp-d.at+gap)
	}
	return penalty / weights / (end - warmUp), visits / (end - warmUp)
}

// penalty returns the expected cost of an element in the days after a visit.
func (l *life) penalty(e Element, days float64) float64 {
	if days <= 0 {
		return 0
	}
	return e.Weight * days * l.policy.Penalty(e.Lambda, 1/days)
}

// maintain does the work of the crawl's maintenance: priors by host, a demand, θ.
func (l *life) maintain() {
	groups, all := make([]schedule.Population, lifeHosts), schedule.Population{}
	for i := range l.pages {
		h := l.elements[i].Host
		groups[h].Add(l.pages[i].Belief.Gamma(l.priors[h]))
	}
	for _, g := range groups {
		all.Merge(g)
	}
	outside := all.Prior(schedule.FirstPrior(l.p.Round))
	var demand schedule.Demand
	for h := range groups {
		l.priors[h] = groups[h].Prior(outside)
	}
	for i := range l.pages {
		demand.Add(l.pages[i].Belief.Gamma(l.priors[l.elements[i].Host]), l.elements[i].Weight)
	}
	l.p.Threshold = schedule.MoveThreshold(l.p.Threshold, l.budget, func(theta float64) float64 {
		return demand.Planned(l.policy, theta, l.p.Min, l.p.Max)
	}).To
}

// dueHeap holds the pages by their next visit.
type dueHeap []dueAt

type dueAt struct {
	at   float64
	page int
}

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h dueHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(x any)        { *h = append(*h, x.(dueAt)) }
func (h *dueHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// In a stationary world every objective, learning from its own visits, closes most
// of the gap between visiting all pages alike and the optimum for known rates, and
// makes the visits that the budget has.
func TestLearnsAWorld(t *testing.T) {
	t.Parallel()
	for _, o := range schedule.Objectives() {
		for _, weighted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s weighted=%t", o.Name(), weighted), func(t *testing.T) {
				t.Parallel()
				l := newLife(o, 1, 360, 0.2, weighted)
				penalty, visits := l.run(180, 360)
				same := mean(l.elements, inProportion(l.elements, l.budget, uniform), o.Penalty)
				best := mean(l.elements, Allocate(o, l.elements, l.budget, nil).Visits, o.Penalty)
				closed := (same - penalty) / (same - best)
				t.Logf("uniform %.4f, learned %.4f, optimum %.4f: %.1f %% closed by %.1f visits a day of %.1f", same, penalty, best, 100*closed, visits, l.budget)
				if closed < 0.85 || closed > 1.01 {
					t.Errorf("closed %.1f %% of the gap, want at least 85", 100*closed)
				}
				if !mathtest.Alike(visits, l.budget, 0.03) {
					t.Errorf("%.1f visits a day, the budget is %.1f", visits, l.budget)
				}
			})
		}
	}
}

func days(d time.Duration) float64 { return d.Hours() / 24 }
