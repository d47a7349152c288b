package polite

import (
	"cmp"

	"recrawl/internal/crawl"
)

// Candidate is a waiter that may be granted a permit now.
type Candidate struct {
	Crawl   int64
	Class   crawl.Class
	Rank    float64 // higher comes first
	Arrived int64   // lower has waited longer
	// Served orders the crawls by when they last had a grant on this host; 0 is
	// never.
	Served int64
	// Tie decides between candidates that are otherwise equal; lower comes first.
	Tie int64
}

// Choice is the waiter that Choose picked.
type Choice struct {
	// Index of the candidate, -1 if there was none.
	Index int
	// Aged: the grant went to the waiter that has waited longest although its class or
	// rank did not entitle it to the grant.
	Aged bool
}

// Choose picks the waiter that gets the next permit: the lowest class; within a
// class the crawl least recently served; within the crawl the highest rank, then
// the oldest. Two shares come before that order. When a first visit is due,
// revisits let it pass. When the waiter that has waited longest is due, it is its
// turn, whatever its class. An aged grant that nobody needs, because the oldest is
// first by the order too, is kept for later; so is one whose owner is still on its
// way: eldest is when the waiter that has waited longest of the whole line arrived,
// 0 if that is one of the candidates.
func Choose(candidates []Candidate, l Ledger, eldest int64) Choice {
	if len(candidates) == 0 {
		return Choice{Index: -1}
	}
	order := lineOrder{firstDue: l.FirstIn() == 0}
	best, oldest := 0, 0
	for i := range candidates {
		if order.compare(candidates[i], candidates[best]) < 0 {
			best = i
		}
		if byAge(candidates[i], candidates[oldest]) < 0 {
			oldest = i
		}
	}
	awaited := eldest > 0 && eldest < candidates[oldest].Arrived
	if l.AgedIn() == 0 && oldest != best && !awaited {
		return Choice{Index: oldest, Aged: true}
	}
	return Choice{Index: best}
}

// lineOrder is the order of a host's line.
type lineOrder struct {
	firstDue bool // first visits come before revisits
}

// rank is the place of a class in the order.
func (o lineOrder) rank(class crawl.Class) int {
	if o.firstDue && class == crawl.ClassFirst {
		return 2*int(crawl.ClassRevisit) - 1
	}
	return 2 * int(class)
}

// compare is negative when a comes before b.
func (o lineOrder) compare(a, b Candidate) int {
	return cmp.Or(
		cmp.Compare(o.rank(a.Class), o.rank(b.Class)),
		cmp.Compare(a.Served, b.Served),
		// Crawls that were never served are equal in Served; they must not be mixed
		// by rank, which means nothing across crawls.
		cmp.Compare(a.Crawl, b.Crawl),
		cmp.Compare(b.Rank, a.Rank),
		byAge(a, b),
	)
}

func byAge(a, b Candidate) int {
	return cmp.Or(cmp.Compare(a.Arrived, b.Arrived), cmp.Compare(a.Tie, b.Tie))
}
