package schedule

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
)

// newYear is a Saturday.
var newYear = time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)

// The times of a period are counted and found as a calendar does.
func TestTimesOfPeriods(t *testing.T) {
	t.Parallel()
	if at := slotStart(0); at.UTC().Weekday() != time.Monday || slotOf(at) != 0 {
		t.Fatalf("slots begin on %s", at.UTC())
	}
	for number := 1; number < len(periods); number++ {
		p := periods[number]
		for _, phase := range []int64{0, 1, p.slots / 3, p.slots - 1} {
			n := int64(0)
			for slot := range int64(15 * daySlot) {
				is := slot%p.slots == phase && !(p.weekdays && slotStart(slot).UTC().Weekday()%6 == 0)
				if is {
					if got := p.next(slot-1, phase, 1); slot > 0 && got != slot {
						t.Fatalf("%+v at %d: the time after slot %d is %d, want %d", p, phase, slot-1, got, slot)
					}
					n++
				}
				if got := p.upTo(slot, phase); got != n {
					t.Fatalf("%+v at %d: %d times up to slot %d, want %d", p, phase, got, slot, n)
				}
			}
			if third := p.next(0, phase, 3); p.upTo(third, phase)-p.upTo(0, phase) != 3 || p.upTo(third-1, phase)-p.upTo(0, phase) != 2 {
				t.Errorf("%+v at %d: the third time after slot 0 is %d", p, phase, third)
			}
		}
	}
}

// clockPage is a page that changes at given times, and is visited when its policy says.
type clockPage struct {
	policy  Policy
	changes func(from, to time.Time) bool
	dates   func(before, at time.Time) time.Duration // how long before a visit it changed; nil if unknown
	page    Page
	last    time.Time
	plan    Plan
}

func newClockPage(o Objective, p Parameters, changes func(from, to time.Time) bool) *clockPage {
	c := &clockPage{policy: Budgeted{o}, changes: changes, page: Page{ID: 7, State: crawl.Active}, last: newYear}
	c.see(Observation{Outcome: crawl.OutcomeNew, At: newYear}, p)
	return c
}

func (c *clockPage) see(seen Observation, p Parameters) {
	c.page.Visit++
	c.last = seen.At
	c.plan = AfterVisit(c.policy, c.page, seen, p)
	c.page.Belief = DecodeBelief(c.plan.Belief.Encode())
}

// visit makes the next visit.
func (c *clockPage) visit(p Parameters) (changed bool) {
	at := c.last.Add(c.plan.Interval)
	seen := Observation{Outcome: crawl.OutcomeUnchanged, At: at, Gap: at.Sub(c.last)}
	if changed = c.changes(c.last, at); changed {
		seen.Outcome = crawl.OutcomeChanged
		if c.dates != nil {
			seen.ChangedAgo = c.dates(c.last, at)
		}
	}
	c.see(seen, p)
	return changed
}

// until visits the page up to a time, and returns the share of the time since from in
// which its copy was out of date, and the visits made since.
func (c *clockPage) until(from, end time.Time, p Parameters) (stale float64, visits int) {
	for c.last.Before(end) {
		before := c.last
		c.visit(p)
		if before.Before(from) {
			continue
		}
		visits++
		const step = 5 * time.Minute
		for at := before; at.Before(c.last); at = at.Add(step) {
			if c.changes(before, at) {
				stale += step.Hours()
			}
		}
	}
	return stale / end.Sub(from).Hours(), visits
}

// dailyAt returns whether there is a change at an hour of a day between two times.
func dailyAt(hours float64, on func(time.Time) bool) func(from, to time.Time) bool {
	return func(from, to time.Time) bool {
		at := from.Truncate(day).Add(time.Duration(hours * float64(time.Hour)))
		for ; !at.After(to); at = at.Add(day) {
			if at.After(from) && on(at) {
				return true
			}
		}
		return false
	}
}

func always(time.Time) bool { return true }

func weekdays(at time.Time) bool { return at.Weekday()%6 != 0 }

var often = Parameters{Round: day, Min: time.Hour, Max: 120 * day, Threshold: 0.2}

