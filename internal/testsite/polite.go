package testsite

import (
	"fmt"
	"slices"
	"time"
)

// Rule is a rule that a polite client keeps.
type Rule string

// The rules that CheckPolite checks.
const (
	OneAtATime Rule = "one request at a time"
	KeepGap    Rule = "the gap between two requests"
	RetryLater Rule = "Retry-After"
	ObeyRobots Rule = "robots.txt"
)

// Breach is a rule that a request broke.
type Breach struct {
	Rule    Rule
	Request Request
	// Because is the earlier request that made this one rude; zero for ObeyRobots.
	Because Request
	// Early is how much too early it came, if that is known.
	Early time.Duration
}

// String says what happened.
func (b Breach) String() string {
	who := fmt.Sprintf("%s: %s%s at %s", b.Rule, b.Request.Host, b.Request.Path, b.Request.Begin.Format(time.StampMicro))
	before := b.Because.Path
	switch b.Rule {
	case ObeyRobots:
		return who + " is forbidden"
	case OneAtATime:
		return fmt.Sprintf("%s began while %s ran", who, before)
	case RetryLater:
		return fmt.Sprintf("%s came %s before the %s that %s asked for were over", who, b.Early, b.Because.RetryAfter, before)
	}
	return fmt.Sprintf("%s came %s too early after %s", who, b.Early, before)
}

// CheckPolite finds rude requests in a log: a request to a host while another ran, less
// than gap or the host's Crawl-delay after another's end, before a Retry-After was over, or
// for a forbidden path. Each host is judged separately.
func CheckPolite(log []Request, gap time.Duration) []Breach {
	var breaches []Breach
	hosts := map[string]*conduct{}
	for _, r := range slices.SortedStableFunc(slices.Values(log), func(a, b Request) int { return a.Begin.Compare(b.Begin) }) {
		h := hosts[r.Host]
		if h == nil {
			h = &conduct{}
			hosts[r.Host] = h
		}
		breaches = append(breaches, h.add(r, gap)...)
	}
	return breaches
}

// conduct holds the requests that one host has seen so far.
type conduct struct {
	// latest is the request that ended last, or runs still.
	latest Request
	// throttled is the one whose Retry-After ends last.
	throttled Request
}

// add judges the next request and takes it into account.
func (c *conduct) add(r Request, gap time.Duration) []Breach {
	var breaches []Breach
	if r.Forbidden {
		breaches = append(breaches, Breach{Rule: ObeyRobots, Request: r})
	}
	breaches = append(breaches, c.crowding(r, gap)...)
	if early := c.throttled.quietUntil().Sub(r.Begin); early > 0 && c.throttled.RetryAfter > 0 {
		breaches = append(breaches, Breach{RetryLater, r, c.throttled, early})
	}
	c.take(r)
	return breaches
}

// crowding compares with the latest request before.
func (c *conduct) crowding(r Request, gap time.Duration) []Breach {
	last := c.latest
	if last.Begin.IsZero() {
		return nil
	}
	if last.End.IsZero() {
		return []Breach{{OneAtATime, r, last, 0}}
	}
	rest := r.Begin.Sub(last.End)
	if rest < 0 {
		return []Breach{{OneAtATime, r, last, -rest}}
	}
	if need := max(gap, r.CrawlDelay.Std()); rest < need {
		return []Breach{{KeepGap, r, last, need - rest}}
	}
	return nil
}

func (c *conduct) take(r Request) {
	running := !c.latest.Begin.IsZero() && c.latest.End.IsZero()
	if !running && (r.End.IsZero() || !r.End.Before(c.latest.End)) {
		c.latest = r
	}
	if r.RetryAfter > 0 && r.quietUntil().After(c.throttled.quietUntil()) {
		c.throttled = r
	}
}

// quietUntil returns when the answer's Retry-After is over.
func (r Request) quietUntil() time.Time { return r.End.Add(r.RetryAfter.Std()) }

// Count returns the number of requests of a page in a log.
func Count(log []Request, host, path string) int {
	n := 0
	for _, r := range log {
		if r.Host == host && r.Path == path {
			n++
		}
	}
	return n
}
