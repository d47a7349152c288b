package polite

import (
	"fmt"
	"time"

	"recrawl/internal/crawl"
)

// Words says a reason of this package in plain words; for another package's
// reason it returns its text, or its code.
func Words(r crawl.Reason) string {
	secs := func(name string) string { return Rounded(crawl.Seconds(r.Num[name])) }
	switch r.Code {
	case GapDelay:
		return secs("gap") + " between two requests"
	case GapAuto:
		return fmt.Sprintf("%s between two requests: set automatically, for the host answers in %s and refuses %.0f %% of requests", secs("gap"), secs("mean"), 100*r.Num["refused"])
	case GapFactor:
		return fmt.Sprintf("%s between two requests: %g × the last one's %s", secs("gap"), r.Num["factor"], secs("last"))
	case GapCrawlDelay:
		return secs("gap") + " between two requests: the site's Crawl-delay"
	case GapCapped:
		return fmt.Sprintf("%s between two requests: max_crawl_delay cuts the site's Crawl-delay of %s", secs("gap"), secs("asked"))
	case HostRetryAfter:
		return "the site asked for " + secs("hold") + " of quiet"
	case HostCapped:
		return fmt.Sprintf("the site asked for %s of quiet; it is tried again after %s", secs("asked"), secs("hold"))
	case HostThrottled:
		return fmt.Sprintf("the site throttles us: it is left alone for %s (back-off level %g)", secs("hold"), r.Num["level"])
	case HostFailing:
		return fmt.Sprintf("%g connections in a row failed: the host is left alone for %s", r.Num["failures"], secs("hold"))
	}
	if r.Code == FoundShare {
		return fmt.Sprintf("%.0f %% of the host's requests are kept for pages that have never been visited (%g of %g)",
			100*r.Num["kept"], r.Num["undiscovered"], r.Num["undiscovered"]+r.Num["visited"])
	}
	if r.Text != "" {
		return r.Text
	}
	return r.Code
}

// WaitWords says in plain words why a visit waits. The reason is one of the
// store's Wait constants (line, delay, backoff, robots, blocked, robots_blocked), or address; position
// is the number of places ahead.
func WaitWords(reason string, position int) string {
	switch reason {
	case "line":
		if position == 1 {
			return "one other page of the host comes first"
		}
		return fmt.Sprintf("%d other pages of the host come first", position)
	case "delay":
		return "the host rests between two requests"
	case "backoff":
		return "the host asked for quiet, or its connections fail"
	case "robots":
		return "robots.txt cannot be had, so everything is disallowed"
	case "blocked":
		return "the operator blocked the host"
	case "robots_blocked":
		return "the operator blocked the host to which robots.txt redirects"
	case "address":
		return "other requests to the host's address come first (politeness.per_address)"
	}
	return reason
}

// Rounded prints a duration for people, to three digits or so.
func Rounded(d time.Duration) string {
	unit := time.Microsecond
	for _, u := range []time.Duration{time.Hour, time.Minute, time.Second, 10 * time.Millisecond} {
		if d >= 100*u {
			unit = u
			break
		}
	}
	return crawl.FormatDuration(d.Round(unit))
}
