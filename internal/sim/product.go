package sim

import (
	"math"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
)

// ours are the product's policies.
var ours = []Policy{
	budgeted(schedule.Delay{}, "changes wait least: visits with the square root of rate and weight (Sizov)"),
	budgeted(schedule.Fresh{}, "copies are up to date longest (Cho & Garcia-Molina; Olston & Pandey)"),
	budgeted(schedule.Age{}, "copies are least old (Cho & Garcia-Molina)"),
	budgeted(schedule.Harmonic{}, "between fresh and sqrt (Kolobov et al.)"),
	rule(schedule.FRMax{}, "the rule of Bouras et al., with rounds of a day"),
	rule(schedule.DeltaT{}, "the rule of Singhal et al., from a day on"),
	rule(schedule.Fixed{}, "every page once a day, jittered"),
}

func budgeted(o schedule.Objective, help string) Policy {
	return Policy{Name: o.Name(), Family: Ours, Objective: o.Name(), Help: help, make: func(s Setting, _ *World) Scheduler {
		return newProduct(schedule.Budgeted{Objective: o}, s)
	}}
}

func rule(p schedule.Policy, help string) Policy {
	return Policy{Name: p.Name(), Family: Ours, Help: help, make: func(s Setting, _ *World) Scheduler {
		return newProduct(p, s)
	}}
}

// product runs a policy of the product with the product's own code: what
// PlanRevisit does after a visit, and what maintenance does now and then.
type product struct {
	policy     schedule.Policy
	setting    Setting
	parameters schedule.Parameters // without what is the host's or the page's own
	pages      []productPage
	upkeep     *upkeep // nil for a rule, which shares nothing
	turns      int     // of maintenance
}

// lookEvery is how many turns of maintenance there are between two looks at all
// sleepers: looking at each of them takes longer than all the rest.
const lookEvery = 7

// productPage is what the store keeps of a page.
type productPage struct {
	belief schedule.Belief
	visit  int     // number of the last visit, 0 for a page that does not live
	at     float64 // when that was
	due    float64

	believed schedule.Gamma // the belief under a prior
	under    schedule.Gamma // that prior, zero if the belief is newer
}

// gamma is what is believed of the page's rate under a prior. That takes a while,
// most pages sleep and priors move slowly: what was believed under one that differs
// by less than a hundredth will do.
func (p *productPage) gamma(prior schedule.Gamma) schedule.Gamma {
	like := func(x, y float64) bool { return math.Abs(x-y) <= 0.01*y }
	if !like(p.under.A, prior.A) || !like(p.under.B, prior.B) {
		p.believed, p.under = p.belief.Gamma(prior), prior
	}
	return p.believed
}

func newProduct(policy schedule.Policy, s Setting) *product {
	p := &product{policy: policy, setting: s, pages: make([]productPage, len(s.Pages))}
	p.parameters = schedule.ParametersOf(s.revisit())
	if b, ok := policy.(schedule.Budgeted); ok {
		p.upkeep = newUpkeep(b.Objective, s)
	}
	return p
}

// revisit is the crawl's own spec if there is one, and the default one otherwise.
func (s *Setting) revisit() crawl.RevisitSpec {
	if s.Setup.Revisit != nil {
		return *s.Setup.Revisit
	}
	return crawl.DefaultSpec().Revisit
}

// Enter implements Scheduler.
func (p *product) Enter(page int, at float64) float64 {
	return p.observe(page, at, schedule.Observation{Outcome: crawl.OutcomeNew})
}

// Visit implements Scheduler.
func (p *product) Visit(page int, look Look) float64 {
	seen := schedule.Observation{Outcome: crawl.OutcomeUnchanged, Gap: duration(look.Gap)}
	if look.Changed {
		seen.Outcome = crawl.OutcomeChanged
	}
	return p.observe(page, look.At, seen)
}

// Leave implements Scheduler.
func (p *product) Leave(page int) { p.pages[page] = productPage{} }

func (p *product) observe(page int, at float64, seen schedule.Observation) float64 {
	known := &p.pages[page]
	known.visit++
	seen.At = epoch.Add(duration(at))
	plan := schedule.AfterVisit(p.policy, p.page(page), seen, p.parametersOf(page))
	known.belief, known.at, known.due = plan.Belief, at, at+days(plan.Interval)
	known.under = schedule.Gamma{}
	return known.due
}

func (p *product) page(page int) schedule.Page {
	known := &p.pages[page]
	return schedule.Page{
		// Pages of different runs have different jitter.
		ID:    int64(page) + int64(p.setting.Seed)*1_000_003,
		State: crawl.Active, Visit: known.visit, Belief: known.belief,
	}
}

// parametersOf are those of a page at this moment.
func (p *product) parametersOf(page int) schedule.Parameters {
	with := p.parameters
	if p.upkeep == nil {
		return with
	}
	with.Weight = p.setting.Pages[page].Weight
	p.upkeep.fill(&with, p.setting.Pages[page].Host)
	return with
}

// Every implements Maintainer. The product has a turn of maintenance every ten
// minutes; pages that sleep for days are served as well by one a day.
func (p *product) Every() float64 {
	if p.setting.Setup.Every > 0 {
		return p.setting.Setup.Every
	}
	return min(1, p.setting.Days/50)
}

// Maintain implements Maintainer: as maintenance does, it takes stock of the
// beliefs, moves priors, threshold and prices, and plans the sleepers again that
// the moves concern most.
func (p *product) Maintain(at float64, move func(page int, due float64)) {
	if p.upkeep == nil {
		return
	}
	p.upkeep.turn(p)
	p.turns++
	if p.turns%lookEvery == 0 {
		visits := p.setting.Pace.Visits() * p.Every() * lookEvery
		p.replan(schedule.Reschedule(p.sleepers(at), visits), at, move)
	}
}

// sleepers are all living pages.
func (p *product) sleepers(at float64) []schedule.Sleeper {
	sleepers := make([]schedule.Sleeper, 0, p.setting.Pace.Live())
	for i := range p.pages {
		if known := &p.pages[i]; known.visit > 0 {
			sleepers = append(sleepers, schedule.Sleeper{
				ID: int64(i), Elapsed: duration(at - known.at), Planned: duration(known.due - known.at),
				Wanted: schedule.Replan(p.policy, p.page(i), p.parametersOf(i)).Interval,
			})
		}
	}
	return sleepers
}

func (p *product) replan(ids []int64, at float64, move func(page int, due float64)) {
	for _, id := range ids {
		known := &p.pages[id]
		known.due = known.at + days(schedule.Replan(p.policy, p.page(int(id)), p.parametersOf(int(id))).Interval)
		move(int(id), max(at, known.due))
	}
}
