package schedule

import (
	"math"
	"time"
)

// never is a number of days (200 years) after which no visit comes; a time.Duration holds it.
const never = 200 * 365

// exact is the share of a period within which a change's time is known well enough.
const exact = 24

// tested is at how many visits a timetable is tested once if the page changes several times
// from one visit to the next.
const tested = 8

// stage is how well the times of a timetable are known.
type stage int16

const (
	stageExact    stage = iota // to the slot, as from dates, which show when they move
	stageKnown                 // well enough
	stageDoubtful              // well enough, but visits test it
	stageSought                // not well enough
)

// stage returns how well the times are known.
func (t Timetable) stage() stage {
	switch {
	case int64(t.Within) > max(1, periods[t.Period].slots/exact):
		return stageSought
	case t.Doubtful:
		return stageDoubtful
	case t.Within == 1:
		return stageExact
	}
	return stageKnown
}

// due returns when to visit a page that keeps a timetable, after a look, once it has
// changed a number of times (≥ 1), and whether the visit serves to learn more about
// the timetable. low is the least time between two visits.
//
// As long as the time of the change is not known well, the visit comes in the middle of
// the possible times. Its result halves them. If it finds no change, the next one comes
// after the rest of them. Then visits come soon after the time.
//
// After several times, a look finds a change whenever these were. So a visit that learns is
// about the first time after the look, and leaves the others to the next visit. It then is one
// visit more, for half a period less to wait for each change, so there are few of them.
func (t Timetable) due(page Page, last time.Time, changes int64, low time.Duration) (at time.Time, learns bool) {
	p, by, within := periods[t.Period], int64(t.By), int64(t.Within)
	first, end := p.next(slotOf(last), by, 1), p.next(slotOf(last), by, changes)
	soon := slotStart(end + 1).Add(time.Duration(unit(mix(uint64(page.ID))) * float64(slotTime)))
	s, least, seek, test := t.stage(), time.Duration(0), true, t.Doubtful
	if changes > 1 {
		least, seek, test = low, page.Visit%2 == 0, s != stageExact && page.Visit%tested == 0
	}
	switch {
	case s == stageSought && seek:
		if middle := slotStart(first - within/2); middle.Sub(last) >= max(least, 1) {
			return middle, true
		}
	case s != stageSought && test:
		if before := slotStart(first - within); before.Sub(last) > max(least, time.Duration(p.slots/4)*slotTime) {
			return before, true
		}
	}
	return soon, false
}

// skips returns how many times of the timetable (≥ 1) pass from one visit to the next, which
// are at least low days apart, and whether these visits are worth it at the threshold.
func (t Timetable) skips(o Objective, threshold, low float64) (n int64, worth bool) {
	every := periods[t.Period].days()
	ticks := o.Ticks(every, threshold)
	return max(int64(min(ticks, never/every)), int64((low-1e-9)/every)+1), ticks > 0
}

// byTimetable decides when to revisit a page that keeps a timetable. It reports false
// if the page keeps none, or no visit at its times is worth it. Then the page is planned by
// its rate, but no sooner than soonest (days): a page that is not worth a visit at one
// price must not be visited earlier because of it than at a lower one.
func (o Budgeted) byTimetable(page Page, seen Observation, belief Belief, threshold float64, p Parameters, why grounds) (d Decision, is bool, soonest float64) {
	t := belief.Timetable
	if t.Period == 0 || belief.Compared == 0 {
		return Decision{}, false, 0
	}
	changes, worth := t.skips(o.Objective, threshold, days(p.Floor()))
	from := seen.At
	if from.IsZero() {
		from = belief.ComparedAt()
	}
	at, learns := t.due(page, from, changes, p.Floor())
	wanted := at.Sub(from)
	if !worth || wanted <= 0 { // not worth it, or a time beyond any calendar
		return Decision{}, false, days(max(wanted, 0))
	}
	d = Decision{Wanted: wanted, Interval: min(max(wanted, p.Floor()), p.Max), Belief: belief, why: why}
	d.why.add(t.ground(learns))
	switch d.Interval {
	case wanted:
	case p.Max:
		d.why.add(because(CodeMax, p.Max.Seconds()))
	default:
		d.why.add(because(CodeMin, p.Floor().Seconds()))
	}
	return d, true, 0
}

// ground says when the page changes: the middle of the possible times.
func (t Timetable) ground(learns bool) ground {
	code := [...]string{1: CodeHourly, 2: CodeDaily, 3: CodeWeekdays}[t.Period]
	p := periods[t.Period]
	middle := (int64(t.By) + 1 - int64(t.Within+1)/2 + p.slots) % p.slots
	half := float64(t.Within) / 2 * slotTime.Seconds()
	return because(code, float64(middle)*slotTime.Seconds(), math.Ceil(half), float64(bit(learns)))
}
