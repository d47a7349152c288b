package sim

// Scheduler is a crawler's rule for when pages are visited again. Times are days since the
// start of the world; the results are the next due time of the page, +Inf for never.
type Scheduler interface {
	// Enter says that a page has appeared and was fetched for the first time.
	Enter(page int, at float64) (due float64)
	// Visit reports a visit's findings.
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

// Look holds a visit's findings.
type Look struct {
	At float64
	// Gap is the time since the last visit, or since the page entered.
	Gap float64
	// Changed says that the page differs from its last copy.
	Changed bool
}

// Setting holds what a scheduler may know besides its visits' findings.
type Setting struct {
	// Pages has what is known of each page without a visit.
	Pages []Known
	Hosts int
	// HostLimits has the most visits a day that each host takes, 0 for no limit;
	// nil is no limits at all.
	HostLimits []float64
	// Pace is the budget at this moment.
	Pace *Pace
	// Seed is for a scheduler's random choices.
	Seed uint64
	// Days is how long the world lasts.
	Days float64
	// Setup configures the product's policies.
	Setup Setup
}

// Known holds the facts about a page that are known without a visit.
type Known struct {
	Host   int
	Weight float64
}

// Pace is the number of visits that a budget allows at this moment.
type Pace struct {
	budget Budget
	live   int
}

// Live returns the present number of pages.
func (p *Pace) Live() int { return p.live }

// Visits returns the present number of visits a day.
func (p *Pace) Visits() float64 { return p.budget.visits(p.live) }

// Interval returns the time in days between two visits of a page if all pages that live now
// were visited equally often.
func (p *Pace) Interval() float64 { return float64(p.live) / p.Visits() }
