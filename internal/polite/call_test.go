package polite

import (
	"math"
	"testing"
	"time"
)

func TestCalled(t *testing.T) {
	t.Parallel()
	for position, want := range []bool{false, false, true, true} {
		if got := Called(position); got != want {
			t.Errorf("with %d before it: %t", position, got)
		}
	}
	for at, want := range map[time.Duration]time.Duration{
		-time.Hour:       time.Minute,
		0:                time.Minute,
		40 * time.Second: 110 * time.Second,
		time.Hour:        76 * time.Minute,
	} {
		if got := Uncalled(noon.Add(at), noon).Sub(noon); got != want {
			t.Errorf("one that would be promised in %s comes uncalled in %s, want %s", at, got, want)
		}
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for _, tc := range []struct {
		name             string
		free, step, rest time.Duration
		granted, want    int
	}{
		{"rarely", 0, 10 * s, 10 * s, 0, 1},
		{"after a long rest", time.Hour, s, 2 * s, 0, 1},
		{"slow answers and no gap", 0, 10 * s, 0, 0, 2},
		{"every two seconds", 0, 2 * s, 2 * s, 0, 3},
		{"every second", 0, s, s, 0, 5},
		{"behind permits", 0, s, 2 * s, 2, 3},
		{"when it is free again", 3 * s, s, 2 * s, 0, 2},
		{"no gap", 0, 0, 0, 0, maxCalls},
	} {
		if got := Calls(noon.Add(tc.free), tc.granted, tc.step, tc.rest, noon); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}

func TestBook(t *testing.T) {
	t.Parallel()
	const m = time.Minute
	for _, tc := range []struct {
		name string
		Visited
		uncalled time.Duration // 0: not booked
	}{
		{"waited, and will wait", Visited{Late: m, Due: m, Waiting: 6, Step: 10 * time.Second}, m + m/4 + m},
		{"in the longest line", Visited{Late: m, Due: 0, Waiting: math.MaxInt32, Step: time.Hour}, farAhead + farAhead/4 + m},
		{"hardly waited", Visited{Late: 4 * time.Second, Due: 0, Waiting: 6, Step: time.Second}, 0},
		{"due at the last moment", Visited{Late: m, Due: 8 * m, Waiting: 4, Step: 10 * time.Second}, 40*time.Second + 10*time.Second + m},
		{"due too late", Visited{Late: m, Due: 8*m + 1, Waiting: 6, Step: 10 * time.Second}, 0},
		{"a short line", Visited{Late: m, Due: m, Waiting: 3, Step: 20 * time.Second}, m + m/4 + m},
		{"a line that is too short", Visited{Late: m, Due: m, Waiting: 2, Step: m}, 0},
		{"in time", Visited{Due: 0, Waiting: 6, Step: m}, 0},
	} {
		uncalled, book := Book(tc.Visited)
		if uncalled != tc.uncalled || book != (tc.uncalled != 0) {
			t.Errorf("%s: %t, uncalled %s; want %s", tc.name, book, uncalled, tc.uncalled)
		}
	}
}
