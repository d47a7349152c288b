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
	first := Line{Crawl: 1, Class: crawl.ClassFirst, Waiting: 5, Served: 7}
	revisits := []Line{{Crawl: 1, Class: crawl.ClassRevisit, Waiting: 20000, Served: 7}}
	tests := map[string]struct {
		own            Line
		ahead, granted int
		others         []Line
		ledger         Ledger
		want           int
	}{
		"alone":                             {want: 0},
		"behind its own":                    {ahead: 3, want: 3},
		"behind granted permits":            {ahead: 3, granted: 2, want: 5},
		"behind all of a lower class":       {others: []Line{{Crawl: 1, Class: crawl.ClassManual, Waiting: 4}}, want: 4},
		"before higher classes":             {others: []Line{{Crawl: 2, Class: crawl.ClassProbe, Waiting: 4}}, want: 0},
		"taking turns, the other first":     {ahead: 3, others: []Line{{Crawl: 2, Class: crawl.ClassRevisit, Waiting: 100, Served: 6}}, want: 7},
		"taking turns, we first":            {ahead: 3, others: []Line{{Crawl: 2, Class: crawl.ClassRevisit, Waiting: 100, Served: 8}}, want: 6},
		"taking turns with a short line":    {ahead: 3, others: []Line{{Crawl: 2, Class: crawl.ClassRevisit, Waiting: 1, Served: 6}}, want: 4},
		"its own line counts once, by age":  {ahead: 3, others: []Line{own}, want: 3},
		"a first visit before few revisits": {own: first, ahead: 1, others: []Line{own}, want: 6},
		"the eighth is a first visit":       {own: first, others: revisits, want: 7},
		"every second is a first visit":     {own: first, ahead: 3, others: revisits, ledger: Ledger{FirstEvery: 2}, want: 7},
		"a first visit that is overdue":     {own: first, others: revisits, ledger: Ledger{First: 9}, want: 0},
		"the next one, a little sooner":     {own: first, ahead: 1, others: revisits, ledger: Ledger{First: 9}, want: 6},
		"revisits let first visits pass":    {ahead: 3, others: []Line{first}, ledger: Ledger{FirstEvery: 2}, want: 6},
		"no more of them than there are":    {ahead: 30, others: []Line{first}, ledger: Ledger{FirstEvery: 2}, want: 35},
		"a person's visit lets none pass":   {own: Line{Crawl: 1, Class: crawl.ClassManual}, others: []Line{first, own}, ledger: Ledger{First: 9}, want: 0},
		"probes come last":                  {own: Line{Crawl: 1, Class: crawl.ClassProbe}, ahead: 1, others: []Line{first, own}, want: 11},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asks := own
			if tc.own.Crawl != 0 {
				asks = tc.own
			}
			if got := Position(asks, tc.ahead, tc.others, tc.granted, tc.ledger); got != tc.want {
				t.Errorf("Position = %d, want %d", got, tc.want)
			}
		})
	}
}

// A position equals the result of serving the lines by the order, when nobody joins
// or leaves: the promise made from it is neither too late nor, by more than the
// first turn, too early.
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
		if got, want := Position(own, ahead, lines, 0, Ledger{}), serve(lines, own.Crawl, ahead); got != want {
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

// The same for the lines of one crawl, whose first visits and revisits share the
// grants: a position equals the result of Choose.
func TestPositionIsTheOrderOfShares(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var lines []Line
		var candidates []Candidate
		for class := range crawl.Class(crawl.Classes) {
			waiting := rapid.IntRange(0, 12).Draw(t, "waiting")
			lines = append(lines, Line{Crawl: 1, Class: class, Waiting: int64(waiting)})
			for i := range waiting {
				candidates = append(candidates, Candidate{Crawl: 1, Class: class, Arrived: int64(i)})
			}
		}
		if len(candidates) == 0 {
			return
		}
		ledger := Ledger{First: rapid.IntRange(0, 9).Draw(t, "first"), FirstEvery: rapid.IntRange(2, 8).Draw(t, "every")}
		own := candidates[rapid.IntRange(0, len(candidates)-1).Draw(t, "own")]
		want := Position(lines[own.Class], int(own.Arrived), lines, 0, ledger)
		for granted := 0; ; granted++ {
			ledger.Aged = 0 // nobody is served for its age
			i := Choose(candidates, ledger, 0).Index
			if candidates[i] == own {
				if granted != want {
					t.Fatalf("%+v is served after %d, its position was %d", own, granted, want)
				}
				return
			}
			ledger = ledger.After(candidates[i].Class, false)
			candidates = slices.Delete(candidates, i, i+1)
		}
	})
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

// A permit whose grant is an hour ago, or lies ahead as far because the clock went back, begins
// no request.
func TestOutdated(t *testing.T) {
	t.Parallel()
	for granted, want := range map[time.Duration]bool{
		0: false, -GrantLimit: false, -GrantLimit - 1: true, GrantLimit: false, GrantLimit + 1: true,
	} {
		if got := Outdated(noon.Add(granted), noon); got != want {
			t.Errorf("granted %s from now: %t", granted, got)
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
		"by a later clock":     {noon.Add(GrantLife + time.Second), long, true},
	} {
		if got := Stale(tc.granted, tc.free, noon); got != tc.want {
			t.Errorf("%s: Stale = %v", name, got)
		}
	}
}
