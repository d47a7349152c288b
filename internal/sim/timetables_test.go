package sim

import (
	"math"
	"testing"

	"recrawl/internal/schedule"
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

// forgetful is a policy that does not remember when a page changed.
type forgetful struct{ schedule.Budgeted }

func (f forgetful) Next(page schedule.Page, seen schedule.Observation, p schedule.Parameters) schedule.Decision {
	page.Belief.Times, page.Belief.Timetable = schedule.Times{}, schedule.Timetable{}
	return f.Budgeted.Next(page, seen, p)
}

// withoutTimetables returns our policy without learning timetables.
func withoutTimetables(o schedule.Objective) Policy {
	return Policy{Name: o.Name(), Objective: o.Name(), make: func(s Setting, _ *World) Scheduler {
		p := newProduct(schedule.Budgeted{Objective: o}, s)
		p.policy = forgetful{schedule.Budgeted{Objective: o}}
		return p
	}}
}

// The value of learning timetables to each policy, on its own measure, compared with the
// same policy without: it gains where there are timetables that the budget can follow, and
// elsewhere loses no more than is chance at the size of these worlds.
func TestTimetablesPay(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many simulations")
	}
	t.Parallel()
	for _, c := range []struct {
		kind   string
		budget float64
		most   map[string]float64 // share of the penalty without timetables
	}{
		{"timetables", 1, map[string]float64{"sqrt": 0.85, "fresh": 0.9, "age": 0.8}},
		{"editions", 1, map[string]float64{"sqrt": 0.7, "fresh": 0.7, "age": 0.7}},
		{"moving", 1, map[string]float64{"sqrt": 0.7, "fresh": 0.7, "age": 0.9}},
		{"cho", 0.3, map[string]float64{"sqrt": 1.01, "fresh": 1.01, "age": 1.01}},
		{"host", 0.3, map[string]float64{"sqrt": 1.01, "fresh": 1.01, "age": 1.01}},
		{"burst", 0.3, map[string]float64{"sqrt": 1.01, "fresh": 1.01, "age": 1.01}},
		{"periods", 0.3, map[string]float64{"sqrt": 1.01, "fresh": 1.01, "age": 1.01}},
		{"batches", 0.3, map[string]float64{"sqrt": 0.97, "fresh": 0.97, "age": 1.01}},
		{"office", 0.3, map[string]float64{"sqrt": 1.01, "fresh": 1.01, "age": 1.01}},
	} {
		t.Run(c.kind, func(t *testing.T) {
			for _, o := range []schedule.Objective{schedule.Delay{}, schedule.Fresh{}, schedule.Age{}} {
				got := withTimetables(t, c.kind, o, c.budget)
				if got > c.most[o.Name()] {
					t.Errorf("%s: %.3f of what it is without timetables, want %v", o.Name(), got, c.most[o.Name()])
				} else {
					t.Logf("%s: %.3f of what it is without timetables", o.Name(), got)
				}
			}
		})
	}
}

// withTimetables plays a policy on worlds of a kind, and returns its penalty as a share of
// the same policy's without timetables: the mean over two seeds, because single ones differ
// by some percent.
func withTimetables(t *testing.T, kind string, o schedule.Objective, budget float64) float64 {
	t.Helper()
	policies, err := Choose([]string{o.Name()})
	if err != nil {
		t.Fatal(err)
	}
	const seeds = 2
	options := Options{Budget: Budget{Each: budget}, Mode: WorkConserving, Warmup: 90}
	mean := 0.0
	for options.Seed = 1; options.Seed <= seeds; options.Seed++ {
		w := draw(t, kind, Spec{Pages: 90, Days: 240, Seed: options.Seed})
		mean += Run(w, policies[0], options).Penalty(o.Name()) / Run(w, withoutTimetables(o), options).Penalty(o.Name()) / seeds
	}
	return mean
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
