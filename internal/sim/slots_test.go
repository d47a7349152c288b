package sim

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Slots come as the integral of the rate does, however often the rate changes.
func TestSlots(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s slots
		taken, budget, now := 0, 0.0, 0.0
		for range rapid.IntRange(1, 30).Draw(t, "changes") {
			rate := float64(rapid.IntRange(0, 70).Draw(t, "rate")) / 7
			until := now + float64(rapid.IntRange(0, 40).Draw(t, "days"))/3
			s.setRate(rate, now)
			for next := s.next(); next < until; next = s.next() {
				if next < now-1e-9 {
					t.Fatalf("a slot at %v, before %v", next, now)
				}
				taken++
				s.take(next)
			}
			budget += rate * (until - now)
			now = until
		}
		// A slot on the last moment itself may be on either side of it.
		if d := budget - float64(taken); d < -1e-6 || d > 1+1e-6 {
			t.Errorf("%d slots for a budget of %v", taken, budget)
		}
	})
}

func TestParseBudget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want Budget
	}{
		{"10000/day", Budget{PerDay: 10000}},
		{"500/h", Budget{PerDay: 12000}},
		{"0.1/page/day", Budget{Each: 0.1}},
		{"2/page/hour", Budget{Each: 48}},
		{"10", Budget{}},
		{"0/page/day", Budget{}},
		{"-1/page/day", Budget{}},
		{"NaN/page/day", Budget{}},
		{"x/page/day", Budget{}},
		{"1/page/fortnight", Budget{}},
		{"", Budget{}},
	} {
		got, err := ParseBudget(c.text)
		if got != c.want || (err == nil) != (c.want != Budget{}) {
			t.Errorf("ParseBudget(%q) = %+v, %v; want %+v", c.text, got, err, c.want)
		}
		if err != nil {
			continue
		}
		again, err := ParseBudget(got.String())
		if err != nil || math.Abs(again.PerDay-got.PerDay)+math.Abs(again.Each-got.Each) > 1e-9 {
			t.Errorf("%q is written %q, which is read as %+v, %v", c.text, got.String(), again, err)
		}
	}
}