// Pages that change by the clock are visited soon after they do, and the reason gives
// the time.
func TestTimetablesAreLearned(t *testing.T) {
	t.Parallel()
	quick := Parameters{Round: time.Hour, Min: 10 * time.Minute, Max: day, Threshold: 2e-4}
	for _, c := range []struct {
		name    string
		o       Objective
		p       Parameters
		changes func(from, to time.Time) bool
		want    string
		at      time.Duration // since the beginning of the period
		stale   float64
	}{
		{"daily", Fresh{}, often, dailyAt(6.17, always), "changes daily at about 06:", 370 * time.Minute, 0.05},
		{"weekdays", Fresh{}, often, dailyAt(22.5, weekdays), "changes from Mondays to Fridays at about 22:", 1350 * time.Minute, 0.05},
		{"hourly", Age{}, quick, hourlyAt(40 * time.Minute), "changes hourly at about ", 40 * time.Minute, 0.25},
	} {
		page := newClockPage(c.o, c.p, c.changes)
		from := newYear.Add(120 * c.p.Round)
		stale, visits := page.until(from, from.Add(60*c.p.Round), c.p)
		words, table := Words(page.plan.Reasons()), page.page.Belief.Timetable
		slot := int64(c.at / slotTime)
		if table.Period == 0 || !strings.Contains(words, c.want) || stale > c.stale {
			t.Errorf("%s: stale %.3f of the time with %d visits in 60 rounds; %s", c.name, stale, visits, words)
		} else if p := periods[table.Period]; (int64(table.By)-slot+p.slots)%p.slots > int64(table.Within) {
			t.Errorf("%s: %+v, want slot %d", c.name, table, slot)
		}
	}
}

// hourlyAt returns whether there is a change the given time after an hour between two
// times.
func hourlyAt(past time.Duration) func(from, to time.Time) bool {
	return func(from, to time.Time) bool {
		at := from.Truncate(time.Hour).Add(past)
		if !at.After(from) {
			at = at.Add(time.Hour)
		}
		return !at.After(to)
	}
}

