package schedule

import (
	"math/rand/v2"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

// dated tells a clockPage when the page last changed, to the minute, at each visit that
// found a change.
func dated(changes func(from, to time.Time) bool) func(before, at time.Time) time.Duration {
	return func(before, at time.Time) time.Duration {
		for from := at.Add(-time.Minute); from.After(before); from = from.Add(-time.Minute) {
			if changes(from, at) {
				return at.Sub(from) - time.Minute
			}
		}
		return 0
	}
}

// visitsUntilKnown makes visits until the page's timetable has a slot in its time, and
// visits rely on it.
func visitsUntilKnown(t *testing.T, c *clockPage, want time.Duration, p Parameters) (visits int) {
	t.Helper()
	for ; visits < 400; visits++ {
		c.visit(p)
		table := c.page.Belief.Timetable
		if table.Period == 0 || table.Doubtful || c.plan.Interval <= 0 {
			continue
		}
		p := periods[table.Period]
		if off := (int64(table.By) - int64(want/slotTime) + p.slots) % p.slots; off <= int64(max(1, p.slots/exact)) && int64(table.Within) <= max(1, p.slots/exact) {
			return visits
		}
	}
	t.Fatalf("not known after %d visits: %+v", visits, c.page.Belief.Timetable)
	return visits
}

// Trusted dates tell the times of changes: a timetable is known with fewer visits than
// without them, and followed at once when it moves.
func TestDatesTellTimetables(t *testing.T) {
	t.Parallel()
	quick := Parameters{Round: time.Hour, Min: 10 * time.Minute, Max: day, Threshold: 2e-4}
	for _, c := range []struct {
		name    string
		p       Parameters
		changes func(from, to time.Time) bool
		at      time.Duration // since the beginning of the period
	}{
		{"daily", often, dailyAt(6.17, always), 370 * time.Minute},
		{"weekdays", often, dailyAt(22.5, weekdays), 1350 * time.Minute},
		{"hourly", quick, hourlyAt(40 * time.Minute), 40 * time.Minute},
	} {
		with := newClockPage(Fresh{}, c.p, c.changes)
		with.dates = dated(c.changes)
		without := newClockPage(Fresh{}, c.p, c.changes)
		if w, wo := visitsUntilKnown(t, with, c.at, c.p), visitsUntilKnown(t, without, c.at, c.p); w >= wo {
			t.Errorf("%s: known after %d visits with dates, %d without", c.name, w, wo)
		} else {
			t.Logf("%s: known after %d visits with dates, %d without", c.name, w, wo)
		}
	}
}

// A timetable that moves is followed within days where dates tell it.
func TestDatedTimetablesMove(t *testing.T) {
	t.Parallel()
	moved := newYear.Add(150 * day)
	for name, hour := range map[string]float64{"an hour later": 7.17, "an hour sooner": 5.17, "to the afternoon": 15} {
		before, then := dailyAt(6.17, always), dailyAt(hour, always)
		changes := func(from, to time.Time) bool {
			return before(from, earlier(to, moved)) || then(later(from, moved), to)
		}
		page := newClockPage(Fresh{}, often, changes)
		page.dates = dated(changes)
		page.until(newYear.Add(120*day), moved, often)
		stale, _ := page.until(moved.Add(8*day), moved.Add(60*day), often)
		if stale > 0.05 {
			t.Errorf("%s: stale %.3f of the time; %s", name, stale, Words(page.plan.Reasons()))
		}
	}
}

// Dates of changes that come at another minute each day, or at random, do no harm.
func TestDatesOfLooseTimes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		spread time.Duration
	}{{"within 10 minutes", 10 * time.Minute}, {"within an hour", time.Hour}, {"within a day", day}} {
		var stale, visits [2]float64
		for seed := range uint64(8) {
			random := rand.New(rand.NewPCG(seed, 2))
			var times []time.Time
			for at := newYear; at.Before(newYear.Add(400 * day)); at = at.Add(day) {
				times = append(times, at.Add(6*time.Hour+time.Duration(random.Int64N(int64(c.spread)))))
			}
			changes := func(from, to time.Time) bool {
				for i := max(0, int(from.Sub(newYear)/day)-2); i < len(times) && !times[i].After(to); i++ {
					if times[i].After(from) {
						return true
					}
				}
				return false
			}
			for i := range 2 {
				page := newClockPage(Fresh{}, often, changes)
				page.page.ID = int64(seed)
				if i == 1 {
					page.dates = dated(changes)
				}
				s, v := page.until(newYear.Add(100*day), newYear.Add(300*day), often)
				stale[i] += s / 8
				visits[i] += float64(v) / 8
			}
		}
		t.Logf("%s: stale %.4f with %.0f visits without dates, %.4f with %.0f with them", c.name, stale[0], visits[0], stale[1], visits[1])
		// What a visit is worth at the threshold, in days, counts for both.
		cost := func(i int) float64 { return stale[i]*200 + often.Threshold*visits[i] }
		if cost(1) > 1.02*cost(0) {
			t.Errorf("%s: dates raise the price of the page from %.1f to %.1f", c.name, cost(0), cost(1))
		}
	}
}

// Dates of changes that come at the same time of a day are counted.
func TestDatedIsCounted(t *testing.T) {
	t.Parallel()
	b, at := Belief{}, newYear
	for i, c := range []struct {
		what  string
		o     crawl.Outcome
		ago   time.Duration
		dated uint8
		looks uint8
	}{
		{"no date", crawl.OutcomeChanged, 0, 0, 1},
		{"the first date", crawl.OutcomeChanged, 6 * time.Hour, 1, 2},
		{"the same time", crawl.OutcomeChanged, 6*time.Hour + 8*time.Minute, 2, 3},
		{"no change", crawl.OutcomeUnchanged, 0, 2, 4},
		{"the same time", crawl.OutcomeChanged, 6 * time.Hour, 3, 5},
		{"the same minute of another hour", crawl.OutcomeChanged, 8 * time.Hour, 4, 6},
		{"the same time", crawl.OutcomeChanged, 8 * time.Hour, 5, 8},
		{"the same time", crawl.OutcomeChanged, 8 * time.Hour, 5, 10},
		{"another time", crawl.OutcomeChanged, 8*time.Hour + 20*time.Minute, 1, 11},
		{"before the last look", crawl.OutcomeChanged, 2 * day, 0, 12},
	} {
		at = at.Add(day)
		b = b.observe(Observation{Outcome: c.o, At: at, Gap: day, ChangedAgo: c.ago}, often)
		if b.Dated != c.dated || b.Times.n != c.looks {
			t.Errorf("look %d, %s: %d dated changes and %d looks, want %d and %d", i+1, c.what, b.Dated, b.Times.n, c.dated, c.looks)
		}
		if !b.valid() {
			t.Errorf("look %d: %+v is not valid", i+1, b)
		}
	}
}
