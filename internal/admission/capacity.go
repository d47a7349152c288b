package admission

import (
	"math"
	"time"
)

const (
	// Behind is how long the oldest task waits at an engine that does not keep up, and how late
	// visits are there. A start after a stop, and a worker that is replaced, make tasks wait for
	// less.
	Behind = 30 * time.Second
	// KeepsUp is how long it waits at most where the engine does keep up: until then it is busy, and
	// its visits are counted on.
	KeepsUp = 5 * time.Second
	// measured is the least time for which visits are counted. It is longer than the moments in
	// which a server that is short of something stands still.
	measured = 2 * time.Minute
	// longestGap is the longest time between two looks of one measurement.
	longestGap = 2 * time.Minute

	// headroom is the share of what the engine made that may be planned: the rest works off
	// what waits, and leaves room for first visits.
	headroom = 0.9
	// mostFall and mostRise bound the factor by which a measurement moves a capacity. An engine
	// that was disturbed for a while made fewer visits than it can.
	mostFall, mostRise = 0.75, 2
	// growth is the factor by which a capacity grows in each cycle without a backlog: somebody
	// may have given the engine more.
	growth = 1.1
	// shortestCycle and longestCycle bound a cycle. Maintenance plans with the first, and an
	// operator does not wait for longer than the second.
	shortestCycle, longestCycle = 10 * time.Minute, 24 * time.Hour
	// mostCycles is after how many cycles a capacity bounds nothing any more: it would be a
	// hundred times what was measured.
	mostCycles = 48
)

// Capacity is how many visits the engine makes when it has more to do than it can do. Its
// zero value is that of an engine that has always kept up.
//
// A revisit is a timer of its page's workflow, and nothing stops a timer. If more pages are due
// than the engine visits, their tasks wait in its queue, until the wait itself has slowed
// all pages down: for a crawl that asks for twice as much, by as much as its intervals. So
// plans must not ask for more. While tasks wait, the visits that are made show how many the
// engine can make. The bound is that, and not a reaction to the wait: plans show their effect
// only an interval later, and whoever steers by the wait meanwhile steers too far.
type Capacity struct {
	PerSecond float64       // visits that plans may ask for; 0 is no bound
	At        time.Time     // when it was measured
	Cycle     time.Duration // until plans follow, about: the pages divided by PerSecond
	// Since is where the present measurement began, zero if the engine keeps up; Seen is the
	// last look at it.
	Since Mark
	Seen  time.Time
}

// Mark is a number of visits at a time.
type Mark struct {
	At     time.Time
	Visits int64
}

// Load is a look at the engine.
type Load struct {
	At     time.Time
	Oldest time.Duration // how long the oldest task has waited for a worker
	Late   time.Duration // how long ago the revisit was due that has waited longest
	Visits int64         // recorded so far in all crawls
	Pages  int           // that live, of all crawls
}

// Next is the capacity after a look. Looks come every 20 seconds or so.
func (c Capacity) Next(l Load) Capacity {
	// What was measured before the clock went back counts as measured now, and what was being
	// measured is begun anew.
	if c.At.After(l.At) {
		c.At = l.At
	}
	// Tasks that somebody else left in the queue wait for ever, and make no visit late.
	behind, measuring := min(l.Oldest, l.Late), !c.Since.At.IsZero() && !c.Since.At.After(l.At)
	if behind < KeepsUp || behind < Behind && !measuring {
		c.Since, c.Seen = Mark{}, time.Time{}
		return c
	}
	if !measuring || l.At.Sub(c.Seen) > longestGap || l.Visits < c.Since.Visits {
		c.Since = Mark{At: l.At, Visits: l.Visits}
	}
	c.Seen = l.At
	took := l.At.Sub(c.Since.At)
	made := float64(l.Visits - c.Since.Visits)
	if took < measured || made == 0 || l.At.Before(c.At.Add(c.Cycle)) {
		return c
	}
	bound := headroom * made / took.Seconds()
	if now := c.Now(l.At); now > 0 {
		bound = min(max(bound, now*mostFall), now*mostRise)
	}
	return Capacity{PerSecond: bound, At: l.At, Cycle: cycle(l.Pages, bound), Since: Mark{At: l.At, Visits: l.Visits}, Seen: l.At}
}

// cycle is how long it takes until all pages have been planned anew.
func cycle(pages int, perSecond float64) time.Duration {
	return time.Duration(min(max(float64(pages)/perSecond, shortestCycle.Seconds()), longestCycle.Seconds()) * float64(time.Second))
}

// Now is how many visits a second plans may ask for at a time, 0 for no bound.
func (c Capacity) Now(at time.Time) float64 {
	if c.PerSecond <= 0 || c.Cycle <= 0 {
		return 0
	}
	if !c.Since.At.IsZero() {
		at = c.Since.At // it does not grow while the engine is behind
	}
	cycles := max(at.Sub(c.At), 0) / c.Cycle
	if cycles >= mostCycles {
		return 0
	}
	return c.PerSecond * math.Pow(growth, float64(cycles))
}
