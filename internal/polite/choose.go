package polite

import (
	"cmp"

	"recrawl/internal/crawl"
)

// AgeEvery is how often a grant goes to the one who has waited longest,
// whatever its class: every eighth, when somebody is in need of it.
const AgeEvery = 8

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

// Codes of the reasons for a choice.
const (
	ChosenOnly  = "chosen_only"  // nobody else was there
	ChosenClass = "chosen_class" // its class comes first
	ChosenTurn  = "chosen_turn"  // its crawl was served longest ago
	ChosenRank  = "chosen_rank"  // it ranks highest in its crawl
	ChosenAge   = "chosen_age"   // it is the oldest of its equals
	ChosenAged  = "chosen_aged"  // it has waited longest of all: the eighth grant
)

// Choice is whom Choose picked, and why.
type Choice struct {
	// Index of the candidate, -1 if there was none.
	Index int
	// Aged: the grant went to the one who has waited longest though its class or
	// rank did not entitle it to the grant.
	Aged   bool
	Reason crawl.Reason
}

// Choose picks who gets the next permit: the lowest class; within a class the
// crawl least recently served; within the crawl the highest rank, then the
// oldest. When AgeEvery-1 grants have been made since the last aged one
// (sinceAged), it is the one who has waited longest. An aged grant that nobody
// needs, because the oldest is first by the order too, is kept for later: a
// waiter that comes seldom must not miss it by coming at the wrong count.
func Choose(candidates []Candidate, sinceAged int) Choice {
	if len(candidates) == 0 {
		return Choice{Index: -1}
	}
	best, oldest := 0, 0
	for i := range candidates {
		if byOrder(candidates[i], candidates[best]) < 0 {
			best = i
		}
		if byAge(candidates[i], candidates[oldest]) < 0 {
			oldest = i
		}
	}
	if sinceAged >= AgeEvery-1 && oldest != best {
		return Choice{Index: oldest, Aged: true, Reason: crawl.Reason{Code: ChosenAged}}
	}
	return Choice{Index: best, Reason: crawl.Reason{Code: whyBest(candidates, best)}}
}

// byOrder is negative when a comes before b in the order of the line.
func byOrder(a, b Candidate) int {
	return cmp.Or(
		cmp.Compare(a.Class, b.Class),
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

// whyBest names the first part of the order that set the best apart from its
// closest rival.
func whyBest(candidates []Candidate, best int) string {
	code, b := ChosenOnly, candidates[best]
	depth := map[string]int{ChosenOnly: 0, ChosenClass: 1, ChosenTurn: 2, ChosenRank: 3, ChosenAge: 4}
	for i, c := range candidates {
		if i == best {
			continue
		}
		part := ChosenAge
		switch {
		case c.Class != b.Class:
			part = ChosenClass
		case c.Crawl != b.Crawl:
			part = ChosenTurn
		case c.Rank != b.Rank:
			part = ChosenRank
		}
		if depth[part] > depth[code] {
			code = part
		}
	}
	return code
}
