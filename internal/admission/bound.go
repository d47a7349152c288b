// Package admission decides how many pages may be on their way to a first visit at a
// time, in all crawls of a store together.
//
// Nobody knows beforehand how much an engine (Temporal's server, its database, the
// workers) can do. But it becomes visible: when more is started than is finished, tasks
// wait for a worker. So the bound follows that wait. It grows while tasks are taken up
// at once and its places are taken, and shrinks while they wait. The length of visits
// does not matter: pages that wait for their hosts are no burden, so the bound grows
// until the windows of the hosts are the limit.
package admission

import (
	"time"

	"recrawl/internal/crawl"
)

const (
	// First is the bound until it moves; Floor is the least: enough to keep a slow worker
	// busy.
	First = 64
	Floor = 32
	// Most keeps the bound within a number that a store counts quickly.
	Most = 1 << 20
	// Seeds is how many seeds of a crawl may wait for their first visit whatever the
	// bound: seeds that a person names start at once, a list of a million does not.
	Seeds = 16

	// Quick is the wait for a worker below which the bound may grow, Slow the one from
	// which it shrinks.
	Quick = time.Second
	Slow  = 2 * time.Second

	// GrowEvery is the least time before the bound grows again: the pages that it let in
	// must show their effect first.
	GrowEvery = time.Second
	// longestPeriod is when the bound shrinks again at the latest. The wait of a task
	// that lay in its queue for hours is evidence about the past.
	longestPeriod = 30 * time.Second

	// batch is the part of a bound that is worth a refill.
	batch = 8
	// leastShare is the number that each crawl may have on its way, however many crawls
	// there are: one that has none on its way would not learn of room.
	leastShare = 8
)

// Codes of the reasons for a bound. They are stored.
const (
	CodeStart  = "admission.start"
	CodeGrew   = "admission.grew"   // wait in seconds; taken, from: pages
	CodeShrank = "admission.shrank" // the same
)

// Engine is a worker's view of the engine.
type Engine struct {
	// Wait is how long tasks recently waited for a worker.
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

// Next is the bound after a look at the engine, given how many pages are on their way.
func (b Bound) Next(now time.Time, e Engine, taken int) Bound {
	pages, code := b.Pages, ""
	switch {
	case e.Wait >= Slow && b.stood(now, Period(e)):
		// It starts from what is really on its way: a bound far above that bounds nothing.
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

// Period is how long it takes until a change of the bound shows at an engine.
func Period(e Engine) time.Duration { return min(max(e.Wait, GrowEvery), longestPeriod) }

// MayGrow reports whether the bound grows if the engine is quick.
func (b Bound) MayGrow(now time.Time, taken int) bool {
	return taken >= b.Pages-b.Pages/batch && b.stood(now, GrowEvery)
}

// stood reports whether the bound has not moved for a time. A move that lies ahead was made before
// the clock went back.
func (b Bound) stood(now time.Time, least time.Duration) bool {
	since := now.Sub(b.At)
	return since >= least || since < -longestPeriod
}

// Demand is how many pages are on their way.
type Demand struct {
	Taken  int // in all crawls that run
	Own    int // in the crawl that asks
	Crawls int // crawls that have some, including the one that asks
}

// Room is how many more pages the crawl may admit; 0 unless a refill is worth it. Each
// crawl has its share, which others cannot take from it.
func (b Bound) Room(d Demand) int {
	share := max(b.Pages/max(d.Crawls, 1), leastShare)
	room := max(b.Pages-d.Taken, share-d.Own)
	if room < share/batch {
		return 0
	}
	return room
}

// Low reports whether a host with this many pages of its window on their way should be
// filled up: early enough that it is never without, and late enough to be worth a refill.
func Low(taken, window int) bool { return taken <= window/2 }

// Host is a host that may get places: it has a number of pages on their way, and more
// could be.
type Host struct {
	Taken, Open int
}

// Share divides n places among hosts, those with the fewest pages on their way first, so
// that none has two more than another that could have more. Among hosts with equal
// numbers, the first comes first.
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
