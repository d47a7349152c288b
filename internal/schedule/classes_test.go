package schedule

import (
	"math"
	"testing"
	"time"
)

// The queues of Singhal et al. by eq. 3 and 4; the paper's own table agrees for 1, 9
// and 10.
func TestRefreshQueue(t *testing.T) {
	t.Parallel()
	for n, end := range map[int]time.Duration{1: 20, 2: 80, 3: 180, 4: 320, 9: 1620} {
		if got := RefreshEnd(n, 1); got != end {
			t.Errorf("queue %d ends at %d units, want %d", n, got, end)
		}
	}
	if RefreshEnd(10, 1) != math.MaxInt64 {
		t.Error("the last queue ends")
	}
	for refresh, want := range map[time.Duration]int{0: 1, 19: 1, 20: 2, 79: 2, 80: 3, 179: 3, 180: 4, 1279: 8, 1280: 9, 1619: 9, 1620: 10, 1e6: 10, math.MaxInt64: 10} {
		if got := RefreshQueue(refresh, 1); got != want {
			t.Errorf("a refresh time of %d units is in queue %d, want %d", refresh, got, want)
		}
	}
	for n := range RefreshQueues - 1 {
		end := RefreshEnd(n+1, RefreshUnit)
		if a, b := RefreshQueue(end-1, RefreshUnit), RefreshQueue(end, RefreshUnit); a != n+1 || b != n+2 {
			t.Errorf("at the end of queue %d are queues %d and %d", n+1, a, b)
		}
	}
}

func TestActivityOf(t *testing.T) {
	t.Parallel()
	for every, want := range map[float64]Activity{
		0.01: SixHourly, 0.25: SixHourly, 0.5: TwelveHourly, 1: Daily, 2: Daily, 5: Weekly, 7: Weekly, 14: Fortnightly, 30: Monthly, 60: Others, 365: Others,
	} {
		if got := ActivityOf(1 / every); got != want {
			t.Errorf("a page that changes every %v days is %s, want %s", every, got, want)
		}
	}
	if ActivityOf(0) != Others || len(Activities()) != 7 || Activities()[6].String() != "others" {
		t.Error("the last category is others")
	}
}
