package sqlite

import (
	"fmt"
	"testing"
	"time"

	"recrawl/internal/store/storetest"
)

// TestSaturatedHost: a visit costs nearly nothing more on a host at which many more are due
// than it takes. Whoever waits is asleep until it is called, and has not asked for its place.
func TestSaturatedHost(t *testing.T) {
	for _, delay := range []time.Duration{100 * time.Millisecond, time.Second} {
		for _, signal := range []time.Duration{100 * time.Millisecond, time.Second} {
			t.Run(fmt.Sprintf("25 pages, delay %v, signals take %v", delay, signal), func(t *testing.T) {
				saturate(t, storetest.Saturation{
					Pages: 25, Delay: delay, Took: 50 * time.Millisecond, Interval: 5 * delay, Signal: signal, Visits: 200,
				})
			})
		}
	}
	for _, signal := range []time.Duration{100 * time.Millisecond, time.Second, 3 * time.Second} {
		t.Run(fmt.Sprintf("25 pages, delay 10s, signals take %v", signal), func(t *testing.T) {
			saturate(t, storetest.Saturation{Pages: 25, Delay: 10 * time.Second, Took: 50 * time.Millisecond, Interval: 50 * time.Second, Signal: signal, Visits: 200})
		})
		t.Run(fmt.Sprintf("200 pages, delay 100ms, signals take %v", signal), func(t *testing.T) {
			saturate(t, storetest.Saturation{Pages: 200, Delay: 100 * time.Millisecond, Took: 50 * time.Millisecond, Interval: 10 * time.Second, Signal: signal, Visits: 300})
		})
		t.Run(fmt.Sprintf("slow requests, signals take %v", signal), func(t *testing.T) {
			saturate(t, storetest.Saturation{Pages: 25, Delay: 100 * time.Millisecond, Took: 3 * time.Second, Interval: 20 * time.Second, Signal: signal, Visits: 200})
		})
	}
	t.Run("2000 pages", func(t *testing.T) {
		saturate(t, storetest.Saturation{
			Pages: 2000, Delay: time.Second, Took: 50 * time.Millisecond, Interval: 10 * time.Minute, Signal: 300 * time.Millisecond,
			Visits: 300, Asleep: true,
		})
	})
}

func saturate(t *testing.T, how storetest.Saturation) {
	aside(t, func(t *testing.T, e *countingEngine) {
		cost := storetest.Saturate(t, e, how)
		t.Log(cost)
		if asks, events := cost.PerVisit(cost.Acquires), cost.PerVisit(cost.Events); asks > 1.3 || events > 17 {
			t.Errorf("a visit costs %.2f asks and %.2f events", asks, events)
		}
		if cost.Idle > cost.Lasted/20 {
			t.Errorf("the host was idle for %v of %v", cost.Idle, cost.Lasted)
		}
		if cost.Most > cost.Fewest+2 && !how.Asleep {
			t.Errorf("pages had %d to %d visits", cost.Fewest, cost.Most)
		}
	})
}
