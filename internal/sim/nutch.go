package sim

import "math"

// Apache Nutch at commit 790694141 (2026-07-23), as conf/nutch-default.xml sets
// it. Intervals are whole seconds there.
const (
	nutchDefault = 30. // days: db.fetch.interval.default, 2592000 s
	nutchMax     = 90. // days: db.fetch.interval.max, 7776000 s
)

// nutchFixed is org.apache.nutch.crawl.DefaultFetchSchedule, the default: every page 30
// days after its last fetch.
type nutchFixed struct{}

func newNutchFixed(Setting, *World) Scheduler { return nutchFixed{} }

func (nutchFixed) Enter(_ int, at float64) float64      { return at + nutchDefault }
func (nutchFixed) Visit(_ int, look Look) (due float64) { return look.At + nutchDefault }
func (nutchFixed) Leave(int)                            {}

// Constants of AdaptiveFetchSchedule, db.fetch.schedule.adaptive.*. The fallbacks
// in its code (0.2, 0.2, 0.2) are never used with the file.
const (
	nutchIncrease = 0.4  // inc_rate
	nutchDecrease = 0.2  // dec_rate
	nutchSync     = 0.3  // sync_delta_rate
	nutchLeast    = 60.  // seconds: min_interval
	nutchMost     = 365. // days: max_interval
)

// nutchAdaptive is org.apache.nutch.crawl.AdaptiveFetchSchedule with the effects of
// CrawlDbReducer and AbstractFetchSchedule on its results:
//
//   - A change shortens the interval by dec_rate, none lengthens it by inc_rate; a
//     page without a signature to compare with keeps it.
//   - sync_delta: the next fetch is moved back by sync_delta_rate of the time since
//     the last change was found, and an interval below that time is set to it. (The
//     comment in the class says: an interval above it.)
//   - An interval above db.fetch.interval.max becomes 0.9 of that, and the page
//     forgets its signature and modified time (forceRefetch): the next fetch is a
//     first one again. The fetch that was just scheduled stays where it is.
//   - A page that is due more than db.fetch.interval.max ahead is fetched at once
//     (shouldFetch).
type nutchAdaptive struct{ pages []nutchPage }

type nutchPage struct {
	interval float64 // days
	modified float64 // when the last change was found, NaN for never
	signed   bool    // there is a signature to compare with
}

func newNutchAdaptive(s Setting, _ *World) Scheduler {
	return &nutchAdaptive{make([]nutchPage, len(s.Pages))}
}

func (n *nutchAdaptive) Enter(page int, at float64) float64 {
	n.pages[page] = nutchPage{interval: nutchDefault, modified: math.NaN()}
	return n.Visit(page, Look{At: at})
}

func (n *nutchAdaptive) Visit(page int, look Look) float64 {
	p := &n.pages[page]
	if math.IsNaN(p.modified) {
		p.modified = look.At
	}
	switch {
	case !p.signed:
		p.signed = true
	case look.Changed:
		p.interval *= 1 - nutchDecrease
		p.modified = look.At
	default:
		p.interval *= 1 + nutchIncrease
	}
	delta := look.At - p.modified
	p.interval = max(p.interval, delta)
	p.interval = min(max(p.interval, nutchLeast/86400), nutchMost)
	due := look.At - nutchSync*delta + p.interval
	if p.interval > nutchMax {
		*p = nutchPage{interval: 0.9 * nutchMax, modified: math.NaN()}
	}
	if due > look.At+nutchMax {
		due = look.At
	}
	return due
}

func (*nutchAdaptive) Leave(int) {}
