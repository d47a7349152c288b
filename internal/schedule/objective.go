package schedule

import "recrawl/internal/schedule/gamma"

// Objective defines the purpose of the budget of visits: the penalty to minimise, of
// pages that differ from their copies. Penalties are summed over pages, each times the
// page's weight.
//
// An objective follows from c(s), the expected penalty per day, s days after the last
// visit. A visit τ days after the last one is worth
//
//	V(τ) = τ c(τ) − ∫₀^τ c(s) ds = ∫₀^τ s c′(s) ds
//
// times the page's weight. The best use of a budget is to visit each page when this
// worth reaches one threshold, the same for all pages (Olston & Pandey, "Recrawl
// scheduling based on information longevity", WWW 2008, eq. 4; for known rates it is
// the allocation of Cho & Garcia-Molina, "Effective page refresh policies for web
// crawlers", 2003). Visits are spaced evenly, which for the same number of visits is
// always better than random times.
//
// An Objective has no state and is safe for concurrent use.
type Objective interface {
	// Name returns the name, in a spec, of the policy for this objective.
	Name() string
	// About says in a line what the objective minimises.
	About() string
	// Penalty returns the mean penalty over time, for weight 1, of a page that changes
	// lambda times a day and gets a number of visits a day, both ≥ 0. Without visits it
	// may be +Inf.
	Penalty(lambda, visits float64) float64
	// Visits returns how many times a day (0 to +Inf) to visit a page of known rate and
	// weight, both ≥ 0, when a visit costs price ≥ 0: the frequency at which one more
	// visit a day would save exactly the price. It falls as the price rises. Applied to
	// all pages with one price, it minimises the sum of penalties for the total number
	// of visits.
	Visits(lambda, weight, price float64) float64
	// Merit returns the number r through which alone the weight affects Visits:
	// Visits(λ, w, μ) = λ Visits(1, r, μ). It is > 0 if rate and weight are.
	Merit(lambda, weight float64) float64
	// Ticks returns how many times a page of weight 1 that changes at an exact interval (in
	// days) should change between two visits, each of which comes right after a change: 1,
	// 2 …, and 0 if no visit is worth the threshold. It minimises the sum of the penalty
	// and the visits' price over time.
	Ticks(every, threshold float64) float64
	// Worth returns V for a page of weight 1, days (≥ 0) after its last visit, when
	// only a belief about its rate is known. It rises from 0 with the days.
	Worth(g gamma.Distribution, days float64) float64
}

// Objectives returns all objectives.
func Objectives() []Objective { return []Objective{Delay{}, Fresh{}, Age{}, Harmonic{}} }

// visitsFor returns the visits a day at which a page of rate lambda changes x times
// between two visits, on average.
func visitsFor(lambda, x float64) float64 {
	if lambda <= 0 {
		return 0
	}
	return lambda / x
}
