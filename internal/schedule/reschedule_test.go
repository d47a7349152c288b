package schedule

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/schedule/mathtest"
)

func TestReschedule(t *testing.T) {
	t.Parallel()
	sleepers := []Sleeper{
		{ID: 1, Elapsed: day, Planned: 10 * day, Wanted: 9 * day},   // nearly right
		{ID: 2, Elapsed: day, Planned: 10 * day, Wanted: 4 * day},   // gain 2.25
		{ID: 3, Elapsed: day, Planned: 100 * day, Wanted: 2 * day},  // gain 2401
		{ID: 4, Elapsed: day, Planned: 2 * day, Wanted: 100 * day},  // gain 0.96: a visit saved
		{ID: 5, Elapsed: 99 * day, Planned: 100 * day, Wanted: day}, // overdue, and due tomorrow
		{ID: 6, Elapsed: 40 * day, Planned: 100 * day, Wanted: day}, // overdue: gain 99² − 39²
		{ID: 7, Elapsed: day, Planned: 10 * day, Wanted: 4 * day},   // as 2
		{ID: 8, Elapsed: 0, Planned: 0, Wanted: 0},                  // nonsense
		{ID: 9, Elapsed: -day, Planned: 3 * day, Wanted: 3 * day},   // as is
		{ID: 10, Elapsed: 0, Planned: 4 * day, Wanted: 2*day + 1},   // just below the factor
		{ID: 11, Elapsed: 0, Planned: 4*day + 10, Wanted: 2 * day},  // just above it
	}
	for _, c := range []struct {
		visits float64
		want   []int64
	}{
		{1e6, []int64{6, 3, 2, 7, 11, 4}},
		{60, []int64{6, 3, 2}},
		{59, []int64{6, 3}},
		{19, []int64{6}},
		{0.01, []int64{6}},
		{0, nil},
		{-5, nil},
	} {
		if got := Reschedule(sleepers, c.visits); !slices.Equal(got, c.want) {
			t.Errorf("of %v visits: %v, want %v", c.visits, got, c.want)
		}
	}
}

// Never more than a twentieth of the visits are moved, or one, never a page whose interval
// has not doubled or halved, and never one that gains less than one that is left.
func TestRescheduleProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		interval := rapid.Map(mathtest.Positive(1e-3, 1e4), duration)
		var sleepers []Sleeper
		for id := range rapid.Int64Range(0, 50).Draw(t, "n") {
			sleepers = append(sleepers, Sleeper{id, interval.Draw(t, "elapsed"), interval.Draw(t, "planned"), interval.Draw(t, "wanted")})
		}
		visits := rapid.Float64Range(0, 1000).Draw(t, "visits")
		chosen := Reschedule(sleepers, visits)
		most := max(1, visits/20)
		if float64(len(chosen)) > most {
			t.Fatalf("%d of %v visits", len(chosen), visits)
		}
		least := 0.0
		for i, id := range chosen {
			s := sleepers[id]
			to := max(s.Wanted, s.Elapsed)
			if ratio := float64(s.Planned) / float64(to); ratio < 2 && ratio > 0.5 {
				t.Fatalf("%+v is moved", s)
			}
			if i > 0 && s.Gain() > least {
				t.Fatalf("%+v comes after one that gains %v", s, least)
			}
			least = s.Gain()
		}
		for _, s := range sleepers {
			full := visits <= 0 || float64(len(chosen)) > most-1
			if !slices.Contains(chosen, s.ID) && s.far() && s.Gain() > 0 && (!full || len(chosen) > 0 && s.Gain() > least) {
				t.Fatalf("%+v is left, gaining %v", s, s.Gain())
			}
		}
	})
}

// Under the square-root law the gain is the loss of a cycle that is too long, in
// visits (each worth θ).
func TestGain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g, theta := gammas.Draw(t, "belief"), mathtest.Positive(1e-3, 1e3).Draw(t, "theta")
		best := Due(Delay{}, g, theta)
		other := best * mathtest.Positive(0.1, 10).Draw(t, "factor")
		if best < 1e-6 || other > 1e5 {
			return // beyond what a Duration resolves
		}
		// A cycle of length τ costs its delay and a visit; the best use of its time costs
		// the same per day as cycles of the best length.
		cost := func(days float64) float64 { return Delay{}.Worth(g, days) + theta }
		loss := (cost(other) - cost(best)*other/best) / theta
		s := Sleeper{Planned: duration(other), Wanted: duration(best)}
		if got := s.Gain(); !mathtest.Alike(got, loss, 1e-6) && loss > 1e-6 {
			t.Fatalf("planned %v, wanted %v: gain %v, want %v", other, best, got, loss)
		}
	})
}
