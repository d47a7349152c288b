// Package admission decides how many pages may be on their way to a first visit at a
// time, in all crawls of a store together.
//
// Nobody knows beforehand how much an engine (Temporal's server, its database, the
// workers) can do. It shows: when more is started than is finished, tasks wait for a
// worker. So the bound follows that wait. It grows while tasks are taken up at once and
// its places are taken, and shrinks while they wait. How long visits take is no matter:
// pages that wait for their hosts burden nobody, so the bound grows until the windows of
// the hosts are the limit.
package admission

import (
	"time"

	"recrawl/internal/crawl"
)

const (
	// First is the bound until it moves, Floor the least: what keeps a slow worker busy.
	First = 64
	Floor = 32
	// Most keeps the bound within what a store counts quickly.
	Most = 1 << 20
	// Seeds is how many seeds of a crawl may wait for their first visit whatever the
	// bound: what a person names starts at once, a list of a million does not.
	Seeds = 16

	// Quick is the wait for a worker below which the bound may grow, Slow the one from
	// which it shrinks.
	Quick = time.Second
	Slow  = 2 * time.Second

	// GrowEvery is the least time before the bound grows again: what it let in must show
	// its effect first.
	GrowEvery = time.Second
	// longestPeriod is when the bound shrinks again at the latest. The wait of a task
	// that lay in its queue for hours tells of the past.
	longestPeriod = 30 * time.Second

	// batch is the part of a bound that is worth a refill.
	batch = 8
	// leastShare is what each crawl may have on its way, however many there are: one that
	// has none on its way would not hear of room.
	leastShare = 8
)

// Codes of the reasons for a bound. They are stored.
const (
	CodeStart  = "admission.start"
	CodeGrew   = "admission.grew"   // wait in seconds; taken, from: pages
	CodeShrank = "admission.shrank" // the same
)

// Engine is what a worker sees of the engine.
type Engine struct {
	// Wait is how long tasks waited for a worker lately.
	Wait time.Duration
}

// Bound is how many pages may be on their way at a time.
type Bound struct {
	Pages  int
	At     time.Time // of its last move
	Reason crawl.Reason
}

// Start is the bound of a store that has none yet.
func Start() Bound { return Bound{Pages: First, Reason: crawl.Reason{Code: CodeStart}} }

// Next is the bound after a look at the engine, when so many pages are on their way.
func (b Bound) Next(now time.Time, e Engine, taken int) Bound {
	pages, code := b.Pages, ""
	switch {
	case e.Wait >= Slow && now.Sub(b.At) >= Period(e):
		// From what is really on its way: a bound that stands far above it bounds nothing.
		pages, code = max(Floor, min(b.Pages, taken)*3/4), CodeShrank
	case e.Wait < Quick && b.MayGrow(now, taken):
		pages, code = min(Most, b.Pages*5/4), CodeGrew
	}
	if pages == b.Pages {
		return b
	}
	return Bound{Pages: pages, At: now, Reason: crawl.Reason{Code: code, Num: map[string]float64{
		"wait": e.Wait.Seconds(), "taken": float64(taken), "from": float64(b.Pages),
	}}}
}

// Period is how long a change of the bound takes to show at an engine.
func Period(e Engine) time.Duration { return min(max(e.Wait, GrowEvery), longestPeriod) }

// MayGrow reports whether the bound grows if the engine is quick.
func (b Bound) MayGrow(now time.Time, taken int) bool {
	return taken >= b.Pages-b.Pages/batch && now.Sub(b.At) >= GrowEvery
}

// Demand is how many pages are on their way.
type Demand struct {
	Taken  int // in all crawls that run
	Own    int // in the crawl that asks
	Crawls int // crawls that have some, with the one that asks
}

// Room is how many more pages the crawl may admit; 0 unless a refill is worth while. Each
// crawl has its share, which others cannot take from it.
func (b Bound) Room(d Demand) int {
	share := max(b.Pages/max(d.Crawls, 1), leastShare)
	room := max(b.Pages-d.Taken, share-d.Own)
	if room < share/batch {
		return 0
	}
	return room
}

// Low reports whether a host is to be filled up that has so many pages of its window on
// their way: early enough that it is never without, and late enough to be worth a refill.
func Low(taken, window int) bool { return taken <= window/2 }

// Host is one that may get places: it has so many pages on their way, and so many more
// could be.
type Host struct {
	Taken, Open int
}

// Share divides n places among hosts, those with the fewest pages on their way first, so
// that none has two more than another that could have more. Of hosts with as many, the
// first comes first.
func Share(hosts []Host, n int) []int {
	given := make([]int, len(hosts))
	level, top := 0, 0
	for i, h := range hosts {
		if i == 0 || h.Taken < level {
			level = h.Taken
		}
		top = max(top, h.Taken+h.Open)
	}
	for ; n > 0 && level < top; level++ {
		for i, h := range hosts {
			if n > 0 && h.Taken+given[i] == level && given[i] < h.Open {
				given[i]++
				n--
			}
		}
	}
	return given
}
