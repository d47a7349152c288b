package report

import (
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/rank"
	"recrawl/internal/store"
)

// The next visit comes at the latest of all times for which it waits, with the part that
// decides.
func TestNextVisit(t *testing.T) {
	t.Parallel()
	due, soon := now.Add(-8*time.Minute), now.Add(10*time.Second)
	later := now.Add(23*time.Hour + 48*time.Minute)
	hold := crawl.Reason{Code: polite.HostRetryAfter, Num: map[string]float64{"hold": (24 * time.Hour).Seconds()}}
	held := &store.HostRecord{BackoffUntil: later, BackoffReason: hold, NextFree: later}
	busy := &store.HostRecord{NextFree: soon, GapReason: polite.Host{}.Gap(polite.Demand{Delay: 10 * time.Second}, polite.Demand{}, 0).Reason}
	dead := store.RobotsRecord{State: store.RobotsUnreachable, Problem: "connect: connection refused", ExpiresAt: now.Add(2 * time.Minute)}
	var out store.Standing
	out.Evicted.At, out.Evicted.By, out.Evicted.Reason = now, "http://b.test/", crawl.Reason{Code: rank.CodeSurplus, Num: map[string]float64{"out": 0.5}}
	active := func(w Waits) Waits {
		w.Crawl, w.State = crawl.CrawlRunning, crawl.Active
		return w
	}
	for name, c := range map[string]struct {
		waits Waits
		by    Part
		at    time.Time
		words string
	}{
		"sleeping":  {active(Waits{Due: later, Host: busy}), PartDue, later, "in 23h 48m"},
		"overdue":   {active(Waits{Due: due}), PartDue, due, "now, due 8m ago"},
		"throttled": {active(Waits{Due: due, Host: held}), PartBackoff, later, "in 23h 48m: the site asked for 1d of quiet"},
		"throttled, but due after that": {
			active(Waits{Due: later.Add(time.Hour), Host: held}), PartDue, later.Add(time.Hour), "in 1d",
		},
		"throttled and in line": {
			active(Waits{Due: due, Host: held, Standing: store.Standing{Promised: later.Add(time.Hour)}}), PartLine, later.Add(time.Hour),
			"in 1d: others come first in its host's line, which waits until a back-off ends: the site asked for 1d of quiet",
		},
		"in line": {
			active(Waits{Due: due, Host: busy, Standing: store.Standing{Promised: later}}), PartLine, later,
			"in 23h 48m: others come first in its host's line",
		},
		"host rests":         {active(Waits{Due: due, Host: busy}), PartGap, soon, "in 10s: 10s between two requests"},
		"snoozed":            {active(Waits{Due: due, Snoozed: later}), PartSnooze, later, "in 23h 48m: snoozed"},
		"under way":          {active(Waits{Due: due, Host: busy, Standing: store.Standing{Underway: true}}), PartUnderway, now, "now: under way"},
		"robots unreachable": {active(Waits{Due: due, Robots: dead}), PartRobots, dead.ExpiresAt, "in 2m: robots.txt cannot be had: connect: connection refused"},
		"robots elsewhere": {
			active(Waits{Due: due, Host: busy, Robots: store.RobotsRecord{State: store.RobotsRedirected, Problem: "it redirects to http://b.test/r.txt"}, Standing: store.Standing{Promised: later}}), PartRobots, later,
			"in 23h 48m: robots.txt is not known yet: it redirects to http://b.test/r.txt, which waits for its turn there",
		},
		"robots tried again": {active(Waits{Due: due, Robots: store.RobotsRecord{State: store.RobotsUnreachable, ExpiresAt: due.Add(time.Second)}}), PartDue, due, "now, due 8m ago"},
		"blocked":            {active(Waits{Due: due, Host: &store.HostRecord{Blocked: true, BackoffUntil: later}, Robots: dead}), PartBlocked, time.Time{}, "none: an operator blocked the host"},
		"paused":             {Waits{Crawl: crawl.CrawlPaused, State: crawl.Active, Due: later, Host: held}, PartPaused, time.Time{}, "none: the crawl is paused"},
		"crawl stopped":      {Waits{Crawl: crawl.CrawlStopped, State: crawl.Active, Due: soon}, PartStopped, time.Time{}, "none: the crawl is stopped"},
		"page stopped":       {Waits{Crawl: crawl.CrawlRunning, State: crawl.Stopped, Due: soon}, PartStopped, time.Time{}, "none: the page was stopped"},
		"held by a trap":     {Waits{Crawl: crawl.CrawlRunning, State: crawl.Held, Standing: store.Standing{Trap: "a.test/calendar"}}, PartTrap, time.Time{}, "none: held by trap a.test/calendar"},
		"evicted":            {Waits{Crawl: crawl.CrawlRunning, State: crawl.Evicted, Due: soon, Standing: out}, PartEvicted, time.Time{}, "none: evicted for http://b.test/: more pages than max_pages; this one is worth 0.50"},
		"not admitted":       {Waits{Crawl: crawl.CrawlRunning, State: crawl.Known}, PartAdmission, time.Time{}, "-"},
		"not admitted, and its host is dead": {
			Waits{Crawl: crawl.CrawlRunning, State: crawl.Known, Robots: dead}, PartRobots, time.Time{}, "none: robots.txt cannot be had: connect: connection refused",
		},
		"excluded": {
			Waits{Crawl: crawl.CrawlRunning, State: crawl.Excluded, Due: later, Standing: store.Standing{Excluded: "out of scope: rule old"}}, PartDue, later, "in 23h 48m: out of scope: rule old",
		},
	} {
		got := NextVisit(c.waits, now)
		if got.By != c.by || !got.At.Equal(c.at) || got.words(now) != c.words {
			t.Errorf("%s: %+v, %q; want %s at %v, %q", name, got, got.words(now), c.by, c.at, c.words)
		}
	}
}

