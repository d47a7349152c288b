package sim

import "recrawl/internal/schedule"

// upkeep is what maintenance keeps of a crawl and its hosts, for policies that
// share a budget.
type upkeep struct {
	objective schedule.Objective
	setting   Setting
	first     schedule.Gamma // the prior of a crawl that nothing is known of
	prior     schedule.Gamma // of the crawl
	threshold float64
	hosts     []hostUpkeep
}

type hostUpkeep struct {
	prior schedule.Gamma
	price float64
	// since the last turn
	census     schedule.Census
	population schedule.Population
}

func newUpkeep(o schedule.Objective, s Setting) *upkeep {
	u := &upkeep{objective: o, setting: s, hosts: make([]hostUpkeep, s.Hosts)}
	u.first = schedule.FirstPrior(s.revisit().DefaultInterval.Std())
	u.prior = u.first
	for i := range u.hosts {
		u.hosts[i].prior = u.first
	}
	return u
}

// fill gives a page its host's prior and price, and the threshold.
func (u *upkeep) fill(p *schedule.Parameters, host int) {
	if u.threshold == 0 {
		u.threshold = schedule.FirstThreshold(u.objective, u.prior, float64(u.setting.Pace.Live()), u.setting.Pace.Visits())
	}
	p.Threshold, p.HostPrice, p.Prior = u.threshold, u.hosts[host].price, u.hosts[host].prior
}

// turn is one turn of maintenance: first what is believed of the pages, then what
// a visit must be worth for their visits together to meet the budget, then the
// same for each host with a limit.
func (u *upkeep) turn(p *product) {
	u.takeStock(p)
	limits := p.parameters
	low, high := limits.Floor(), limits.Max
	planned := func(host int, threshold float64) float64 {
		h := &u.hosts[host]
		return h.census.Planned(u.objective, threshold, low, high)
	}
	// Hosts without a price of their own are asked together.
	var common schedule.Census
	var priced []int
	for i := range u.hosts {
		if u.hosts[i].price > u.threshold {
			priced = append(priced, i)
		} else {
			common.Merge(&u.hosts[i].census)
		}
	}
	u.threshold = schedule.MoveThreshold(u.threshold, u.setting.Pace.Visits(), func(threshold float64) float64 {
		sum := common.Planned(u.objective, threshold, low, high)
		for _, i := range priced {
			sum += planned(i, max(threshold, u.hosts[i].price))
		}
		return sum
	}).To
	for i, limit := range u.setting.HostLimits {
		if limit > 0 {
			u.hosts[i].price = schedule.MoveHostPrice(u.hosts[i].price, u.threshold, limit, func(threshold float64) float64 {
				return planned(i, threshold)
			}).To
		}
	}
}

// takeStock counts what is believed of the pages by their hosts, and fits the crawl's
// prior to its pages and each host's to the host's.
func (u *upkeep) takeStock(p *product) {
	for i := range u.hosts {
		u.hosts[i].population, u.hosts[i].census = schedule.Population{}, schedule.Census{}
	}
	for i := range p.pages {
		page := &p.pages[i]
		if page.visit == 0 {
			continue
		}
		known := u.setting.Pages[i]
		h := &u.hosts[known.Host]
		belief := page.gamma(h.prior)
		h.census.Add(belief, known.Weight)
		if page.visit > 1 {
			h.population.Add(belief)
		}
	}
	var all schedule.Population
	for i := range u.hosts {
		all.Merge(u.hosts[i].population)
	}
	u.prior = all.Prior(u.first)
	for i := range u.hosts {
		u.hosts[i].prior = u.hosts[i].population.Prior(u.prior)
	}
}
