package schedule

import "recrawl/internal/crawl"

// Allowance is how many visits a day may be planned.
type Allowance struct {
	// Budget is that of the crawl.
	Budget float64
	// Apart says that only the pages that share the budget count in it, as in a crawl whose spec
	// has none. All other visits come in addition.
	Apart bool
	// Engine is the crawl's share of the visits that the engine makes; 0 means no bound.
	Engine float64
	// Hosts has what the busy hosts leave to it, by id.
	Hosts map[int64]float64
}

// AllowanceOf returns what a crawl may plan for a number of pages that share its budget:
// the budget, or one visit per page and default_interval if it has none. r must be valid.
func AllowanceOf(r crawl.RevisitSpec, pages int) Allowance {
	budget, err := crawl.ParseBudget(r.Budget)
	if err == nil {
		return Allowance{Budget: budget}
	}
	return Allowance{Budget: float64(pages) / days(r.DefaultInterval.Std()), Apart: true}
}

// inAll returns how many visits a day may be planned in all, those that no threshold moves
// included, if the engine makes them.
func (s *Tally) inAll(may Allowance) float64 {
	if may.Apart {
		return may.Budget + s.others
	}
	return may.Budget
}

// Asked returns how many visits a day the crawl wants to make, if the engine can make them:
// its budget, or what policies without one want. A budget beyond what the pages can use at their
// shortest intervals asks for no more than that: the engine is shared in proportion to what
// crawls ask for.
func (s *Tally) Asked(may Allowance) float64 {
	_, budgeted := s.rules.groups[0].Policy.(Budgeted)
	switch {
	case budgeted && may.Apart:
		return may.Budget + s.wanted + s.others - s.ruled
	case budgeted:
		return max(min(may.Budget, s.most+s.others), s.wanted)
	}
	return s.wanted + s.others - s.ruled
}

// stretch returns by how much intervals of policies without a budget are longer than wanted,
// so that all visits fit into what the engine leaves; 0 if they need not be. Intervals that are
// longer than max_interval then stay at that, which frees a little less than is wanted.
func (s *Tally) stretch(engine float64) float64 {
	if engine <= 0 {
		return 0
	}
	if by := s.wanted / max(engine-(s.others-s.ruled), engine*leastShare); by > 1 {
		return by
	}
	return 0
}

const (
	// leastShare is the share of a budget that stays for the pages that share it, even if
	// other rules plan more than all of it.
	leastShare = 0.05
	// mostRetried is the share of a budget, after policies without one, that back-offs and
	// probes can take from the pages that share it. A site in trouble answers all its visits
	// with errors for a day or two. Each of these pages is soon asked again, and for a moment
	// that looks like a multiple of the budget. It is over before a smaller budget for all
	// other sites could make up for it.
	mostRetried = 0.5
)

// left returns how many visits a day a budget in all leaves for the pages that share it.
func (s *Tally) left(may Allowance, budget float64) float64 {
	if may.Apart {
		return max(budget-s.others, min(budget, may.Budget)*leastShare)
	}
	retried := min(s.others-s.ruled, mostRetried*max(budget-s.ruled, 0))
	return max(budget-s.ruled-retried, budget*leastShare)
}
