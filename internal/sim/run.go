package sim

import (
	"cmp"
	"math"
	"slices"

	"recrawl/internal/crawl"
)

var nan = math.NaN()

// Mode says what becomes of a slot in which no page is due.
type Mode string

// The modes.
const (
	// WorkConserving gives the slot to the page that is due first anyway: visits may be
	// late or early, but no slot is idle.
	WorkConserving Mode = "work-conserving"
	// Capped loses the slot.
	Capped Mode = "capped"
	// Timers has no slots: a page is visited at the moment it is due, as by its own
	// timer. Keeping to the budget is left to the scheduler.
	Timers Mode = "timers"
)

// Options say how a scheduler is run.
type Options struct {
	Budget Budget
	Mode   Mode
	// Warmup is the time in days before the measured time starts; it ends with the
	// world.
	Warmup float64
	// Seed is for random choices of schedulers.
	Seed uint64
	// Setup configures the product's policies.
	Setup Setup
}

// Setup configures the product's policies.
type Setup struct {
	// Revisit are the settings of the crawl; nil is the defaults.
	Revisit *crawl.RevisitSpec
	// Every is the time in days between two rounds of maintenance, 0 for one a day,
	// and in short worlds for fifty in all.
	Every float64
}

// Result holds the results of a run.
type Result struct {
	Metrics
	Mode Mode
	// Freshness is the share of time with a fresh copy in each of the equal parts of the
	// world's time, warm-up included.
	Freshness []float64
	// PageVisits is the number of visits of each page in the measured time.
	PageVisits []int32
}

// parts is the length of Result.Freshness.
const parts = 72

// Run plays a policy against a world.
func Run(w *World, p Policy, o Options) Result {
	pace := &Pace{budget: o.Budget}
	setting := Setting{Hosts: w.Hosts, HostLimits: w.HostLimits, Pace: pace, Seed: o.Seed, Days: w.Days, Setup: o.Setup}
	for i := range w.Pages {
		setting.Pages = append(setting.Pages, Known{Host: w.Pages[i].Host, Weight: w.Pages[i].Weight})
	}
	if p.ownTime {
		o.Mode = Timers
	}
	r := &run{
		world: w, scheduler: p.scheduler(setting, w), mode: o.Mode, pace: pace, agenda: newAgenda(w),
		meter: newMeter(o.Warmup, w.Days, parts), tally: tally{peak: newPeaks(w.Hosts)},
		copied: make([]float64, len(w.Pages)), seen: make([]int32, len(w.Pages)), visits: make([]int32, len(w.Pages)),
	}
	r.play()
	return Result{
		Metrics: r.meter.sums.metrics(w.Days-o.Warmup, r.tally), Mode: o.Mode,
		Freshness: r.meter.line.freshness(), PageVisits: r.visits,
	}
}

// run is a world being crawled.
type run struct {
	world     *World
	scheduler Scheduler
	mode      Mode
	pace      *Pace
	agenda    *agenda
	meter     meter
	tally     tally
	slots     slots
	now       float64   // of the last event
	copied    []float64 // by page: when its copy was taken
	seen      []int32   // by page: number of changes that the copy has
	visits    []int32   // by page: visits in the measured time
}

// play goes from event to event: pages that appear and disappear, maintenance,
// visits. At one moment they come in this order.
func (r *run) play() {
	births, deaths := r.order(func(p *Page) float64 { return p.Birth }), r.order(func(p *Page) float64 { return p.Death })
	maintainer, maintained := r.scheduler.(Maintainer)
	maintenance := math.Inf(1)
	if maintained {
		maintenance = 0
	}
	for {
		birth, death := r.next(births, func(p *Page) float64 { return p.Birth }), r.next(deaths, func(p *Page) float64 { return p.Death })
		visit := r.nextVisit()
		t := min(birth, death, maintenance, visit)
		if t >= r.world.Days {
			break
		}
		r.now = t
		switch t {
		case birth:
			r.enter(births[0], t)
			births = births[1:]
		case death:
			r.leave(deaths[0], t)
			deaths = deaths[1:]
		case maintenance:
			maintainer.Maintain(t, r.agenda.set)
			maintenance += maintainer.Every()
		default:
			r.slot(t)
		}
	}
	for i := range r.world.Pages {
		if p := &r.world.Pages[i]; p.Death >= r.world.Days {
			r.hold(i, r.world.Days)
		}
	}
}

// order lists the pages by a time.
func (r *run) order(of func(*Page) float64) []int {
	pages := make([]int, len(r.world.Pages))
	for i := range pages {
		pages[i] = i
	}
	slices.SortStableFunc(pages, func(a, b int) int { return cmp.Compare(of(&r.world.Pages[a]), of(&r.world.Pages[b])) })
	return pages
}

func (r *run) next(pages []int, of func(*Page) float64) float64 {
	if len(pages) == 0 {
		return math.Inf(1)
	}
	return of(&r.world.Pages[pages[0]])
}

func (r *run) enter(page int, t float64) {
	r.copied[page] = t
	r.populate(1, t)
	r.agenda.set(page, max(t, r.scheduler.Enter(page, t)))
}

func (r *run) leave(page int, t float64) {
	r.hold(page, t)
	r.populate(-1, t)
	r.agenda.remove(page)
	r.scheduler.Leave(page)
}

// populate changes the number of living pages, and so the pace.
func (r *run) populate(by int, t float64) {
	r.pace.live += by
	rate := 0.0
	if r.pace.live > 0 {
		rate = r.pace.Visits()
	}
	r.slots.setRate(rate, t)
}

// nextVisit returns when the next visit may be made.
func (r *run) nextVisit() float64 {
	if r.mode == Timers {
		return r.agenda.opens(r.now)
	}
	return r.slots.next()
}

// slot makes the visit of one slot, or none.
func (r *run) slot(t float64) {
	r.slots.take(t)
	measured := t >= r.meter.from
	page, due, ok := r.choose(t)
	idle := !ok || r.mode != WorkConserving && due > t
	if measured && r.mode != Timers {
		r.tally.slot(idle)
	}
	if idle {
		return
	}
	look := Look{At: t, Gap: t - r.copied[page]}
	look.Changed = r.hold(page, t)
	r.agenda.rest(page, t)
	r.agenda.set(page, max(t+soonest, r.scheduler.Visit(page, look)))
	if measured {
		r.visits[page]++
		r.tally.visit(look.Changed, r.world.Pages[page].Host, t)
	}
}

// choose returns the page that is due first. Those that are due and that the scheduler
// would rather skip are due later.
func (r *run) choose(t float64) (page int, due float64, ok bool) {
	page, due, ok = r.agenda.first(t)
	selector, selects := r.scheduler.(Selector)
	for selects && ok && due <= t {
		visit, later := selector.Select(page, t)
		if visit {
			break
		}
		r.agenda.set(page, max(t+soonest, later))
		page, due, ok = r.agenda.first(t)
	}
	return page, due, ok
}

// soonest is the least time between two visits of a page, whatever a scheduler
// wants: a millisecond.
const soonest = 1. / 86400e3

// hold accounts for the time until t in which the page's copy was held, takes a
// new one, and reports whether it differs.
func (r *run) hold(page int, t float64) (changed bool) {
	p := &r.world.Pages[page]
	first := r.seen[page]
	last := first
	for int(last) < len(p.Changes) && p.Changes[last] <= t {
		last++
	}
	r.meter.span(p.Weight, r.copied[page], t, p.Changes[first:last])
	r.copied[page], r.seen[page] = t, last
	return last > first
}
