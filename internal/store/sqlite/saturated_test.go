package sqlite

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/store/storetest"
)

// TestSaturatedHost: a visit costs hardly more on a host at which many more visits are due
// than it can take. A waiting page sleeps until it is called, and has not asked for its
// place.
func TestSaturatedHost(t *testing.T) {
	ms := time.Millisecond
	for _, how := range []storetest.Saturation{
		{Pages: 25, Delay: 100 * ms, Took: 50 * ms, Signal: time.Second, Visits: 200},
		{Pages: 200, Delay: 100 * ms, Took: 50 * ms, Signal: 3 * time.Second, Visits: 300},
		{Pages: 25, Delay: time.Second, Took: 50 * ms, Signal: 100 * ms, Visits: 200},
		{Pages: 25, Delay: time.Second, Took: 50 * ms, Signal: time.Second, Visits: 200},
		{Pages: 25, Delay: 10 * time.Second, Took: 300 * ms, Signal: time.Second, Visits: 200},
		{Pages: 25, Delay: 10 * time.Second, Took: 300 * ms, Signal: 3 * time.Second, Visits: 200},
		{Pages: 25, Delay: 100 * ms, Took: 3 * time.Second, Signal: time.Second, Visits: 200}, // up to 6 seconds
		{Pages: 2000, Delay: time.Second, Took: 50 * ms, Signal: 300 * ms, Visits: 300, Asleep: true},
	} {
		how.Interval = time.Duration(how.Pages) * (how.Delay + how.Took) / 4
		t.Run(fmt.Sprintf("%d pages, delay %v, signals take %v", how.Pages, how.Delay, how.Signal), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, saturate(how))
		})
	}
}

func saturate(how storetest.Saturation) func(t *testing.T) {
	return counted(func(t *testing.T, e *countingEngine) {
		cost := storetest.Saturate(t, e, how)
		t.Log(cost)
		if asks, events := cost.PerVisit(cost.Acquires), cost.PerVisit(cost.Events); asks > 1.3 || events > 17 {
			t.Errorf("a visit costs %.2f asks and %.2f events", asks, events)
		}
		// Where a signal takes as long as many gaps, turns of many pages are under way at a time,
		// and the order in which these arrive is chance.
		apart, share := 2, time.Duration(20)
		if how.Signal > 20*how.Delay {
			apart, share = 3, 10
		}
		// Whenever the line runs empty, the next turn takes as long as a signal takes to
		// arrive: that happens at most once, compared with the time that is lost always.
		if bound := cost.Lasted/share + how.Signal; cost.Idle > bound {
			t.Errorf("the host was idle for %v of %v, more than %v", cost.Idle, cost.Lasted, bound)
		}
		if cost.Early > 0 {
			t.Errorf("%d requests were too early", cost.Early)
		}
		if cost.Most > cost.Fewest+apart && !how.Asleep {
			t.Errorf("pages had %d to %d visits", cost.Fewest, cost.Most)
		}
	})
}

// TestSaturatedHostWhereThingsGetLost: turns that never arrive and workers that die with a
// permit, or in a request, cost the host little time, and no page its visits.
func TestSaturatedHostWhereThingsGetLost(t *testing.T) {
	how := storetest.Saturation{
		Pages: 40, Delay: time.Second, Took: 200 * time.Millisecond, Interval: 20 * time.Second, Signal: 300 * time.Millisecond,
		Lost: 0.05, Dies: 0.03, Visits: 400,
	}
	t.Parallel()
	synctest.Test(t, counted(func(t *testing.T, e *countingEngine) {
		cost := storetest.Saturate(t, e, how)
		t.Log(cost)
		// The whole line asks once more, at most, for each turn that is lost and each worker that dies.
		bound := 1 + (how.Lost+how.Dies)*float64(how.Pages)
		if asks := cost.PerVisit(cost.Acquires); asks > bound {
			t.Errorf("a visit costs %.2f asks, more than %.2f", asks, bound)
		}
		if cost.Early > 0 {
			t.Errorf("%d requests were too early", cost.Early)
		}
		if late := 10 * time.Duration(how.Pages) * (how.Delay + how.Took); cost.Latest > late {
			t.Errorf("a visit was made %v after it was due, more than %v", cost.Latest, late)
		}
		if cost.Fewest == 0 {
			t.Error("a page had no visit")
		}
	}))
}

// TestDisturbedHost: whatever people do to a crawl, its host and its pages, and in whatever
// order turns come or get lost, no page with a place in the line is forgotten.
func TestDisturbedHost(t *testing.T) {
	for seed := range uint64(6) {
		how := storetest.Saturation{
			Pages: 30, Delay: time.Second, Took: 200 * time.Millisecond, Signal: 300 * time.Millisecond,
			Interval: []time.Duration{20 * time.Second, 2 * time.Minute}[seed%2],
			Lost:     0.01, Dies: 0.03, Disturbances: 40, Seed: seed,
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, counted(func(t *testing.T, e *countingEngine) {
				cost := storetest.Saturate(t, e, how)
				t.Log(cost)
				if cost.Early > 0 {
					t.Errorf("%d requests were too early", cost.Early)
				}
			}))
		})
	}
}

func TestForgottenWaiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, counted(func(t *testing.T, e *countingEngine) { storetest.ForgottenWaiter(t, e) }))
}
