package schedule

import "recrawl/internal/schedule/gamma"

// Objective is what a budget of visits is spent for: which penalty of pages that
// differ from their copies is kept least. Penalties add up over pages, each
// times its weight.
//
// All of an objective follows from c(s), the rate at which penalty is expected to
// come in when the page was visited s days ago. A visit τ days after the last one
// is worth
//
//	V(τ) = τ c(τ) − ∫₀^τ c(s) ds = ∫₀^τ s c′(s) ds
//
// times the weight, and to visit when that reaches one threshold for all pages is
// the best use of a budget (Olston & Pandey, "Recrawl scheduling based on
// information longevity", WWW 2008, eq. 4; for known rates it is the allocation of
// Cho & Garcia-Molina, "Effective page refresh policies for web crawlers", 2003).
// Visits are spaced evenly: for the same number of visits that is always better
// than visits at random times.
//
// An Objective has no state and may be used by many goroutines.
type Objective interface {
	// Name is the name of the policy for this objective in a spec.
	Name() string
	// Penalty is the mean penalty, over time and per weight, of a page that changes
	// lambda times a day and is visited so often a day, both ≥ 0. It may be +Inf
	// without visits.
	Penalty(lambda, visits float64) float64
	// Visits is how often a day (0 to +Inf) a page of known rate and weight, both
	// ≥ 0, is visited when a visit costs price ≥ 0: where another visit a day would
	// save the price. It falls as the price rises. For one price and all pages it
	// keeps the sum of penalties least among all divisions of as many visits.
	Visits(lambda, weight, price float64) float64
	// Merit is the number r (> 0 if rate and weight are) through which alone the
	// weight bears on Visits: Visits(λ, w, μ) = λ Visits(1, r, μ).
	Merit(lambda, weight float64) float64
	// Worth is V for a page of weight 1 of whose rate only a belief is known, so many
	// days (≥ 0) after its last visit. It rises with the days, from 0.
	Worth(g gamma.Distribution, days float64) float64
}

// Objectives lists all objectives.
func Objectives() []Objective { return []Objective{Delay{}, Fresh{}, Age{}, Harmonic{}} }

// visitsFor is how often a page of rate lambda is visited when x changes are to lie
// between two visits on average.
func visitsFor(lambda, x float64) float64 {
	if lambda <= 0 {
		return 0
	}
	return lambda / x
}
