package search

// Asking holds a driver's functions for the parts of a query.
type Asking struct {
	// All finds pages that have all of the query's terms.
	All func(q Query) (Result, error)
	// Any finds pages that have any of some terms.
	Any func(some []Term) (Result, error)
	// Rare returns the query's terms that tell pages apart.
	Rare func() ([]Term, error)
}

// Answer asks for the pages that have all terms. Only if there is none, even before the
// requested part, it takes those that have some.
func Answer(q Query, terms []Term, ask Asking) (Result, error) {
	r, err := ask.All(q)
	if err != nil || len(r.Hits) > 0 || len(terms) == 1 {
		return r, err
	}
	if q.Offset > 0 {
		before := q
		before.Offset, before.Limit = 0, 1
		first, err := ask.All(before)
		if err != nil || len(first.Hits) > 0 {
			return r, err
		}
	}
	some, err := ask.Rare()
	if err != nil || len(some) == 0 {
		return r, err
	}
	r, err = ask.Any(some)
	r.Some = true
	return r, err
}
