package sim

import (
	"math"
	"strings"
	"testing"
)

func draw(t *testing.T, kind string, s Spec) *World {
	t.Helper()
	if s.Weights == "" {
		s.Weights = "equal"
	}
	w, err := Draw(kind, s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Pages change as often as their rates say, and worlds match their names.
func TestWorlds(t *testing.T) {
	t.Parallel()
	stationary := map[string]bool{"cho": true, "host": true, "e1": true, "e2": true, "e3": true, "e3-limited": true}
	for _, k := range Kinds() {
		w := draw(t, k.Name, Spec{Pages: 3000, Days: 100, Seed: 7})
		want, sum := 0.0, 0.0
		for i := range w.Pages {
			want += w.Pages[i].Rate * w.Days
			sum += w.Pages[i].Weight
		}
		if got := float64(w.Changes()); math.Abs(got/want-1) > 0.1 {
			t.Errorf("%s: %v changes, want about %v", k.Name, got, want)
		}
		if math.Abs(sum/float64(len(w.Pages))-1) > 1e-9 {
			t.Errorf("%s: mean weight %v, want 1", k.Name, sum/float64(len(w.Pages)))
		}
		if w.Stationary != stationary[k.Name] {
			t.Errorf("%s: stationary %v", k.Name, w.Stationary)
		}
		if !HasKind(k.Name) || HasKind(k.Name+"x") {
			t.Errorf("HasKind(%s)", k.Name)
		}
	}
	if _, err := Draw("mars", Spec{}); err == nil || !strings.Contains(err.Error(), "cho, host, burst") {
		t.Errorf("an unknown world: %v, want an error that lists the known ones", err)
	}
}

// The shares of pages per time between changes are those of the paper.
func TestChoShares(t *testing.T) {
	t.Parallel()
	w := draw(t, "cho", Spec{Pages: 20000, Days: 1, Seed: 1})
	for _, b := range choBins {
		n := 0
		for i := range w.Pages {
			if gap := 1 / w.Pages[i].Rate; gap >= b.low && gap < b.high {
				n++
			}
		}
		if got := float64(n) / float64(len(w.Pages)); math.Abs(got-b.share) > 0.01 {
			t.Errorf("%v to %v days: share %v, want %v", b.low, b.high, got, b.share)
		}
	}
}

// 90 % of the changes of a bursting page come in 5 of 65 days.
func TestBursts(t *testing.T) {
	t.Parallel()
	d := newDrawing(1)
	changes := d.bursts(1, 0, 65000)
	if n := len(changes); math.Abs(float64(n)/65000-1) > 0.1 {
		t.Errorf("%d changes in 65000 days, want about as many", n)
	}
	// In spells changes come 11.7 times a day, between them every 9 days.
	close := 0
	for i := 1; i < len(changes); i++ {
		if changes[i]-changes[i-1] < 1 {
			close++
		}
	}
	if share := float64(close) / float64(len(changes)); share < 0.85 || share > 0.95 {
		t.Errorf("%v of the changes follow another within a day, want about 0.9", share)
	}
}

// Weights do not move changes, and seeds do.
func TestSeeds(t *testing.T) {
	t.Parallel()
	equal := draw(t, "host", Spec{Pages: 50, Days: 50, Seed: 1})
	pareto := draw(t, "host", Spec{Pages: 50, Days: 50, Seed: 1, Weights: "pareto"})
	other := draw(t, "host", Spec{Pages: 50, Days: 50, Seed: 2})
	if equal.Changes() != pareto.Changes() || equal.Pages[7].Rate != pareto.Pages[7].Rate {
		t.Error("weights moved the changes")
	}
	if equal.Pages[7].Weight == pareto.Pages[7].Weight {
		t.Error("weights are equal with pareto")
	}
	if equal.Pages[7].Rate == other.Pages[7].Rate {
		t.Error("two seeds drew the same page")
	}
}
