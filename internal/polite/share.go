package polite

import (
	"math"

	"recrawl/internal/crawl"
)

// Numbers of the shares.
const (
	// AgeEvery is how often a grant goes to the waiter that has waited longest,
	// whatever its class: every eighth, when one needs it.
	AgeEvery = 8
	// The share of first visits, while somebody waits for one: at least every
	// eighth grant, and at most every second.
	firstLeast = 8
	firstMost  = 2
	// keptAlways is the share of a host's capacity that revisits never plan: it is for
	// robots.txt, for people's requests and for pages that are yet to be found.
	keptAlways = 0.1
)

// FoundShare is the code of the reason for a Discovery.
const FoundShare = "discovery_share"

// Discovery is the part of a host's requests that is for pages that were never
// visited.
type Discovery struct {
	// Every: while first visits wait, at least one grant in this many is for one.
	Every int
	// Kept is the share of the host's capacity that revisits may not plan.
	Kept   float64
	Reason crawl.Reason
}

// Discover decides how much of a host is for discovery, given how many of its known
// pages were never visited and how many were. It is the share of the pages that
// were never visited: as long as most of a host is unseen, half of its requests; as
// it is discovered less and less, down to an eighth. All that is known of an unseen
// page is that it is missing; a page that was seen has usually changed only in a
// small part, if at all. It is never more than half, so that the collected pages
// are kept fresh however large the host is, and one in a whole number, so that the
// line can keep to the plan.
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

// Ledger counts the grants of a host since the last one to each of those whom the
// order of the line alone would keep waiting.
type Ledger struct {
	Aged  int // since the waiter that had waited longest
	First int // since a first visit
	// FirstEvery: a first visit is due at least once in this many grants; 0 is once in
	// eight.
	FirstEvery int
}

func (l Ledger) every() int {
	if l.FirstEvery < firstMost {
		return firstLeast
	}
	return l.FirstEvery
}

// AgedIn is how many grants come before the one for the waiter that has waited
// longest.
func (l Ledger) AgedIn() int { return max(AgeEvery-1-l.Aged, 0) }

// FirstIn is how many grants come before the one for a first visit.
func (l Ledger) FirstIn() int { return max(l.every()-1-l.First, 0) }

// After is the ledger after a grant to a waiter of a class, which may have had it
// for its age. A share that came too late because no waiter was present for it
// counts for the next one, but only once: nobody saves up.
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
