package sim

import (
	"math"

	"recrawl/internal/schedule"
	"recrawl/internal/sim/optimum"
)

// clairvoyant are the policies that know every page's rate.
var clairvoyant = []Policy{
	bestFor(schedule.Delay{}), bestFor(schedule.Fresh{}), bestFor(schedule.Age{}), bestFor(schedule.Harmonic{}),
	{Name: "proportional", Family: Clairvoyant, Help: "visits in proportion to the rate of change", make: func(s Setting, w *World) Scheduler {
		return &allocated{setting: s, allocate: func(living []int) []float64 { return proportional(w, living, s.Pace.Visits()) }}
	}},
}

// bestFor returns the best allocation for an objective.
func bestFor(o schedule.Objective) Policy {
	return Policy{
		Name: "optimum-" + o.Name(), Family: Clairvoyant, Objective: o.Name(),
		Help: "the best division of the budget for " + o.Name() + " if every page's rate is known",
		make: func(s Setting, w *World) Scheduler {
			return &allocated{setting: s, allocate: func(living []int) []float64 { return optimal(o, w, living, s.Pace.Visits()) }}
		},
	}
}

// optimal returns the visits a day of living pages under an objective.
func optimal(o schedule.Objective, w *World, living []int, budget float64) []float64 {
	elements := make([]optimum.Element, len(living))
	for i, page := range living {
		p := &w.Pages[page]
		elements[i] = optimum.Element{Lambda: p.Rate, Weight: p.Weight, Host: p.Host}
	}
	return optimum.Allocate(o, elements, budget, w.HostLimits).Visits
}

func proportional(w *World, living []int, budget float64) []float64 {
	sum := 0.0
	for _, page := range living {
		sum += w.Pages[page].Rate
	}
	visits := make([]float64, len(living))
	for i, page := range living {
		visits[i] = share(budget*w.Pages[page].Rate, sum)
	}
	return visits
}

// allocated visits pages evenly at centrally decided rates, which are decided again, at
// most once a day, when pages have come or gone.
type allocated struct {
	setting  Setting
	allocate func(living []int) (visits []float64)
	pages    []allocatedPage
	stale    bool
}

type allocatedPage struct {
	lives    bool
	last     float64 // when it was fetched last
	interval float64 // days
}

func (a *allocated) Enter(page int, at float64) float64 {
	if a.pages == nil {
		a.pages = make([]allocatedPage, len(a.setting.Pages))
	}
	a.pages[page] = allocatedPage{lives: true, last: at, interval: a.setting.Pace.Interval()}
	a.stale = true
	return at + a.pages[page].interval
}

func (a *allocated) Visit(page int, look Look) float64 {
	p := &a.pages[page]
	p.last = look.At
	return p.last + p.interval
}

func (a *allocated) Leave(page int) {
	a.pages[page].lives = false
	a.stale = true
}

func (a *allocated) Every() float64 { return 1 }

func (a *allocated) Maintain(at float64, move func(page int, due float64)) {
	if !a.stale {
		return
	}
	a.stale = false
	var living []int
	for i := range a.pages {
		if a.pages[i].lives {
			living = append(living, i)
		}
	}
	for i, visits := range a.allocate(living) {
		p := &a.pages[living[i]]
		was := p.interval
		p.interval = math.Inf(1)
		if visits > 0 {
			p.interval = 1 / visits
		}
		switch {
		case at == 0:
			move(living[i], p.interval*phase(living[i]))
		case p.interval > 1.01*was || p.interval < 0.99*was:
			move(living[i], max(at, p.last+p.interval))
		}
	}
}
