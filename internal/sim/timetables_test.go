package sim

import (
	"math"
	"testing"
)

// Pages that keep a timetable change at their times and at no others.
func TestTimetables(t *testing.T) {
	t.Parallel()
	d := newDrawing(1)
	for _, c := range []struct {
		timetable
		phase float64
		want  int // changes in eight weeks
	}{
		{timetable{every: 1. / 24}, 0.5, 8 * 7 * 24},
		{timetable{every: 1}, 0.25, 8 * 7},
		{timetable{every: 1, weekdays: true}, 0.25, 8 * 5},
		{timetable{every: 7}, 0.9, 8},
	} {
		changes := c.changes(d, c.phase, 56)
		if len(changes) != c.want {
			t.Errorf("%+v: %d changes in eight weeks, want %d", c, len(changes), c.want)
		}
		for _, at := range changes {
			late := math.Mod(at-c.every*c.phase, c.every)
			if late > punctual || c.weekdays && math.Mod(at, 7) < 2 {
				t.Errorf("%+v: changes at %v", c, at)
			}
		}
		if got := c.rate() * 56; math.Abs(got-float64(c.want)) > 1e-9 {
			t.Errorf("%+v: rate says %v changes, want %d", c, got, c.want)
		}
	}
	missing := timetable{every: 1, misses: 0.1}.changes(d, 0.5, 10_000)
	if n := len(missing); n < 8900 || n > 9100 {
		t.Errorf("one in ten left out: %d changes of 10000", n)
	}
}

// Offices work from nine to five on weekdays; runs come at six.
func TestOfficeHours(t *testing.T) {
	t.Parallel()
	d := newDrawing(1)
	for _, at := range d.officeHours(20, 0, 70) {
		if of := math.Mod(at, 1); of < 9./24 || of > 17./24 || math.Mod(at, 7) < 2 {
			t.Errorf("changes at %v", at)
		}
	}
	for _, at := range d.runs(6, 0, 70) {
		if of := math.Mod(at, 1); of < 6./24 || of > 6.5/24 {
			t.Errorf("runs at %v", at)
		}
	}
}
