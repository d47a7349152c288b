package schedule

import (
	"testing"
	"time"
)

// watch makes visits up to a time, and returns how many a day, and how long the changes before
// it waited for their visits, in days on average.
func (c *clockPage) watch(end time.Time, p Parameters) (visits, wait float64) {
	from, made, waited, n := c.last, 0.0, 0.0, 0.0
	for c.last.Before(end) {
		before := c.last
		c.visit(p)
		made++
		const step = 5 * time.Minute
		for at := before; at.Before(c.last); at = at.Add(step) {
			if c.changes(at, at.Add(step)) {
				waited += days(c.last.Sub(at))
				n++
			}
		}
	}
	return made / days(c.last.Sub(from)), waited / max(n, 1)
}

// A page that is worth a visit at every n-th of its times only, as when its crawl has grown, is
// visited soon after these. Each look at it finds a change, whenever its times are. So it is
// tested now and then, for one visit in eight more, and a timetable that moves is followed.
func TestTimetablesThatSkipTimes(t *testing.T) {
	t.Parallel()
	moves := newYear.Add(320 * day)
	for n, theta := range map[float64]float64{2: 2, 3: 5, 6: 20} {
		for name, hour := range map[string]float64{"stays": 6.17, "an hour later": 7.17, "an hour sooner": 5.17, "to the afternoon": 16} {
			before, then := dailyAt(6.17, always), dailyAt(hour, always)
			page := newClockPage(Delay{}, often, func(from, to time.Time) bool {
				return before(from, earlier(to, moves)) || then(later(from, moves), to)
			})
			page.watch(newYear.Add(120*day), often)
			if page.page.Belief.Timetable.Period == 0 {
				t.Fatal("no timetable was learned")
			}
			dear := often
			dear.Threshold = theta
			check := func(when string, until time.Time) {
				t.Helper()
				visits, wait := page.watch(until, dear)
				if best := (n - 1) / 2; wait > best+0.1 || visits > 1.25/n {
					t.Errorf("every %v days, %s %s: changes wait %.2f days with %.3f visits a day; right after a change they wait %v", n, name, when, wait, visits, best)
				}
			}
			check("before", moves)
			page.watch(moves.Add(120*day), dear)
			check("after", moves.Add(300*day))
		}
	}
}

// A timetable ends for pages that are visited less than weekly, too: their visits are then
// planned by their rates, which fall.
func TestTimetablesOfRareVisitsEnd(t *testing.T) {
	t.Parallel()
	ends := newYear.Add(150 * day)
	daily := dailyAt(6.17, always)
	page := newClockPage(Delay{}, often, func(from, to time.Time) bool { return daily(from, earlier(to, ends)) })
	page.watch(newYear.Add(120*day), often)
	rare := often
	rare.Threshold = 60 // every eleven days
	page.watch(ends, rare)
	if page.page.Belief.Timetable.Period == 0 {
		t.Fatal("the timetable was given up before it ended")
	}
	page.watch(ends.Add(30*day), rare)
	if got := page.page.Belief.Timetable; got != (Timetable{}) {
		t.Errorf("a month after the last change, the page keeps %+v", got)
	}
}

// After a long gap, which looks before it say nothing about, a timetable still ends.
func TestTimetablesEndAfterAGap(t *testing.T) {
	t.Parallel()
	ends := newYear.Add(140 * day)
	daily := dailyAt(6.17, always)
	page := newClockPage(Delay{}, often, func(from, to time.Time) bool { return daily(from, earlier(to, ends)) })
	page.watch(newYear.Add(120*day), often)
	page.plan.Interval = ends.Sub(page.last) // nobody visits it for so long
	page.visit(often)
	if page.page.Belief.Timetable.Period == 0 {
		t.Fatal("the timetable was given up in the gap")
	}
	page.watch(ends.Add(30*day), often)
	if got := page.page.Belief.Timetable; got != (Timetable{}) {
		t.Errorf("a month after the last change, the page keeps %+v", got)
	}
}

// After a long gap, too, a page is visited at its time, which need not be searched anew. If it has
// moved meanwhile, it is followed.
func TestTimetablesKeepTheirTimesAcrossAGap(t *testing.T) {
	t.Parallel()
	back := newYear.Add(140*day + 12*time.Hour)
	gone := func(c *clockPage) {
		c.watch(newYear.Add(120*day), often)
		c.plan.Interval = back.Sub(c.last) // nobody visits it for so long
		c.visit(often)
		c.page.Belief.Timetable.Doubtful = false // as it is most of the time
		c.plan.Decision = Replan(c.policy, c.page, often)
	}
	page := newClockPage(Delay{}, often, dailyAt(6.17, always))
	gone(page)
	for i := range 12 {
		if got := page.page.Belief.Timetable; got.Period != 2 || int64(got.Within) > daySlot/exact {
			t.Fatalf("%d visits after the gap: %+v", i, got)
		}
		page.visit(often)
	}
	before, then := dailyAt(6.17, always), dailyAt(16, always)
	moved := newClockPage(Delay{}, often, func(from, to time.Time) bool {
		return before(from, earlier(to, back.Add(-5*day))) || then(later(from, back.Add(-5*day)), to)
	})
	gone(moved)
	if stale, visits := moved.until(back.Add(20*day), back.Add(60*day), often); stale > 0.05 {
		t.Errorf("moved in the gap: stale %.3f of the time with %d visits in 40 days", stale, visits)
	}
}
