package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

// A page of a full host joins the line sooner by the time that it waits there, so that
// its visits come when they were planned. Where a host has room, nothing is added:
// lateness there was an accident.
func TestQueueing(t *testing.T) {
	t.Parallel()
	p := daily
	p.Threshold, p.Max = 2, 100*day
	at := time.Unix(1790000000, 0)
	page := Page{ID: 1, State: crawl.Active, Visit: 40, Belief: Belief{Pairs: 20, Days: 300, Looks: 10, Apart: 10, Compared: at.UnixMilli()}}
	free := Replan(Budgeted{Delay{}}, page, p).Wanted
	page.Belief.Late = 0.5
	if got := Replan(Budgeted{Delay{}}, page, p).Wanted; got != free {
		t.Errorf("late at a host with room: %v, want %v", got, free)
	}
	p.Threshold, p.HostPrice = 1, 2
	d := Replan(Budgeted{Delay{}}, page, p)
	if got := d.Wanted; got != free-12*time.Hour {
		t.Errorf("half a day late at a full host: %v, want 12h less than %v", got, free)
	}
	if words := Words(d.Reasons()); !strings.Contains(words, "12h sooner, as long as it waits for its host") {
		t.Errorf("reasons: %s", words)
	}
	page.Belief.Late = 1000
	if got := Replan(Budgeted{Delay{}}, page, p).Wanted; got != free-free/4 {
		t.Errorf("very late at a full host: %v, want three quarters of %v", got, free)
	}
}

// One late visit is not a line: lateness is a mean in which each visit counts for half
// of the weight that later ones leave. Where the host has room, a visit that is much later
// than those before comes after an outage, and counts for little.
func TestLatenessIsAMean(t *testing.T) {
	t.Parallel()
	const often = 30
	full := daily
	full.Threshold, full.HostPrice = 1, 2
	for _, c := range []struct {
		name        string
		p           Parameters
		outcome     crawl.Outcome
		planned     time.Duration
		late        []time.Duration
		least, most time.Duration
	}{
		{"at a full host", full, crawl.OutcomeUnchanged, day, []time.Duration{8 * time.Hour, 0, 4 * time.Hour}, 3 * time.Hour, 3 * time.Hour},
		{"a little", daily, crawl.OutcomeUnchanged, day, []time.Duration{time.Hour}, 30 * time.Minute, 30 * time.Minute},
		{"after an outage", daily, crawl.OutcomeUnchanged, 10 * day, []time.Duration{60 * day}, 12 * time.Hour, 12 * time.Hour},
		{"after one long ago", daily, crawl.OutcomeUnchanged, 10 * day, []time.Duration{60 * day, 0, 0, 0}, 0, 2 * time.Hour},
		{"lasting", daily, crawl.OutcomeUnchanged, day, slices.Repeat([]time.Duration{6 * time.Hour}, often), 359 * time.Minute, 6 * time.Hour},
		{"a first visit", daily, crawl.OutcomeNew, 0, []time.Duration{5 * day}, 0, 0},
	} {
		var b Belief
		for _, late := range c.late {
			seen := Observation{Outcome: c.outcome, Late: late}
			if c.planned > 0 {
				seen.Gap = c.planned + late
			}
			b = b.observe(seen, c.p)
		}
		if got := duration(float64(b.Late)).Round(time.Minute); got < c.least || got > c.most {
			t.Errorf("%s: late by %v, want %v to %v", c.name, got, c.least, c.most)
		}
	}
}

// After an outage of two months the plans allow for a twentieth of their intervals, not a quarter.
func TestOutageAddsFewVisits(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"sqrt", "fresh", "age", "harmonic"} {
		c := newCollection(t, spec(policy), 7, 600, 3)
		for range 10 {
			c.round(100, nil)
		}
		c.now = c.now.Add(60 * day)
		for i := range c.entries {
			e := &c.entries[i]
			at := c.now.Truncate(time.Millisecond)
			seen := Observation{Outcome: crawl.OutcomeUnchanged, At: at, Gap: at.Sub(e.At), Late: max(0, at.Sub(e.Due))}
			e.Belief, e.At = e.Belief.observe(seen, c.rules.At(0).Steer(c.steering, c.hosts[e.Host], 1)), at
		}
		c.plan()
		for range 10 {
			c.round(100, nil)
		}
		if got := c.planned(-1); got > 107 {
			t.Errorf("%s: %v visits a day are planned, the budget has 100", policy, got)
		}
	}
}
