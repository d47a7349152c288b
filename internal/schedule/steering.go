package schedule

import "recrawl/internal/schedule/gamma"

// Steering holds the values that all pages of a crawl share. Each round of maintenance
// moves it, and every plan reads it. The zero Steering is that of a crawl before its
// first round of maintenance.
type Steering struct {
	// Policy is the name of the objective in whose unit Threshold and the hosts' prices
	// are. A crawl that changes its policy starts again.
	Policy string
	// Threshold is θ; 0 means none yet.
	Threshold float64
	// Prior is the belief about an unknown page of the crawl. Its zero value stands
	// for FirstPrior.
	Prior gamma.Distribution
	// Steep says how steeply rates of change fall with the age of pages; see [Clock].
	Steep float64
	// Interval is the number of days available for each visit of a page: pages that share
	// the budget divided by it.
	Interval float64
	// Stretch is by how much intervals of policies that share no budget are longer than these
	// policies want, because the engine cannot make all their visits; 0 if they are not.
	Stretch float64
}

// HostSteering holds the additional values that the pages of one host share. The zero
// HostSteering is that of a host without any.
type HostSteering struct {
	// Price is the threshold of the host's pages where it is above the crawl's.
	Price float64
	// Prior is the belief about a page of this host; the zero Gamma is the crawl's.
	Prior gamma.Distribution
	// Planned is the visits a day planned for the host's pages. Limit is how many the
	// host can take, 0 if none was ever requested for it.
	Planned, Limit float64
	// Site describes changes of the whole site.
	Site Site
}

// Steer returns the parameters for a page of the group: the group's own, with what its
// crawl and its host share, and with the page's weight (0 counts as 1) multiplied into
// that of its rule.
func (g Group) Steer(s Steering, h HostSteering, weight float64) Parameters {
	p := g.Parameters
	if weight > 0 {
		p.Weight = p.weight() * weight
	}
	p.Prior, p.Steep, p.Site = h.priorOf(s), s.Steep, h.Site
	if s.Policy == g.Policy.Name() {
		p.Threshold, p.HostPrice = s.Threshold, h.Price
		if !h.tight() {
			p.Interval = s.Interval
		}
	}
	if _, budgeted := g.Policy.(Budgeted); !budgeted {
		p.Stretch = s.Stretch
	}
	return p
}

func (h HostSteering) priorOf(s Steering) gamma.Distribution {
	if h.Prior != (gamma.Distribution{}) {
		return h.Prior
	}
	return s.Prior
}

// tight reports whether a host is, or may soon be, at its limit. The pages of such a
// host are tallied separately.
func (h HostSteering) tight() bool {
	return h.Price > 0 || h.Limit > 0 && h.Planned > h.Limit/2
}

// near reports whether two host steerings differ too little to affect a plan, this crawl's or
// another's: what is planned for a host with a limit is subtracted from what others may plan.
func (h HostSteering) near(o HostSteering) bool {
	return h.Site.near(o.Site) && like(h.Price, o.Price) && like(h.Prior.A, o.Prior.A) && like(h.Prior.B, o.Prior.B) &&
		h.tight() == o.tight() && like(h.Limit, o.Limit) && (!h.limited() && !o.limited() || like(h.Planned, o.Planned))
}

// limited reports whether the host's limit counts: it is known, or the host has a price.
func (h HostSteering) limited() bool { return h.Limit > 0 || h.Price > 0 }

func like(x, y float64) bool {
	const little = 0.01
	return x == y || x > 0 && y > 0 && max(x, y) <= min(x, y)*(1+little)
}
