package schedule

import (
	"testing"

	"recrawl/internal/schedule/gamma"
)

// A page that Fresh has given up counts by the rate at which it would come back, not by
// the lower one until its far visit: otherwise a budget would seem to be planned for
// pages that nobody visits.
func TestGivenUpPagesCountByTheirNearRate(t *testing.T) {
	t.Parallel()
	g := gamma.Distribution{A: 6, B: 3}
	ahead := forecast{clock: Clock{Steep: 0.3, Round: 1}, age: 0.5}
	const far = 120
	theta := 1.2 * Fresh{}.Worth(ahead.over(g, 2), 1e6) // above the most that a visit within days is worth
	if due := ahead.due(Fresh{}, g, theta); due < 10 {
		t.Fatalf("due after %v days: not given up", due)
	}
	var seen, naive Demand
	seen.Add(ahead.counted(Budgeted{Fresh{}}, g, far), 1)
	naive.Add(ahead.over(g, far), 1)
	if got := seen.Planned(Fresh{}, theta, daily.Min, daily.Max); got > 1./20 {
		t.Errorf("counts for %.3f visits a day, by its far rate for %.3f; want next to none", got, naive.Planned(Fresh{}, theta, daily.Min, daily.Max))
	}
	if naive.Planned(Fresh{}, theta, daily.Min, daily.Max) < 1./20 {
		t.Error("the far rate tells the same: the test shows nothing")
	}
	// Pages that are not given up, and objectives that give none up, count as before.
	if got, want := ahead.counted(Budgeted{Delay{}}, g, far), ahead.over(g, far); got != want {
		t.Errorf("sqrt: %+v, want %+v", got, want)
	}
	if got, want := ahead.counted(Budgeted{Fresh{}}, g, 0.5), ahead.over(g, 0.5); got != want {
		t.Errorf("visited soon: %+v, want %+v", got, want)
	}
}
