package polite

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
)

func TestAhead(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		counted    int
		anchor     Anchor
		own        Line
		want       int
		wantAnchor Anchor
	}{
		"counted":               {Counted, Anchor{500, 10}, Line{Waiting: 600, Departed: 20}, Counted, Anchor{500, 10}},
		"estimated":             {Counted + 1, Anchor{500, 10}, Line{Waiting: 600, Departed: 110}, 400, Anchor{500, 10}},
		"overtaken by others":   {Counted + 1, Anchor{500, 10}, Line{Waiting: 600, Departed: 510}, 599, Anchor{599, 510}},
		"more than the line is": {Counted + 1, Anchor{}, Line{Waiting: 3, Departed: 7}, Counted + 1, Anchor{Counted + 1, 7}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, anchor := Ahead(tc.counted, tc.anchor, tc.own)
			if got != tc.want || anchor != tc.wantAnchor {
				t.Errorf("Ahead = %d, %v; want %d, %v", got, anchor, tc.want, tc.wantAnchor)
			}
		})
	}
}

func TestPosition(t *testing.T) {
	t.Parallel()
	own := Line{Crawl: 1, Class: crawl.ClassRevisit, Waiting: 5, Served: 7}
	tests := map[string]struct {
		ahead, granted int
		others         []Line
		want           int
	}{
		"alone":                            {want: 0},
		"behind its own":                   {ahead: 3, want: 3},
		"behind granted permits":           {ahead: 3, granted: 2, want: 5},
		"behind all of a lower class":      {others: []Line{{Crawl: 1, Class: crawl.ClassManual, Waiting: 4}}, want: 4},
		"before higher classes":            {others: []Line{{Crawl: 2, Class: crawl.ClassProbe, Waiting: 4}}, want: 0},
		"taking turns, the other first":    {ahead: 3, others: []Line{{Crawl: 2, Class: crawl.ClassRevisit, Waiting: 100, Served: 6}}, want: 7},
		"taking turns, we first":           {ahead: 3, others: []Line{{Crawl: 2, Class: crawl.ClassRevisit, Waiting: 100, Served: 8}}, want: 6},
		"taking turns with a short line":   {ahead: 3, others: []Line{{Crawl: 2, Class: crawl.ClassRevisit, Waiting: 1, Served: 6}}, want: 4},
		"its own line counts once, by age": {ahead: 3, others: []Line{own}, want: 3},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Position(own, tc.ahead, tc.others, tc.granted); got != tc.want {
				t.Errorf("Position = %d, want %d", got, tc.want)
			}
		})
	}
}

// A position is what serving the lines by the order comes to, when nobody joins
// or leaves: the promise that is made of it is neither too late nor, by more
// than the first turn, too early.
func TestPositionIsTheOrderOfService(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := []Line{}
		for id := range int64(3) {
			waiting := rapid.Int64Range(0, 9).Draw(t, "waiting")
			lines = append(lines, Line{Crawl: id + 1, Class: crawl.ClassRevisit, Waiting: waiting, Served: id + 1})
		}
		own := lines[rapid.IntRange(0, 2).Draw(t, "own")]
		ahead := rapid.IntRange(0, 9).Draw(t, "ahead")
		own.Waiting = max(own.Waiting, int64(ahead)+1)
		lines[own.Crawl-1] = own
		if got, want := Position(own, ahead, lines, 0), serve(lines, own.Crawl, ahead); got != want {
			t.Fatalf("Position(%v, %d, %v) = %d, it is served after %d", own, ahead, lines, got, want)
		}
	})
}

// serve counts the grants before the waiter with ahead of its crawl before it.
func serve(lines []Line, own int64, ahead int) int {
	lines = slices.Clone(lines)
	for grants := 0; ; grants++ {
		next := -1
		for i, l := range lines {
			if l.Waiting > 0 && (next < 0 || l.Served < lines[next].Served) {
				next = i
			}
		}
		if lines[next].Crawl == own {
			if ahead == 0 {
				return grants
			}
			ahead--
		}
		lines[next].Waiting--
		lines[next].Served = 100 + int64(grants)
	}
}

func TestTurns(t *testing.T) {
	t.Parallel()
	const s = time.Second
	in := func(d time.Duration) time.Time { return noon.Add(d) }
	tests := map[string]struct {
		promises []time.Time
		free     time.Duration
		step     time.Duration
		want     []Turn
	}{
		"nobody": {step: s},
		"in time": {
			promises: []time.Time{in(0), in(10 * s)}, step: 10 * s,
		},
		"a head that comes too late": {
			promises: []time.Time{in(time.Minute), in(time.Hour)}, free: 5 * s, step: 10 * s,
			want: []Turn{{0, in(5 * s)}},
		},
		"less than a signal's worth": {
			promises: []time.Time{in(6 * s)}, free: 5 * s, step: 10 * s,
		},
		"as many as fit two seconds": {
			promises: []time.Time{in(time.Minute), in(time.Minute), in(time.Minute)}, step: s,
			want: []Turn{{0, in(0)}, {1, in(s)}},
		},
		"a head that is coming takes its slot": {
			promises: []time.Time{in(-s), in(time.Minute), in(time.Minute)}, step: s,
			want: []Turn{{1, in(s)}},
		},
		"a head that does not come is passed over": {
			promises: []time.Time{in(-Grace - s), in(time.Minute)}, step: 10 * s,
			want: []Turn{{1, in(0)}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Turns(tc.promises, in(tc.free), tc.step, noon); !slices.Equal(got, tc.want) {
				t.Errorf("Turns = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestSlots(t *testing.T) {
	t.Parallel()
	for step, want := range map[time.Duration]int{
		0: MaxTurns, time.Millisecond: MaxTurns, 500 * time.Millisecond: 4, time.Second: 2, time.Hour: 1,
	} {
		if got := Slots(step); got != want {
			t.Errorf("Slots(%v) = %d, want %d", step, got, want)
		}
	}
}

func TestUntilGrant(t *testing.T) {
	t.Parallel()
	tests := []struct {
		free    time.Duration // from noon
		granted int
		step    time.Duration
		want    time.Duration
	}{
		{free: 0, want: 0},
		{free: Horizon, want: 0},
		{free: 10 * time.Second, want: 9 * time.Second},
		{free: 0, granted: 1, step: 10 * time.Second, want: 9 * time.Second},
		{free: 0, granted: 1, step: 10 * time.Millisecond, want: 0},
	}
	for _, tc := range tests {
		if got := UntilGrant(noon.Add(tc.free), tc.granted, tc.step, noon); got != tc.want {
			t.Errorf("UntilGrant(%+v) = %v, want %v", tc, got, tc.want)
		}
	}
}

func TestStale(t *testing.T) {
	t.Parallel()
	long := noon.Add(-GrantLife - time.Second)
	for name, tc := range map[string]struct {
		granted, free time.Time
		want          bool
	}{
		"granted just now":     {noon, long, false},
		"the host is not free": {long, noon.Add(time.Hour), false},
		"free just now":        {long, noon, false},
		"held for long":        {long, long, true},
	} {
		if got := Stale(tc.granted, tc.free, noon); got != tc.want {
			t.Errorf("%s: Stale = %v", name, got)
		}
	}
}
