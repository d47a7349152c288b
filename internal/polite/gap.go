package polite

import (
	"math"
	"time"

	"recrawl/internal/crawl"
)

// Demand is one crawl's demand on the gap between two requests to one host.
type Demand struct {
	// Delay is the floor of the gap or, if Auto is set, the most that the floor may be.
	Delay time.Duration
	// Auto: the floor is AutoDelay of the host.
	Auto bool
	// Factor times the last request's duration is another floor; 0 is off.
	Factor float64
	// MaxCrawlDelay caps a site's Crawl-delay; it counts as Delay when it is less.
	MaxCrawlDelay time.Duration
}

// CutGrace is how long a host may take to notice that a request was given up, and to
// end it on its side, from which the gap counts: a busy server notices at its next
// write to a closed connection.
const CutGrace = 100 * time.Millisecond

// Codes of the reasons for a gap, by the demand that was the largest.
const (
	GapDelay      = "gap_delay"       // a crawl's delay
	GapAuto       = "gap_auto"        // a crawl's automatic delay, see AutoDelay
	GapFactor     = "gap_factor"      // a crawl's factor × the last duration
	GapCrawlDelay = "gap_crawl_delay" // the site's Crawl-delay
	// GapCapped is the site's Crawl-delay cut to a crawl's max_crawl_delay; the
	// reason's number "asked" is the site's value, in seconds. It must be reported:
	// the crawl is faster than the site asked.
	GapCapped = "gap_capped"
)

// Rest is a gap with the reason for its length.
type Rest struct {
	Length time.Duration
	Reason crawl.Reason
}

// Gap is how long a host rests between the end of one request, which took
// lastDuration and was made for a crawl with the demand prev, and the start of
// the next, for a crawl with the demand next: the largest that either of the
// two asks for.
func (h Host) Gap(prev, next Demand, lastDuration time.Duration) Rest {
	a, b := h.gap(prev, lastDuration), h.gap(next, lastDuration)
	if a.Length > b.Length {
		return a
	}
	return b
}

// Floor is a demand's minimum delay for the host.
func (h Host) Floor(d Demand) Rest {
	if d.Auto {
		return AutoDelay(h.Mean, h.Refusals, d.Delay)
	}
	return because(max(d.Delay, 0), GapDelay, nil)
}

// Settled is a demand at the time when a request to the host begins, with an automatic
// delay as a number, which the request's end may change.
func (h Host) Settled(d Demand) Demand {
	if !d.Auto {
		return d
	}
	return Demand{Delay: h.Floor(d).Length, Factor: d.Factor, MaxCrawlDelay: d.ceiling()}
}

// gap is the gap that this demand alone asks for.
func (h Host) gap(d Demand, lastDuration time.Duration) Rest {
	rest, crawlDelay := h.Floor(d), h.CrawlDelay
	if byFactor := scale(max(lastDuration, 0), d.Factor); byFactor > rest.Length {
		rest = because(byFactor, GapFactor, map[string]float64{"factor": d.Factor, "last": lastDuration.Seconds()})
	}
	bySite, code := crawlDelay, GapCrawlDelay
	var asked map[string]float64
	if d.Caps(crawlDelay) {
		bySite, code, asked = d.ceiling(), GapCapped, map[string]float64{"asked": crawlDelay.Seconds()}
	}
	// A capped Crawl-delay is the reason even where it ties with the delay: it must be
	// reported that the site asked for more.
	if bySite > rest.Length || (code == GapCapped && bySite == rest.Length) {
		rest = because(bySite, code, asked)
	}
	return rest
}

// Caps reports whether a site's Crawl-delay is cut: this crawl is then faster
// than the site asked, which must be reported.
func (d Demand) Caps(crawlDelay time.Duration) bool { return crawlDelay > d.ceiling() }

// ceiling is the longest Crawl-delay that is kept. An automatic delay is never below a
// Crawl-delay that the same delay, set by hand, would have kept.
func (d Demand) ceiling() time.Duration { return max(d.MaxCrawlDelay, d.Delay) }

func because(length time.Duration, code string, num map[string]float64) Rest {
	if num == nil {
		num = make(map[string]float64, 1)
	}
	num["gap"] = length.Seconds()
	return Rest{Length: length, Reason: crawl.Reason{Code: code, Num: num}}
}

// scale multiplies a duration without overflow.
func scale(d time.Duration, factor float64) time.Duration {
	product := float64(d) * factor
	if !(product > 0) { // also NaN
		return 0
	}
	if product >= math.MaxInt64/2 {
		return math.MaxInt64 / 2
	}
	return time.Duration(product)
}
