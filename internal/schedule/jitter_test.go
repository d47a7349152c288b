package schedule

import (
	"testing"
	"time"

	"recrawl/internal/crawl"
)

// A page at one visit a day is never visited at the hour of the day before, goes
// round the clock, and loses or gains no visits by it.
func TestDailyVisitsMove(t *testing.T) {
	t.Parallel()
	for id := range int64(50) {
		var at time.Duration
		hours := map[time.Duration]bool{}
		for visit := 1; visit <= 4*driftVisits; visit++ {
			d := Fixed{}.Next(Page{ID: id, Visit: visit}, Observation{Outcome: crawl.OutcomeUnchanged}, daily)
			if moved := (d.Interval - day).Abs(); moved < 30*time.Minute {
				t.Fatalf("page %d visit %d: moved by %s only", id, visit, moved)
			}
			at += d.Interval
			hours[at%day/time.Hour] = true
		}
		if len(hours) < 20 {
			t.Errorf("page %d was visited at %d different hours of the day, want nearly all", id, len(hours))
		}
		if mean := at / (4 * driftVisits); (mean - day).Abs() > 6*time.Minute {
			t.Errorf("page %d: mean interval %s, want a day", id, mean)
		}
	}
}
