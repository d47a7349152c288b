package sim

import "math"

// Worlds whose pages change by the clock and the calendar. They start on a Saturday, as
// [epoch] is one.

// timetable says at which hours a page may change, one time in each.
type timetable struct {
	every    float64 // days from one time to the next
	weekdays bool    // not on Saturdays and Sundays
	misses   float64 // share of the times at which the page does not change after all
}

// timetables are typical of real sites: tickers, daily editions, bulletins of working days,
// and weekly programmes.
var timetables = []timetable{{every: 1. / 24}, {every: 1}, {every: 1, weekdays: true}, {every: 7}}

// punctual is the precision of timetables: a change comes up to two minutes late.
const punctual = 2. / 1440

// rate returns the changes a day by the timetable.
func (t timetable) rate() float64 {
	rate := (1 - t.misses) / t.every
	if t.weekdays {
		rate *= 5. / 7
	}
	return rate
}

// changes draws the changes from start to end of a page that changes a phase (0 to 1)
// after each beginning of its period.
func (t timetable) changes(d drawing, phase, end float64) []float64 {
	var changes []float64
	for at := t.every * phase; at < end; at += t.every {
		exact := at + d.Float64()*punctual
		missed := d.Float64() < t.misses
		if missed || exact >= end || exact <= 0 || t.weekdays && !weekday(at) {
			continue
		}
		changes = append(changes, exact)
	}
	return changes
}

// weekday reports whether a time is from Monday to Friday.
func weekday(at float64) bool { return math.Mod(at, 7) >= 2 }

// settleBy adds a page to the latest host that changes by a timetable.
func (w *World) settleBy(t timetable, d drawing, phase, days float64) {
	w.settle(t.rate(), func(_, _, end float64) []float64 { return t.changes(d, phase, end) }, days)
}

// drawTimetables draws pages of which one in three keeps one of the timetables, with a
// phase of its own. The others change at constant rates, from monthly to every three
// years.
func drawTimetables(d drawing, s Spec) World {
	w := World{Hosts: 1}
	for i := range s.Pages {
		if i%3 == 0 {
			w.settleBy(timetables[i/3%len(timetables)], d, d.Float64(), s.Days)
			continue
		}
		w.settle(1/d.between(30, 1000), d.poisson, s.Days)
	}
	return w
}

// drawEditions draws sites of 30 pages. On each, a third of the pages change daily within
// an hour of the site's own time, except one time in ten; another third weekly, and the
// rest every two months or less often.
func drawEditions(d drawing, s Spec) World {
	const size = 30
	w := World{}
	hour := 0.0
	for i := range s.Pages {
		if i%size == 0 {
			w.Hosts++
			hour = d.Float64() * 23 / 24
		}
		switch phase := hour + d.Float64()/24; i % 3 {
		case 0:
			w.settleBy(timetable{every: 1, misses: 0.1}, d, phase, s.Days)
		case 1:
			w.settleBy(timetable{every: 7, misses: 0.1}, d, (float64(d.IntN(7))+phase)/7, s.Days)
		default:
			w.settle(1/d.between(60, 1000), d.poisson, s.Days)
		}
	}
	return w
}

// drawMoving draws pages of which one in three changes daily or on weekdays, by a clock that
// is an hour ahead from spring to autumn. After four months on average its hour moves, or,
// one time in three, the page changes seldom from then on, like the others.
func drawMoving(d drawing, s Spec) World {
	w := World{Hosts: 1}
	for i := range s.Pages {
		seldom := 1 / d.between(30, 1000)
		if i%3 != 0 {
			w.settle(seldom, d.poisson, s.Days)
			continue
		}
		t := timetable{every: 1, weekdays: i%2 == 0}
		w.settle(t.rate(), func(_, start, end float64) []float64 {
			var changes []float64
			for start < end {
				until := min(start+60+120*d.Float64(), end)
				changes = append(changes, t.local(d, d.Float64(), start, until)...)
				start = until
				if d.IntN(3) == 0 {
					return append(changes, d.poisson(seldom, start, end)...)
				}
			}
			return changes
		}, s.Days)
	}
	return w
}

// local draws the changes from start to end of a daily page, by a clock that is an hour
// ahead from the end of March to that of October.
func (t timetable) local(d drawing, phase, start, end float64) []float64 {
	var changes []float64
	for day := math.Floor(start); day < end; day++ {
		at := day + phase + d.Float64()*punctual
		if ofYear := math.Mod(day, 365); ofYear >= 85 && ofYear < 302 {
			at -= 1. / 24
		}
		if at > start && at < end && !(t.weekdays && !weekday(day)) {
			changes = append(changes, at)
		}
	}
	return changes
}

// drawClockwork draws pages that all keep a timetable: every look finds a change, or
// nearly so.
func drawClockwork(d drawing, s Spec) World {
	w := World{Hosts: 1}
	for i := range s.Pages {
		w.settleBy(timetables[i%len(timetables)], d, d.Float64(), s.Days)
	}
	return w
}

// drawPeriods draws pages that change every 7 to 28 days, each with a period and a phase
// of its own.
func drawPeriods(d drawing, s Spec) World {
	w := World{Hosts: 1}
	for range s.Pages {
		w.settleBy(timetable{every: d.between(7, 28)}, d, d.Float64(), s.Days)
	}
	return w
}

// drawBatches draws pages of which three in ten change six times a day: half of these in
// office hours only, the other half in one run a day. The others change next to never, so
// all that a budget can gain is in pages that change at nearly every look.
func drawBatches(d drawing, s Spec) World {
	w := World{Hosts: 1}
	for i := range s.Pages {
		switch {
		case i%10 > 2:
			w.settle(1e-4, d.poisson, s.Days)
		case i%2 == 0:
			w.settle(6, d.officeHours, s.Days)
		default:
			w.settle(6, d.runs, s.Days)
		}
	}
	return w
}

// runs draws changes that come daily at six, one after the other within half an hour.
func (d drawing) runs(rate, start, end float64) []float64 {
	const first, last = 6. / 24, 6.5 / 24
	var changes []float64
	for day := math.Floor(start); day < end; day++ {
		changes = append(changes, d.poisson(rate/(last-first), max(start, day+first), min(end, day+last))...)
	}
	return changes
}

// drawOffice draws the pages of drawHosts, which change from nine to five on weekdays
// only.
func drawOffice(d drawing, s Spec) World { return drawSites(d, s, d.officeHours, false) }

// Office hours: five of seven days, eight hours each.
const (
	opens, closes = 9. / 24, 17. / 24
	atWork        = 5. / 7 * (closes - opens)
)

// officeHours draws the changes of a page that changes rate times a day on average, all
// of them in office hours.
func (d drawing) officeHours(rate, start, end float64) []float64 {
	var changes []float64
	for day := math.Floor(start); day < end; day++ {
		if weekday(day) {
			changes = append(changes, d.poisson(rate/atWork, max(start, day+opens), min(end, day+closes))...)
		}
	}
	return changes
}
