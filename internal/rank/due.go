package rank

import (
	"time"

	"recrawl/internal/crawl"
)

// Codes of reasons why ranks are computed again, or not.
const (
	CodeOff     = "rank_off"     // the crawl's spec wants none
	CodeNoLinks = "rank_nothing" // there are no links
	CodeFirst   = "rank_first"   // there are no ranks yet
	CodeAge     = "rank_age"     // Num age: of the ranks, in seconds
	CodeGrown   = "rank_grown"   // Num links, before: the number of links now, and at the last ranking
	CodeFresh   = "rank_fresh"   // Num age: none of the above
	CodeAsked   = "rank_asked"   // a person asked
)

// growth is the factor by which the links of a crawl must have grown since the last
// ranking for an early one. So all rankings of a growing crawl together read twice
// its links.
const growth = 2

// Last is the last ranking of a crawl; zero if there was none.
type Last struct {
	At    time.Time
	Links int // that the crawl had, also those of pages that are not ranked
}

// Due says whether a crawl's pages should be ranked now, and why: when the ranks are
// older than every, or when enough links were found since that the order of admission
// should not wait for that. 0 means never.
func Due(last Last, links int, now time.Time, every time.Duration) (bool, crawl.Reason) {
	age := now.Sub(last.At)
	switch {
	case every <= 0:
		return false, crawl.Reason{Code: CodeOff}
	case links == 0:
		return false, crawl.Reason{Code: CodeNoLinks}
	case last.At.IsZero():
		return true, crawl.Reason{Code: CodeFirst}
	case age >= every:
		return true, crawl.Reason{Code: CodeAge, Num: map[string]float64{"age": age.Seconds()}}
	case links >= growth*max(last.Links, 1):
		return true, crawl.Reason{Code: CodeGrown, Num: map[string]float64{"links": float64(links), "before": float64(last.Links)}}
	}
	return false, crawl.Reason{Code: CodeFresh, Num: map[string]float64{"age": age.Seconds()}}
}
