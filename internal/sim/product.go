package sim

import (
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
)

// ours are the product's policies.
var ours = productPolicies()

func productPolicies() []Policy {
	policies := make([]Policy, 0, len(schedule.Policies()))
	for _, p := range schedule.Policies() {
		policy := Policy{Name: p.Name(), Family: Ours, Help: p.About(), make: func(s Setting, _ *World) Scheduler {
			return newProduct(p, s)
		}}
		if b, ok := p.(schedule.Budgeted); ok {
			policy.Objective = b.Objective.Name()
		}
		policies = append(policies, policy)
		if p.Name() == (schedule.FRMax{}).Name() {
			policies = append(policies, Policy{
				Name: "frmax-selective", Family: Ours, make: newSelective,
				Help: "the same with its selective rule; every page links to the ten after it on its host",
			})
		}
	}
	return policies
}

// product runs a policy of the product with the product's own code: that of PlanRevisit
// after a visit, and that of maintenance now and then.
type product struct {
	policy      schedule.Policy
	setting     Setting
	parameters  schedule.Parameters // without those of the host or the page
	pages       []productPage
	maintenance *maintenance // nil for a rule, which shares nothing
	rounds      int          // of maintenance
	maintained  time.Time    // when the last was
}

// productPage is a page's state in the store.
type productPage struct {
	belief schedule.Belief
	visit  int     // number of the last visit, 0 for a page that does not live
	at     float64 // when that was
	due    float64
}

func newProduct(policy schedule.Policy, s Setting) *product {
	p := &product{policy: policy, setting: s, pages: make([]productPage, len(s.Pages))}
	p.parameters = schedule.ParametersOf(s.revisit())
	if b, ok := policy.(schedule.Budgeted); ok {
		p.maintenance = newMaintenance(b.Objective, s)
	}
	return p
}

// revisit returns the crawl's own spec if there is one, and the default one otherwise.
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
	return p.observe(page, look.At, p.observation(page, look))
}

// observation returns a look as the product's policies see it.
func (p *product) observation(page int, look Look) schedule.Observation {
	seen := schedule.Observation{Outcome: crawl.OutcomeUnchanged, Gap: duration(look.Gap), Late: p.late(page, look.At)}
	if look.Changed {
		seen.Outcome = crawl.OutcomeChanged
	}
	return seen
}

// late returns how long a visit waited for its host. Slots, for which all pages wait, stand
// for the budget, which the product keeps by its threshold alone; that wait does not count.
func (p *product) late(page int, at float64) time.Duration {
	host := p.setting.Pages[page].Host
	if p.setting.HostLimits == nil || p.setting.HostLimits[host] == 0 {
		return 0
	}
	return duration(max(0, at-p.pages[page].due))
}

// Leave implements Scheduler.
func (p *product) Leave(page int) { p.pages[page] = productPage{} }

func (p *product) observe(page int, at float64, seen schedule.Observation) float64 {
	known := &p.pages[page]
	known.visit++
	seen.At = epoch.Add(duration(at))
	plan := schedule.AfterVisit(p.policy, p.page(page), seen, p.parametersOf(page))
	known.belief, known.at, known.due = plan.Belief, at, at+days(plan.Interval)
	return known.due
}

func (p *product) page(page int) schedule.Page {
	known := &p.pages[page]
	return schedule.Page{
		ID: p.firstID() + int64(page), State: crawl.Active, Visit: known.visit, Belief: known.belief,
	}
}

// parametersOf returns the present parameters of a page.
func (p *product) parametersOf(page int) schedule.Parameters {
	if p.maintenance == nil {
		return p.parameters
	}
	return p.maintenance.parameters(p.setting.Pages[page])
}

// Every implements Maintainer. The product has a round of maintenance every ten
// minutes; pages that sleep for days are served as well by one a day.
func (p *product) Every() float64 {
	if p.setting.Setup.Every > 0 {
		return p.setting.Setup.Every
	}
	return min(1, p.setting.Days/50)
}

// Maintain implements Maintainer: as maintenance does, it tallies the beliefs, moves
// priors, threshold and prices, and plans again the sleepers that are most affected.
func (p *product) Maintain(at float64, move func(page int, due float64)) {
	if p.maintenance == nil {
		return
	}
	now := epoch.Add(duration(at))
	p.maintenance.round(p.entries, schedule.Period{From: p.maintained, To: now})
	p.maintained = now
	p.rounds++
	if p.rounds%schedule.LookEvery != 0 {
		return
	}
	visits := p.setting.Pace.Visits() * p.Every() * schedule.LookEvery
	for _, m := range p.maintenance.moves(p.entries, now, visits) {
		page := int(m.ID - p.firstID())
		p.pages[page].due = days(m.Due.Sub(epoch))
		move(page, max(at, p.pages[page].due))
	}
}

// entries yields all living pages as a store has them.
func (p *product) entries(each func(schedule.Entry)) {
	for i := range p.pages {
		if known := &p.pages[i]; known.visit > 0 {
			each(schedule.Entry{
				Page: p.page(i), Host: int64(p.setting.Pages[i].Host), Weight: p.setting.Pages[i].Weight,
				At: epoch.Add(duration(known.at)), Due: epoch.Add(duration(known.due)),
			})
		}
	}
}

// firstID returns the id of page 0. Pages of different runs have different jitter.
func (p *product) firstID() int64 { return int64(p.setting.Seed) * 1_000_003 }
