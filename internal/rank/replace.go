package rank

import (
	"cmp"
	"slices"
	"time"

	"recrawl/internal/crawl"
)

// Candidate is a page that may come into the collection, or leave it.
type Candidate struct {
	ID int64
	// Importance by the last ranking, 0 if it was in none.
	Importance float64
	// Seed: a person named the page. It comes in before all others, and stays.
	Seed bool
	// State is the page's, or for an evicted page the one that it had in the
	// collection.
	State crawl.PageState
	// Since is how long it has been in the collection, or out of it after it was
	// evicted.
	Since time.Duration
}

// emptyWorth is the worth of a page that shows nothing itself (gone, moved,
// forbidden, the copy of another), as a share of its importance: links to it are
// links to nothing, but it may come back.
const emptyWorth = 0.25

// seedWorth is more than the worth of any other page.
const seedWorth = 1000

// Worth is a page's worth to the collection: its importance, less if there is
// nothing to see, and more than any other's if it is a seed.
func (c Candidate) Worth() float64 {
	if c.Seed {
		return seedWorth
	}
	switch c.State {
	case crawl.Gone, crawl.Redirect, crawl.Duplicate, crawl.Excluded:
		return emptyWorth * c.Importance
	}
	return c.Importance
}

// ReplaceParams say how a full collection changes.
type ReplaceParams struct {
	// Places is how many more pages the collection may hold; negative if it holds too
	// many, as after max_pages was lowered.
	Places int
	// Margin is by how much the worth of a page must exceed that of the page whose
	// place it takes: 0.25 is a quarter more. It is at least 0.
	Margin float64
	// Tenure is how long a page stays in the collection before it may be evicted, and
	// out of it before it may return.
	Tenure time.Duration
	// Most is how many pages may be evicted.
	Most int
}

// Swap is one change of a full collection.
type Swap struct {
	In     int64 // page that comes in, 0 for none
	Out    int64 // page that is evicted, 0 for none
	Reason crawl.Reason
}

// Codes of reasons of a Swap; Num has the worth of both pages as in and out.
const (
	CodeBetter  = "replace_better"  // In is worth more than Out by the margin
	CodeSurplus = "replace_surplus" // the collection holds more than max_pages
	CodeReturn  = "replace_return"  // an evicted page comes back: there is room
)

// Replace says which pages a collection should exchange: the best page outside takes
// the place of the least one inside, and so on while the margin is kept. That is
// SaveUpdate of Singhal, Dixit and Sharma (figure 5), which evicts for every new page,
// with two guards: only when the collection is full, and only for a better page; and
// the RankingModule of Cho and Garcia-Molina, "The evolution of the web and
// implications for an incremental crawler", 2000.
//
// It settles: with the same importances and no new pages a second call swaps nothing,
// because a page that came in is worth more than all pages outside. Tenure and Most
// bound how fast changing importances can move pages. Seeds come in and stay; other
// pages that no ranking has judged yet neither come nor go.
//
// While there are places nobody is evicted, and evicted pages return, best first; other
// pages are left to admission. While there are too many pages the least go.
func Replace(outside, inside []Candidate, p ReplaceParams) []Swap {
	switch {
	case p.Places > 0:
		return returns(outside, p.Places)
	case p.Places < 0:
		return surplus(inside, min(-p.Places, p.Most))
	}
	outside = sorted(outside, func(c Candidate) bool { return c.Worth() > 0 && (!evicted(c) || c.Since >= p.Tenure) })
	inside = sorted(inside, func(c Candidate) bool { return c.Importance > 0 && !c.Seed && c.Since >= p.Tenure })
	slices.Reverse(inside)
	var swaps []Swap
	for i := range min(len(outside), len(inside), max(p.Most, 0)) {
		in, out := outside[i], inside[i]
		if in.Worth() <= out.Worth()*(1+max(p.Margin, 0)) {
			break
		}
		swaps = append(swaps, Swap{In: in.ID, Out: out.ID, Reason: crawl.Reason{
			Code: CodeBetter, Num: map[string]float64{"in": in.Worth(), "out": out.Worth()},
		}})
	}
	return swaps
}

// returns lets evicted pages come back.
func returns(outside []Candidate, places int) []Swap {
	var swaps []Swap
	back := sorted(outside, evicted)
	for _, c := range back[:min(places, len(back))] {
		swaps = append(swaps, Swap{In: c.ID, Reason: crawl.Reason{Code: CodeReturn, Num: map[string]float64{"in": c.Worth()}}})
	}
	return swaps
}

// surplus evicts n pages.
func surplus(inside []Candidate, n int) []Swap {
	var swaps []Swap
	least := sorted(inside, func(c Candidate) bool { return !c.Seed })
	slices.Reverse(least)
	for _, c := range least[:max(0, min(n, len(least)))] {
		swaps = append(swaps, Swap{Out: c.ID, Reason: crawl.Reason{Code: CodeSurplus, Num: map[string]float64{"out": c.Worth()}}})
	}
	return swaps
}

// evicted reports whether a candidate from outside has been in the collection.
func evicted(c Candidate) bool { return c.State.Lives() }

// sorted returns the candidates that pass, best first; among equal ones the one
// that was found first.
func sorted(all []Candidate, passes func(Candidate) bool) []Candidate {
	var some []Candidate
	for _, c := range all {
		if passes(c) {
			some = append(some, c)
		}
	}
	slices.SortFunc(some, better)
	return some
}

func better(a, b Candidate) int {
	return cmp.Or(cmp.Compare(b.Worth(), a.Worth()), cmp.Compare(a.ID, b.ID))
}

// Shortlist keeps the best, or the least, of a stream of candidates: the input of
// Replace for a collection of any size.
type Shortlist struct {
	n     int
	least bool
	some  []Candidate
}

// NewShortlist returns a list that keeps the n best candidates, or the n least. It
// holds up to twice as many.
func NewShortlist(n int, least bool) *Shortlist { return &Shortlist{n: n, least: least} }

// Add takes one more candidate.
func (l *Shortlist) Add(c Candidate) {
	if l.some = append(l.some, c); len(l.some) >= 2*max(l.n, 1) {
		l.cut()
	}
}

// Candidates returns those that are kept.
func (l *Shortlist) Candidates() []Candidate {
	l.cut()
	return l.some
}

func (l *Shortlist) cut() {
	slices.SortFunc(l.some, better)
	if l.least {
		slices.Reverse(l.some)
	}
	l.some = l.some[:min(l.n, len(l.some))]
}