// A timetable that moves by an hour, as local time does, by more, or that ends, is given
// up or follows within weeks: the page is as fresh again as before.
func TestTimetablesMoveAndEnd(t *testing.T) {
	t.Parallel()
	moved := newYear.Add(150 * day)
	for _, c := range []struct {
		name  string
		then  func(from, to time.Time) bool
		stale float64 // a month later
	}{
		{"an hour later", dailyAt(7.17, always), 0.05},
		{"an hour sooner", dailyAt(5.17, always), 0.05},
		{"to the afternoon", dailyAt(15, always), 0.05},
		{"to weekdays", dailyAt(6.17, weekdays), 0.05},
		{"no changes at all", func(time.Time, time.Time) bool { return false }, 0},
	} {
		before := dailyAt(6.17, always)
		page := newClockPage(Fresh{}, often, func(from, to time.Time) bool {
			return before(from, earlier(to, moved)) || c.then(later(from, moved), to)
		})
		if stale, _ := page.until(newYear.Add(120*day), moved, often); stale > 0.05 || page.page.Belief.Timetable.Period == 0 {
			t.Fatalf("stale %.3f of the time before", stale)
		}
		stale, visits := page.until(moved.Add(45*day), moved.Add(105*day), often)
		if stale > c.stale {
			t.Errorf("%s: stale %.3f of the time with %d visits in 60 days; %s", c.name, stale, visits, Words(page.plan.Reasons()))
		}
		if c.stale == 0 && (page.page.Belief.Timetable.Period != 0 || page.page.Belief.Times != (Times{})) {
			t.Errorf("%s: %+v is left of the timetable", c.name, page.page.Belief)
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Pages that change at random are hardly ever believed to keep a timetable.
func TestChanceIsNoTimetable(t *testing.T) {
	t.Parallel()
	looks, believed := 0, 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		rate := math.Exp(random.Float64()*4 - 2)
		page := newClockPage(Delay{}, often, func(from, to time.Time) bool {
			return random.ExpFloat64() < rate*to.Sub(from).Hours()/24
		})
		page.page.ID = int64(seed)
		for range 300 {
			page.visit(often)
			looks++
			believed += int(bit(page.page.Belief.Timetable.Period != 0))
		}
	}
	if share := float64(believed) / float64(looks); share > 0.01 {
		t.Errorf("after %.3f of %d looks", share, looks)
	}
}

// The memory of the times is small, and empty for a page that does not change.
func TestTimesAreFew(t *testing.T) {
	t.Parallel()
	page := newClockPage(Age{}, often, dailyAt(6, always))
	most := 0
	for range 1000 {
		page.visit(often)
		most = max(most, int(page.page.Belief.Times.n))
	}
	if most > recalled || page.page.Belief.Timetable.Period == 0 {
		t.Errorf("%d looks, timetable %+v", most, page.page.Belief.Timetable)
	}
	still := newClockPage(Age{}, often, func(time.Time, time.Time) bool { return false })
	for range 50 {
		still.visit(often)
	}
	if b := still.page.Belief; b.Times != (Times{}) || b.Timetable != (Timetable{}) {
		t.Errorf("of a page that never changed: %v %+v", b.Times, b.Timetable)
	}
}

// Ticks is the best number of changes between two visits, each right after a change.
func TestTicks(t *testing.T) {
	t.Parallel()
	// penalty is the cost of k changes until the visit at the k-th.
	penalties := map[string]func(k float64) float64{
		"fresh": func(k float64) float64 { return k - 1 },
		"age":   func(k float64) float64 { return (k - 1) * (k - 1) / 2 },
		"sqrt":  func(k float64) float64 { return k * (k - 1) / 2 },
		"harmonic": func(k float64) float64 {
			sum := 0.0
			for i := 1.0; i < k; i++ {
				sum += (k - i) / i
			}
			return sum
		},
	}
	for _, o := range Objectives() {
		unit := func(every float64) float64 { // penalties are in days, the age's in their square
			if o.Name() == "age" {
				return every * every
			}
			return every
		}
		for _, every := range []float64{1. / 24, 1, 1.4, 7} {
			for _, theta := range []float64{1e-3, 0.1, 0.3, 0.99, 2.2, 10.3, 77.7} {
				cost := func(k float64) float64 { return (penalties[o.Name()](k)*unit(every) + theta) / (k * every) }
				best := 1.0
				for k := 2.0; k < 3000; k++ {
					if cost(k) < cost(best) {
						best = k
					}
				}
				if o.Name() == "fresh" && cost(1) > 1 {
					best = 0
				}
				if got := o.Ticks(every, theta); got != best {
					t.Errorf("%s: every %v days at θ %v: %v changes, want %v", o.Name(), every, theta, got, best)
				}
			}
		}
	}
}

// A page that changes daily is given up at a price that its day is not worth. It is then
// not visited sooner than it was at its times, whatever would make a page without a
// timetable due sooner.
func TestDearerIsNotSooner(t *testing.T) {
	t.Parallel()
	b := Belief{Compared: 1, LastGap: 1, Changes: 1, Days: 1, Timetable: Timetable{Period: 2, Within: 1}}
	for name, pairs := range map[string]int{"never compared": 0, "compared": 1} {
		for visit := 1; visit <= 2; visit++ {
			page := Page{ID: 1, State: crawl.Active, Visit: visit, Belief: b}
			page.Belief.Pairs = pairs
			p := Parameters{Round: 1, Min: 1, Max: 365 * day, Threshold: 0.9, Weight: 1}
			worth := Replan(Budgeted{Fresh{}}, page, p)
			p.Threshold = 1.1
			if given := Replan(Budgeted{Fresh{}}, page, p); given.Wanted+1 < worth.Wanted { // + 1 ns: days are rounded
				t.Errorf("%s, visit %d: after %s at θ 0.9, after %s at θ 1.1", name, visit, worth.Wanted, given.Wanted)
			}
		}
	}
}

// No constant rate explains looks better than the one found, and the guess that the search
// begins at never better than that.
func TestSteadyRateIsTheLikeliest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		times := anyTimes(t)
		looks := times.looks(1 << 20)
		for _, fades := range []float64{1, recent} {
			best := looks.steady(fades)
			if guessed := looks.atRate(looks.guess(), fades); guessed > best+1e-4 {
				t.Errorf("%v at the guess, %v at the likeliest rate", guessed, best)
			}
			rate := rapid.Float64Range(1e-6, 10).Draw(t, "rate")
			if other := looks.atRate(rate, fades); other > best+1e-4 {
				t.Errorf("%v at %v changes a slot, %v at the likeliest rate", other, rate, best)
			}
		}
	})
}
