package polite

import (
	"math"

	"recrawl/internal/crawl"
)

// Numbers of the shares.
const (
	// AgeEvery is how often a grant goes to the one who has waited longest,
	// whatever its class: every eighth, when somebody is in need of it.
	AgeEvery = 8
	// The share of first visits, while somebody waits for one: at least every
	// eighth grant, and at most every second.
	firstLeast = 8
	firstMost  = 2
	// keptAlways is the share of what a host can take that revisits never plan: it
	// is for robots.txt, for what people ask for and for pages that are yet to be
	// found.
	keptAlways = 0.1
)

// FoundShare is the code of the reason for a Discovery.
const FoundShare = "discovery_share"

// Discovery is the part of a host's requests that is for pages that were never
// visited.
type Discovery struct {
	// Every: while first visits wait, at least one grant in so many is for one.
	Every int
	// Kept is the share of what the host can take that revisits may not plan.
	Kept   float64
	Reason crawl.Reason
}

// Discover decides how much of a host is for discovery, of which so many pages are
// known and were never visited and so many others have been. It is the share of
// the pages that were never visited: as long as most of a host is unseen, half of
// its requests; as it is discovered less and less, down to an eighth. All that is
// known of an unseen page is that it is missing; a page that was seen has changed,
// mostly, in a small part, if at all. Never more than half, so that what has been
// collected is kept fresh however large the host is. One in a whole number, so that
// the line can keep what was planned.
func Discover(undiscovered, visited int64) Discovery {
	undiscovered, visited = max(undiscovered, 0), max(visited, 0)
	d := Discovery{Every: firstLeast, Kept: keptAlways}
	if undiscovered > 0 {
		every := math.Round((float64(undiscovered) + float64(visited)) / float64(undiscovered))
		d.Every = int(min(max(every, firstMost), firstLeast))
		d.Kept = 1 / float64(d.Every)
	}
	d.Reason = crawl.Reason{Code: FoundShare, Num: map[string]float64{
		"undiscovered": float64(undiscovered), "visited": float64(visited), "kept": d.Kept,
	}}
	return d
}

// Ledger counts the grants of a host that have gone by since those had their share
// whom the order of the line alone would keep waiting.
type Ledger struct {
	Aged  int // since the one who had waited longest
	First int // since a first visit
	// FirstEvery: a first visit is due at least once in so many grants; 0 is once in
	// eight.
	FirstEvery int
}

func (l Ledger) every() int {
	if l.FirstEvery < firstMost {
		return firstLeast
	}
	return l.FirstEvery
}

// AgedIn is how many grants come before the one that is for whoever has waited
// longest.
func (l Ledger) AgedIn() int { return max(AgeEvery-1-l.Aged, 0) }

// FirstIn is how many grants come before the one that is for a first visit.
func (l Ledger) FirstIn() int { return max(l.every()-1-l.First, 0) }

// After is the ledger after a grant to somebody of a class, who may have had it for
// its age. A share that came too late because nobody was there to take it counts
// for the next one, but only once: nobody saves up.
func (l Ledger) After(class crawl.Class, aged bool) Ledger {
	l.Aged = settled(l.Aged+1, AgeEvery, aged)
	l.First = settled(l.First+1, l.every(), class == crawl.ClassFirst)
	return l
}

func settled(since, every int, served bool) int {
	if !served {
		return since
	}
	return min(max(since-every, 0), every-1)
}
