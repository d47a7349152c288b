package sim

// Scheduler is a crawler's rule of when pages are visited again. Times are days
// since the start of the world; the answers are when the page is due next, +Inf
// for never.
type Scheduler interface {
	// Enter says that a page has appeared and was fetched for the first time.
	Enter(page int, at float64) (due float64)
	// Visit says what a visit saw.
	Visit(page int, look Look) (due float64)
	// Leave says that a page was found to be gone. It is not visited any more.
	Leave(page int)
}

// Maintainer is a Scheduler that does something every now and then besides
// answering visits.
type Maintainer interface {
	Scheduler
	// Every is the time in days between two calls of Maintain.
	Every() float64
	// Maintain is called at the start, after the pages of the first moment have
	// entered, and then regularly. It may move pages that wait by calling move.
	Maintain(at float64, move func(page int, due float64))
}

// Look is what a visit saw.
type Look struct {
	At float64
	// Gap is the time since the last visit, or since the page entered.
	Gap float64
	// Changed says that the page differs from its last copy.
	Changed bool
}

// Setting is what a scheduler may know besides what its visits see.
type Setting struct {
	// Pages has what is known of each page without a visit.
	Pages []Known
	Hosts int
	// HostLimits has the most visits a day that each host takes, 0 for no limit;
	// nil is no limits at all.
	HostLimits []float64
	// Pace is the budget at this moment.
	Pace *Pace
	// Seed is for what a scheduler does at random.
	Seed uint64
	// Days is how long the world lasts.
	Days float64
	// Setup is how the product's policies are set up.
	Setup Setup
}

// Known is what is known of a page without a visit.
type Known struct {
	Host   int
	Weight float64
}

// Pace is how many visits a budget allows at this moment.
type Pace struct {
	budget Budget
	live   int
}

// Live is how many pages there are now.
func (p *Pace) Live() int { return p.live }

// Visits is how many visits a day there are now.
func (p *Pace) Visits() float64 { return p.budget.visits(p.live) }

// Interval is the time in days between two visits of a page if all pages that
// live now were visited equally often.
func (p *Pace) Interval() float64 { return float64(p.live) / p.Visits() }
