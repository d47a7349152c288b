package schedule

import (
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
// of the weight that later ones leave.
func TestLatenessIsAMean(t *testing.T) {
	t.Parallel()
	var b Belief
	for _, late := range []time.Duration{8 * time.Hour, 0, 4 * time.Hour} {
		b = b.observe(Observation{Outcome: crawl.OutcomeUnchanged, Gap: day, Late: late}, daily)
	}
	if got := duration(float64(b.Late)).Round(time.Second); got != 3*time.Hour {
		t.Errorf("late by %v, want 3h", got)
	}
}
