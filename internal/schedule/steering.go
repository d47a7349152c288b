package schedule

import "recrawl/internal/schedule/gamma"

// Steering is what the pages of a crawl share, moved by maintenance and read by
// every plan. The zero Steering is that of a crawl without a turn of maintenance.
type Steering struct {
	// Policy is the objective whose unit Threshold and the hosts' prices have. A crawl
	// that changes its policy starts anew.
	Policy string
	// Threshold is θ; 0 is none yet.
	Threshold float64
	// Prior is the belief about a page of the crawl that nothing is known of; the
	// zero Gamma is FirstPrior.
	Prior gamma.Distribution
	// Steep says how steeply rates of change fall with the age of pages; see [Clock].
	Steep float64
	// Interval is how many days there were for each visit of a page: pages by budget.
	Interval float64
}

// HostSteering is what the pages of a host share besides. The zero HostSteering is
// that of a host that needs none.
type HostSteering struct {
	// Price is the threshold of the host's pages where it is above the crawl's.
	Price float64
	// Prior is the belief about a page of this host; the zero Gamma is the crawl's.
	Prior gamma.Distribution
	// Planned is how many visits a day the host's pages had planned; Limit is how many
	// it can take, 0 if nobody had to ask.
	Planned, Limit float64
	// Site is what else the pages have in common.
	Site Site
}

// Steer gives a group's parameters what its crawl and host share, and the weight
// that a page has besides that of its rule; 0 is 1.
func (g Group) Steer(s Steering, h HostSteering, weight float64) Parameters {
	p := g.Parameters
	if weight > 0 {
		p.Weight = p.weight() * weight
	}
	p.Prior, p.Steep, p.Site = h.priorOf(s), s.Steep, h.Site
	if s.Policy == g.Policy.Name() {
		p.Threshold, p.HostPrice = s.Threshold, h.Price
	}
	return p
}

func (h HostSteering) priorOf(s Steering) gamma.Distribution {
	if h.Prior != (gamma.Distribution{}) {
		return h.Prior
	}
	return s.Prior
}

// tight reports whether a host is, or may soon be, at its limit, so that its pages
// are counted apart.
func (h HostSteering) tight() bool {
	return h.Price > 0 || h.Limit > 0 && h.Planned > h.Limit/2
}

// near reports whether two hosts' steerings differ so little that it makes no
// difference to a plan.
func (h HostSteering) near(o HostSteering) bool {
	return h.Site.near(o.Site) && like(h.Price, o.Price) && like(h.Prior.A, o.Prior.A) && like(h.Prior.B, o.Prior.B) &&
		(h.tight() == o.tight() || like(h.Planned, o.Planned))
}

func like(x, y float64) bool {
	const little = 0.01
	return x == y || x > 0 && y > 0 && max(x, y) <= min(x, y)*(1+little)
}
