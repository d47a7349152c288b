package report

import (
	"cmp"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/rank"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// Part is the part of recrawl that decides when a page's next visit can be. In JSON
// it is the next_by of a page.
type Part string

// The parts. Those without a time wait for an operator, or, if the page is not admitted,
// for room.
const (
	PartDue      Part = "due"      // its policy
	PartSnooze   Part = "snooze"   // a person snoozed it
	PartLine     Part = "line"     // others of its host come first
	PartGap      Part = "gap"      // its host rests between two requests
	PartBackoff  Part = "backoff"  // its host asked for quiet, or fails
	PartRobots   Part = "robots"   // robots.txt cannot be fetched
	PartUnderway Part = "underway" // it is being visited

	PartBlocked   Part = "blocked"   // an operator blocked its host
	PartPaused    Part = "paused"    // its crawl is paused
	PartStopped   Part = "stopped"   // it, or its crawl, is stopped
	PartTrap      Part = "trap"      // a trap holds it
	PartEvicted   Part = "evicted"   // another page has its place
	PartAdmission Part = "admission" // it has no place yet
	PartKept      Part = "kept"      // a requisite rests until a page needs it anew
)

// Next is the earliest known time at which the next visit of a page can be.
type Next struct {
	// At is the latest of all times that the visit waits for; zero if it waits for
	// something that has no time.
	At time.Time
	// By is the part that decides.
	By Part
	// Why gives more detail than By, in words; "" if there is none.
	Why string
}

// Waits holds everything for which the next visit of a page waits.
type Waits struct {
	Crawl crawl.CrawlState
	State crawl.PageState
	// Due is the policy's time, and Snoozed the time until which a person put the visit
	// off.
	Due, Snoozed time.Time
	// Host is the page's host, nil if unknown, and Robots the record of its origin's
	// robots.txt.
	Host   *store.HostRecord
	Robots store.RobotsRecord
	store.Standing
}

// NextVisit decides when a page can be visited next: a part without a time comes first,
// then the latest of all times.
func NextVisit(w Waits, now time.Time) Next {
	if next, waits := w.forSomebody(); waits {
		return next
	}
	if w.Underway {
		return Next{At: now, By: PartUnderway}
	}
	next := Next{At: w.Due, By: PartDue, Why: w.Excluded}
	later := func(at time.Time, by Part, why string) {
		if at.After(next.At) && at.After(now) {
			next = Next{At: at, By: by, Why: why}
		}
	}
	later(w.Snoozed, PartSnooze, "")
	if h := w.Host; h != nil {
		later(h.BackoffUntil, PartBackoff, backoffWords(*h))
		later(h.NextFree, PartGap, polite.Words(h.GapReason)) // no back-off ends after this time
	}
	if w.Robots.State == store.RobotsUnreachable {
		later(w.Robots.ExpiresAt, PartRobots, robotsTrouble(w.Robots))
	}
	if w.Robots.State == store.RobotsRedirected {
		later(w.Promised, PartRobots, robotsElsewhere(w.Robots)) // the place is in another host's line
	}
	later(w.Promised, PartLine, lineWords(w.Host, now))
	return next
}

// forSomebody returns the part without a time for which the visit waits, if any.
func (w Waits) forSomebody() (Next, bool) {
	blocked := w.Host != nil && w.Host.Blocked
	switch {
	case w.Crawl == crawl.CrawlStopped:
		return Next{By: PartStopped, Why: "the crawl is stopped"}, true
	case w.State == crawl.Stopped:
		return Next{By: PartStopped, Why: "the page was stopped"}, true
	case w.State == crawl.Held:
		return Next{By: PartTrap, Why: "held by trap " + cmp.Or(w.Trap, "that is being released")}, true
	case w.State == crawl.Kept:
		return Next{By: PartKept, Why: "a requisite that rests until a new version of a page needs it"}, true
	case w.State == crawl.Evicted:
		return Next{By: PartEvicted, Why: evictedWords(w.Standing)}, true
	case w.Crawl == crawl.CrawlPaused:
		return Next{By: PartPaused, Why: "the crawl is paused"}, true
	case blocked:
		return Next{By: PartBlocked, Why: blockedWords}, true
	case w.State == crawl.Known && w.Robots.State == store.RobotsUnreachable:
		return Next{By: PartRobots, Why: robotsTrouble(w.Robots)}, true
	case w.State == crawl.Known:
		return Next{By: PartAdmission}, true
	}
	return Next{}, false
}

// lineWords says why a page waits in its host's line. In a back-off the line waits as a whole.
func lineWords(h *store.HostRecord, now time.Time) string {
	const others = "others come first in its host's line"
	if h != nil && h.BackoffUntil.After(now) {
		return others + ", which waits until a back-off ends: " + backoffWords(*h)
	}
	return others
}

const blockedWords = "an operator blocked the host"

// words writes a cell of a table.
func (n Next) words(now time.Time) string {
	text := when(n.At, now)
	switch {
	case n.At.IsZero() && n.Why != "":
		return "none: " + n.Why
	case n.At.IsZero():
		return "-"
	case n.By == PartUnderway:
		return "now: under way"
	case n.By == PartSnooze:
		return text + ": snoozed"
	case n.At.Before(now.Add(-time.Second)):
		text = "now, due " + text
	}
	if n.Why != "" {
		text += ": " + n.Why
	}
	return text
}

// nextLine is a Next as fields of a JSON object.
type nextLine struct {
	By  Part   `json:"next_by"`
	Why orNull `json:"next_why"`
}

func nextLineOf(n Next) nextLine { return nextLine{n.By, orNull(n.Why)} }

func backoffWords(h store.HostRecord) string {
	switch {
	case h.BackoffReason.Code != "":
		return polite.Words(h.BackoffReason)
	case h.Failures > 0:
		return "its connections fail"
	}
	return "the host asked for quiet, or its connections fail"
}

func robotsTrouble(r store.RobotsRecord) string {
	return "robots.txt cannot be had: " + cmp.Or(r.Problem, "HTTP trouble")
}

// robotsElsewhere says that a robots.txt is not known yet because it has to be fetched where it
// redirects to, whose host may be busy, held or blocked.
func robotsElsewhere(r store.RobotsRecord) string {
	return "robots.txt is not known yet: " + cmp.Or(r.Problem, "it redirects") + ", which waits for its turn there"
}

func evictedWords(s store.Standing) string {
	if s.Evicted.At.IsZero() {
		return "evicted"
	}
	text := "evicted"
	if s.Evicted.By != "" {
		text += " for " + s.Evicted.By
	}
	return text + ": " + evictionWords(s.Evicted.Reason)
}

// evictionWords says why a page was evicted.
func evictionWords(r crawl.Reason) string { return cmp.Or(r.Text, rank.Words(r), schedule.Word(r)) }