// The state of a host comes with its reason.
func TestHostStates(t *testing.T) {
	t.Parallel()
	dead := store.RobotsRecord{State: store.RobotsUnreachable, Problem: "connect: connection refused"}
	later := now.Add(time.Hour)
	for name, c := range map[string]struct {
		host      store.HostRecord
		robots    []store.RobotsRecord
		forbidden bool
		want      HostState
		why       string
	}{
		"fine":      {want: HostOK},
		"blocked":   {host: store.HostRecord{Blocked: true}, robots: []store.RobotsRecord{dead}, want: HostBlocked, why: "an operator blocked the host"},
		"dead":      {robots: []store.RobotsRecord{{State: store.RobotsParsed}, dead}, want: HostUnreachable, why: "robots.txt cannot be had: connect: connection refused"},
		"forbidden": {forbidden: true, want: HostForbidden, why: "robots.txt forbids everything"},
		"failing": {
			host: store.HostRecord{Failures: 3, BackoffUntil: later, BackoffReason: crawl.Reason{Code: polite.HostFailing, Num: map[string]float64{"failures": 3, "hold": 60}}},
			want: HostUnreachable, why: "3 connections in a row failed: the host is left alone for 1m",
		},
		"throttled": {
			host: store.HostRecord{BackoffUntil: later, BackoffReason: crawl.Reason{Code: polite.HostThrottled, Num: map[string]float64{"level": 2, "hold": 60}}},
			want: HostThrottled, why: "the site throttles us: it is left alone for 1m (back-off level 2)",
		},
		"was throttled": {host: store.HostRecord{BackoffUntil: now.Add(-time.Hour)}, want: HostOK},
	} {
		if state, why := stateOf(c.host, c.robots, c.forbidden, now); state != c.want || why != c.why {
			t.Errorf("%s: %s, %q; want %s, %q", name, state, why, c.want, c.why)
		}
	}
}
