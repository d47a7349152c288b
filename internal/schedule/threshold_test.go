package schedule

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/schedule/mathtest"
)

// The first threshold gives every unknown page its share of the budget.
func TestFirstThreshold(t *testing.T) {
	t.Parallel()
	for _, o := range Objectives() {
		theta := FirstThreshold(o, FirstPrior(day), 1000, 250)
		if due := Due(o, FirstPrior(day), theta); !mathtest.Alike(due, 4, 1e-9) {
			t.Errorf("%s: unknown pages are visited every %v days, want 4", o.Name(), due)
		}
	}
}

// stairs are the visits of pages that threshold after threshold plans alike.
func stairs(theta float64) float64 {
	switch u := math.Log(theta); {
	case u < 3:
		return 100
	case u < 7:
		return 50
	default:
		return 10
	}
}

func TestMoveThreshold(t *testing.T) {
	t.Parallel()
	// Visits under the square-root law: a hundred at θ = 1.
	planned := func(theta float64) float64 { return 100 / math.Sqrt(theta) }
	for _, c := range []struct {
		name          string
		theta, budget float64
		planned       func(float64) float64
		want          float64
		before        float64
	}{
		{"as planned", 1, 100, planned, 1, 100},
		{"a little too many", 1, 90, planned, 1 / 0.81, 100},
		{"a little too few", 1, 110, planned, 1 / 1.21, 100},
		{"far too many: one step", 1, 1, planned, math.Exp(0.5), 100},
		{"far too few: one step", 4, 1e6, planned, 4 * math.Exp(-0.5), 50},
		{"all at their bounds: it stays", 2, 10, func(float64) float64 { return 70 }, 2, 70},
		{"no pages yet", 2, 10, func(float64) float64 { return 0 }, 2, 0},
		{"all at the shortest interval, and too many: beyond the flat stretch", 1, 30, stairs, math.Exp(3), 100},
		{"all at the longest interval, and too few: back across it", math.Exp(9), 30, stairs, math.Exp(7), 10},
		{"between two steps: to the next one", math.Exp(4), 15, stairs, math.Exp(7), 50},
		{"no budget", 2, 0, planned, 2, 100 / math.Sqrt2},
	} {
		got := MoveThreshold(c.theta, c.budget, c.planned)
		if !mathtest.Alike(got.To, c.want, 1e-5) || !mathtest.Alike(got.Planned, c.before, 1e-5) {
			t.Errorf("%s: %+v; want %v, after %v visits a day", c.name, got, c.want, c.before)
		}
	}
}

func TestMoveHostPrice(t *testing.T) {
	t.Parallel()
	planned := func(theta float64) float64 { return 100 / math.Sqrt(theta) }
	for _, c := range []struct {
		name                string
		price, theta, limit float64
		want                float64
	}{
		{"below its limit: no price", 0, 1, 200, 0},
		{"over its limit: from the threshold up", 0, 1, 90, 1 / 0.81},
		{"still over it", 2, 1, 1, 2 * math.Exp(0.5)},
		{"below it again", 4, 1, 70, 4 * math.Exp(-0.5)},
		{"back at the threshold", 1.2, 1, 1000, 0},
		{"no limit known", 0, 1, 0, 0},
	} {
		if got := MoveHostPrice(c.price, c.theta, c.limit, planned); !mathtest.Alike(got, c.want, 1e-5) {
			t.Errorf("%s: %v; want %v", c.name, got, c.want)
		}
	}
	if got := MoveHostPrice(0, 1, 30, stairs); !mathtest.Alike(got, math.Exp(3), 1e-5) {
		t.Errorf("over its limit, all of its pages at their shortest interval: %v; want %v", got, math.Exp(3))
	}
	if got := MoveHostPrice(0, 1, 30, func(float64) float64 { return 70 }); got != 0 {
		t.Errorf("over its limit whatever the price: %v; want 0", got)
	}
}

// From anywhere the threshold moves to where planned visits meet the budget, in
// steps of at most e^½ beyond where nothing changes, without oscillating, for every objective
// and the steepest of demands: freshness of equal pages at their cut-off.
func TestThresholdSettles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c Demand
		n := rapid.IntRange(1, 10).Draw(t, "kinds")
		for range n {
			g, weight := gammas.Draw(t, "belief"), mathtest.Positive(0.01, 100).Draw(t, "weight")
			for range rapid.IntRange(1, 5).Draw(t, "pages") {
				c.Add(g, weight)
			}
		}
		o := anyObjective.Draw(t, "objective")
		planned := func(theta float64) float64 { return c.Planned(o, theta, time.Minute, 3650*day) }
		goal := mathtest.Positive(1e-6, 1e6).Draw(t, "goal")
		budget, theta := planned(goal), goal*mathtest.Positive(1e-4, 1e4).Draw(t, "start")
		for range 25 {
			move := MoveThreshold(theta, budget, planned)
			if step := math.Log(move.To / theta); !(math.Abs(step) <= maxMove+1e-12) {
				if flat := planned(move.To / math.Exp(math.Copysign(maxMove, step))); !mathtest.Alike(flat, planned(theta), 1e-8) {
					t.Fatalf("moved from %v to %v", theta, move.To)
				}
			}
			before, after := math.Abs(math.Log(planned(theta)/budget)), math.Abs(math.Log(planned(move.To)/budget))
			if after > before+1e-6 {
				t.Fatalf("θ from %v to %v: off by %v before and %v after", theta, move.To, before, after)
			}
			theta = move.To
		}
		// Near its cut-off freshness may fall by any factor between two floats.
		if got := planned(theta); !mathtest.Alike(got, budget, 1e-4) && !(got >= budget && planned(theta*(1+1e-5)) <= budget*(1+1e-4)) {
			if flat := planned(theta * math.Exp(math.Copysign(farMoves*maxMove, got-budget))); !mathtest.Alike(flat, got, 1e-8) {
				t.Fatalf("settled at θ %v with %v visits of %v", theta, got, budget)
			}
		}
	})
}

func TestHostLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gap, duration time.Duration
		kept, want    float64
	}{
		{10 * time.Second, 0, 0, 8640},
		{9 * time.Second, time.Second, 0.25, 6480},
		{time.Hour, 0, 0, 24},
		{0, 100 * time.Millisecond, 1, 0},
	} {
		if got := HostLimit(c.gap, c.duration, c.kept); !mathtest.Alike(got, c.want, 1e-12) {
			t.Errorf("%s and %s apart, %v kept: %v visits a day, want %v", c.gap, c.duration, c.kept, got, c.want)
		}
	}
}
