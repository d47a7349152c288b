package report

import (
	"fmt"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
)

// Sentence says how a crawl is, as to a colleague: how fresh its copies are, what needs a
// person, and when the first pass is done, in the time of a zone. With named, the zone is
// named, for readers who may live in another one.
func (s StatusLine) Sentence(zone *time.Location, named bool) string {
	parts := []string{s.freshWords()}
	if s.State != crawl.CrawlRunning {
		parts = append([]string{s.State.String()}, parts...)
	}
	needs := s.needs()
	if len(needs) == 0 && s.State == crawl.CrawlRunning {
		needs = []string{"nothing needs you"}
	}
	parts = append(parts, needs...)
	if p := s.FirstPass; p != nil {
		parts = append(parts, p.endWords(time.Time(s.Now), zone, named))
	}
	return strings.Join(parts, "; ")
}

// endWords says when the pages that were never visited will have been visited.
func (p FirstPass) endWords(now time.Time, zone *time.Location, named bool) string {
	ends := time.Time(p.Ends)
	switch {
	case p.few() && ends.IsZero():
		return plural(p.Left, "new page")
	case p.few():
		return plural(p.Left, "new page") + ", visited by about " + clock(ends, now, zone, named)
	case ends.IsZero():
		return "first pass not done"
	}
	return "first pass done at about " + clock(ends, now, zone, named)
}

func (s StatusLine) freshWords() string {
	if s.Freshness == nil {
		return s.UnknownFreshness()
	}
	return s.Freshness.short()
}

// UnknownFreshness says why there is no freshness: nothing has been copied, or no page with a copy
// is visited any more, as in a stopped crawl.
func (s StatusLine) UnknownFreshness() string {
	if s.Versions == 0 {
		return "no copies yet"
	}
	return notKept
}

const notKept = "its copies are not kept fresh"

// needs returns what somebody must look at, each in a few words: what the page for operators
// lists. A stopped crawl needs nobody.
func (s StatusLine) needs() []string {
	if s.State == crawl.CrawlStopped {
		return nil
	}
	all := s.engineNeeds()
	switch {
	case s.HostsNeedYou == 1:
		all = append(all, "1 host needs you")
	case s.HostsNeedYou > 1:
		all = append(all, fmt.Sprintf("%d hosts need you", s.HostsNeedYou))
	}
	for _, l := range s.Sinks {
		switch {
		case !l.NeedsSomebody():
		case l.State == "paused":
			all = append(all, "sink "+l.Sink+" is paused")
		case l.Lag.Std() >= sinkLate:
			all = append(all, fmt.Sprintf("sink %s is %s behind", l.Sink, schedule.Rough(l.Lag.Std())))
		default:
			all = append(all, fmt.Sprintf("sink %s could not deliver %s", l.Sink, plural(l.Undelivered, "change")))
		}
	}
	return all
}

// engineNeeds returns those about workers, workflows and disks.
func (s StatusLine) engineNeeds() []string {
	var all []string
	for _, h := range s.Held {
		all = append(all, "no requests are made: "+h.Reason)
		break
	}
	open := 0
	for _, t := range s.Troubles {
		if time.Time(t.MendedAt).IsZero() {
			open++
		}
	}
	if open > 0 {
		all = append(all, fmt.Sprintf("%s with workflows or maintenance", plural(open, "trouble")))
	}
	if s.OverAsked != "" {
		all = append(all, "more visits are asked for than are made")
	}
	if b := s.Backlog; b != nil && b.Advice != "" {
		all = append(all, "work waits for a worker for "+schedule.Rough(b.Age.Std()))
	}
	return all
}

// needsSomebody reports whether a host in this state recovers only if somebody acts, or its
// owner does. A host that asked for quiet, or that an operator blocked, does not.
func (s HostState) needsSomebody() bool { return s == HostUnreachable || s == HostForbidden }

// clock writes a time of day, with the day if it is not today.
func clock(t, now time.Time, zone *time.Location, named bool) string {
	t, now = t.In(zone), now.In(zone)
	hour := "15:04"
	if named {
		hour += " MST"
	}
	switch days := t.Sub(now); {
	case t.YearDay() == now.YearDay() && t.Year() == now.Year():
		return t.Format(hour)
	case days < 6*24*time.Hour:
		return t.Format(hour + " on Monday")
	}
	return t.Format("2 January 2006")
}
