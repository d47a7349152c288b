package polite

import (
	"slices"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

func TestTurns(t *testing.T) {
	t.Parallel()
	const s = time.Second
	in := func(d time.Duration) time.Time { return noon.Add(d) }
	heads := func(from int64, class crawl.Class, promises ...time.Duration) []Head {
		var list []Head
		for i, d := range promises {
			list = append(list, Head{ID: from + int64(i), Class: class, Promised: in(d)})
		}
		return list
	}
	order := func(promises ...time.Duration) []Head { return heads(0, crawl.ClassRevisit, promises...) }
	first := func(promises ...time.Duration) []Head { return heads(10, crawl.ClassFirst, promises...) }
	eldest := func(promises ...time.Duration) []Head { return heads(20, crawl.ClassProbe, promises...) }
	tests := map[string]struct {
		heads   Heads
		ledger  Ledger
		granted int
		free    time.Duration
		step    time.Duration
		want    []Turn
	}{
		"nobody": {step: s},
		"in time": {
			heads: Heads{Order: order(0, 10*s)}, step: 10 * s,
		},
		"a head that comes too late": {
			heads: Heads{Order: order(time.Minute, time.Hour)}, free: 5 * s, step: 10 * s,
			want: []Turn{{0, in(5 * s)}},
		},
		"less than a signal's worth": {
			heads: Heads{Order: order(6 * s)}, free: 5 * s, step: 10 * s,
		},
		"as many as fit two seconds": {
			heads: Heads{Order: order(time.Minute, time.Minute, time.Minute)}, step: s,
			want: []Turn{{0, in(0)}, {1, in(s)}},
		},
		"a head that is coming takes its slot": {
			heads: Heads{Order: order(-s, time.Minute, time.Minute)}, step: s,
			want: []Turn{{1, in(s)}},
		},
		"a head that does not come is passed over": {
			heads: Heads{Order: order(-Grace-s, time.Minute)}, step: 10 * s,
			want: []Turn{{1, in(0)}},
		},
		"the one who has waited longest is not due": {
			heads: Heads{Order: order(0, 10*s), Eldest: eldest(time.Hour)}, ledger: Ledger{Aged: 5}, step: 10 * s,
		},
		"is due after the next": {
			heads: Heads{Order: order(0, 10*s), Eldest: eldest(time.Hour)}, ledger: Ledger{Aged: 6}, step: 10 * s,
			want: []Turn{{20, in(10 * s)}},
		},
		"is due next": {
			heads: Heads{Order: order(0, 10*s), Eldest: eldest(time.Hour)}, ledger: Ledger{Aged: 7}, step: 10 * s,
			want: []Turn{{20, in(0)}},
		},
		"does not come": {
			heads: Heads{Order: order(0, 10*s), Eldest: eldest(-Grace-s, time.Hour)}, ledger: Ledger{Aged: 7}, step: 10 * s,
			want: []Turn{{21, in(0)}},
		},
		"is due while others are there": {
			heads: Heads{Eldest: eldest(time.Hour)}, ledger: Ledger{Aged: 6}, granted: 1, step: 10 * s,
			want: []Turn{{20, in(20 * s)}},
		},
		"is first by the order too": {
			heads: Heads{Order: order(time.Hour), Eldest: order(time.Hour)}, ledger: Ledger{Aged: 30}, step: 10 * s,
			want: []Turn{{0, in(0)}},
		},
		"a first visit is due": {
			heads: Heads{Order: order(0), First: first(time.Hour)}, ledger: Ledger{First: 1, FirstEvery: 2}, step: 10 * s,
			want: []Turn{{10, in(0)}},
		},
		"but a person comes before it": {
			heads: Heads{Order: heads(0, crawl.ClassManual, 0), First: first(time.Hour)}, ledger: Ledger{First: 1, FirstEvery: 2}, step: 10 * s,
			want: []Turn{{10, in(10 * s)}},
		},
		"every second on a quick host": {
			heads:  Heads{First: first(time.Hour, time.Hour, time.Hour)},
			ledger: Ledger{FirstEvery: 2}, step: 500 * time.Millisecond,
			want: []Turn{{10, in(500 * time.Millisecond)}, {11, in(1500 * time.Millisecond)}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Turns(tc.heads, tc.ledger, tc.granted, in(tc.free), tc.step, noon); !slices.Equal(got, tc.want) {
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

func TestSlotsOfShares(t *testing.T) {
	t.Parallel()
	tests := []struct {
		since int
		step  time.Duration
		want  int
	}{
		{0, time.Hour, 0},
		{5, time.Hour, 0},
		{6, time.Hour, 1},
		{7, time.Hour, 1},
		{100, time.Hour, 1},
		{0, 0, 2},
		{7, 0, 3},
	}
	for _, tc := range tests {
		if got := AgedSlots(Ledger{Aged: tc.since}, tc.step); got != tc.want {
			t.Errorf("AgedSlots after %d, a step of %v: %d, want %d", tc.since, tc.step, got, tc.want)
		}
		if got := FirstSlots(Ledger{First: tc.since, FirstEvery: 8}, tc.step); got != tc.want {
			t.Errorf("FirstSlots after %d, a step of %v: %d, want %d", tc.since, tc.step, got, tc.want)
		}
	}
	if got := FirstSlots(Ledger{FirstEvery: 2}, time.Hour); got != 1 {
		t.Errorf("FirstSlots of one in two: %d", got)
	}
}
