// Package optimum divides a budget of visits among pages whose rates of change are all
// known, so that an objective's penalty is least. No crawler knows the rates. The division
// is the best that any scheduler could do, and the simulator compares schedulers with it.
//
// [Allocate] solves the problem exactly. A [Histogram] gives an approximate price of a
// budget, from sums that do not grow with the pages; Allocate starts from it.
package optimum

import (
	"math"

	"recrawl/internal/schedule"
	"recrawl/internal/schedule/gamma"
)

// Element is a page of known rate (the term is from Cho & Garcia-Molina 2003).
type Element struct {
	Lambda float64 // changes a day, ≥ 0
	Weight float64 // importance, ≥ 0
	Limit  float64 // most visits a day; 0 is no limit
	Host   int     // index of its host's limit, if hosts have limits
}

// Allocation is the division of a budget of visits.
type Allocation struct {
	// Visits is the number of visits a day of each element.
	Visits []float64
	// Price is the Lagrange multiplier of the budget: what one more visit a day to an
	// element would save. It is 0 if limits keep the budget from being used up, and
	// +Inf without a budget.
	Price float64
	// HostPrices has the price at each host with a limit: Price, or more if the limit
	// binds.
	HostPrices []float64
}

// Allocate divides a budget of visits a day among elements so that the sum of their
// penalties, each times its weight, is least. No element gets more than its Limit, and
// the elements of a host together get at most hostLimits[Host] visits a day, where 0
// means no limit; a nil hostLimits means none at all. The budget is used up unless
// limits forbid it or no element has both rate and weight. Sums are met to a relative
// error of 1e-11.
//
// Penalties are convex, so the Karush-Kuhn-Tucker conditions decide: there is one price
// for all elements, and a higher one for the elements of a host that would get more
// than its limit. At a common price a host uses what it demands or its limit, whichever
// is less. The sum of that falls as the price rises, and the price is where it meets
// the budget. (The problem is that of Kolobov, Lubetzky, Peres and Horvitz, "Optimal
// freshness crawl under politeness constraints", SIGIR 2019; the solution is our own.)
func Allocate(o schedule.Objective, elements []Element, budget float64, hostLimits []float64) Allocation {
	a := Allocation{Visits: make([]float64, len(elements)), Price: math.Inf(1), HostPrices: make([]float64, len(hostLimits))}
	sites := divide(o, elements, hostLimits)
	if budget > 0 {
		a.Price = commonPrice(o, elements, sites, budget)
	}
	var free []*site // the hosts below their limits
	rest := budget   // the part left to them
	for i := range sites {
		s := &sites[i]
		s.price = a.Price
		if s.demand(s.price) <= s.limit || s.demand(s.price*above) <= s.limit {
			free = append(free, s)
			continue
		}
		s.price = s.ownPrice(a.Price)
		share([]*site{s}, s.limit, a.Visits)
		rest -= s.limit
	}
	share(free, rest, a.Visits)
	for i := range a.HostPrices {
		a.HostPrices[i] = sites[i].price
	}
	return a
}

// site is the elements of one host, or of all hosts if none has a limit.
type site struct {
	objective schedule.Objective
	elements  []Element
	members   []int   // of elements
	limit     float64 // +Inf for none
	price     float64
}

func divide(o schedule.Objective, elements []Element, limits []float64) []site {
	sites := make([]site, max(1, len(limits)))
	for i := range sites {
		sites[i] = site{objective: o, elements: elements, limit: math.Inf(1)}
		if i < len(limits) && limits[i] > 0 {
			sites[i].limit = limits[i]
		}
	}
	for i, e := range elements {
		host := 0
		if len(limits) > 0 {
			host = e.Host
		}
		sites[host].members = append(sites[host].members, i)
	}
	return sites
}

// visits returns the visits a day of an element at a price.
func (s *site) visits(i int, price float64) float64 {
	e := &s.elements[i]
	visits := s.objective.Visits(e.Lambda, e.Weight, price)
	if e.Limit > 0 {
		visits = min(visits, e.Limit)
	}
	return visits
}

// demand returns the visits a day of all elements at a price, without the host's limit.
func (s *site) demand(price float64) float64 {
	sum := 0.0
	for _, i := range s.members {
		sum += s.visits(i, price)
	}
	return sum
}

// ownPrice returns the price at which a host that demands more than its limit at the
// common price demands its limit.
func (s *site) ownPrice(common float64) float64 {
	if common == 0 {
		common = 1 // any start will do
	}
	return priceOf(s.demand, s.limit, common)
}

// above is the factor to the next distinguishable price.
const above = 1 + 1e-12

// share writes the visits of the elements of sites with one price. Together the sites
// demand the target at that price, up to rounding.
//
// Where a page is given up, its visits fall from λ/37 to none between one price and the
// next float. What it gets then follows only from the rest that the others leave. If the
// demand exceeds the target, visits are therefore mixed from those at the price, as far as
// limits allow, and those just above it.
func share(sites []*site, target float64, visits []float64) {
	demand, total := make([]float64, len(sites)), 0.0
	for i, s := range sites {
		for _, m := range s.members {
			visits[m] = s.visits(m, s.price)
			demand[i] += visits[m]
		}
		total += demand[i]
	}
	if total <= target*(1+1e-11) {
		return
	}
	least, most, rest := make([]float64, len(sites)), 0.0, target
	for i, s := range sites {
		least[i] = s.demand(s.price * above)
		most += min(demand[i], s.limit) - least[i]
		rest -= least[i]
	}
	for i, s := range sites {
		portion := 0.0
		if more := min(demand[i], s.limit) - least[i]; more > 0 && rest > 0 {
			portion = rest / most * more / (demand[i] - least[i])
		}
		for _, m := range s.members {
			next := s.visits(m, s.price*above)
			visits[m] = next + portion*(visits[m]-next)
		}
	}
}

// commonPrice returns the price at which all hosts use up the budget, 0 if they cannot.
func commonPrice(o schedule.Objective, elements []Element, sites []site, budget float64) float64 {
	use := func(price float64) float64 {
		sum := 0.0
		for i := range sites {
			sum += min(sites[i].limit, sites[i].demand(price))
		}
		return sum
	}
	if use(0) <= budget {
		return 0
	}
	// Without limits the histogram gives nearly the right price; limits lower it.
	h := NewHistogram(o)
	for _, e := range elements {
		h.Add(e.Lambda, e.Weight)
	}
	return priceOf(use, budget, h.Price(budget))
}

// priceOf returns the highest price at which a demand that falls with the price is not
// below a target > 0, to 1e-12 of the demand or 1e-13 of the price. The search begins
// at start.
func priceOf(demand func(price float64) float64, target, start float64) float64 {
	// In logarithms demand is nearly a line.
	excess := func(u float64) float64 {
		y := math.Log(demand(math.Exp(u)) / target)
		if math.Abs(y) < 1e-12 {
			return 0
		}
		return y
	}
	// Demand falls with the square root of the price or faster, mostly: a step of
	// twice the excess gets to the other side.
	from := gamma.PointOn(excess, math.Log(start))
	step := 1.0
	if y := math.Abs(from.Y); y < 10 {
		step = 1e-9 + 2.1*y
	}
	u, _ := gamma.Solve(excess, false, from, step, 1400, 1e-13)
	return math.Exp(u)
}
