package schedule

import (
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/mathtest"
)

// Bouras §5: the second page, at six rounds, of whose internal pages 89 % changed,
// gets three. As printed, the formula gives 5, and rises with the share.
func TestSecondMaxFR(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		maxfr int
		share float64
		want  int
	}{
		{6, 0.89, 3}, {6, 0.10, 5}, {6, 0, 6}, {6, 1, 3}, {2, 0.4, 1}, {1, 1, 1}, {19, 0.5, 14},
	} {
		if got := SecondMaxFR(c.maxfr, c.share); got != c.want {
			t.Errorf("SecondMaxFR(%d, %v) = %d, want %d", c.maxfr, c.share, got, c.want)
		}
	}
	mathtest.Printed(t, "before the floor", "3.330", 6*(2-0.89)/2)
	mathtest.Printed(t, "as printed", "5.670", (6+0.89*6)/2)
	mathtest.Printed(t, "other readings that come to 3: the share alone, the page's own 10 %", "3.445 3.300", (6+0.89)/2, (6+0.1*6)/2)
}

// The figures of Bouras §5 that follow from others: 28 % fewer downloads when the
// second page (718 internal pages, the first has 586) is skipped in one of two
// rounds, and a page every 15 seconds in 2½ hours, which is true of the first.
func TestFiguresOfBouras(t *testing.T) {
	t.Parallel()
	mathtest.Printed(t, "share of downloads", "27.5", 100*718./(2*(586+718)))
	mathtest.Printed(t, "seconds a page", "15.4 12.5", 9000./586, 9000./718)
}

func TestSelect(t *testing.T) {
	t.Parallel()
	still, moved := Belief{Pairs: 3}, Belief{Pairs: 3, History: 1}
	skipped, shy := still, still
	skipped.Skipped = true
	shy.Selective = 0.6
	for _, c := range []struct {
		name     string
		belief   Belief
		internal Internal
		visit    bool
		words    string
	}{
		{"nothing is known of the page", Belief{}, Internal{10, 0}, true, ""},
		{"it changed last time", moved, Internal{10, 0}, true, ""},
		{"nothing is known of its pages", still, Internal{}, true, ""},
		{"40 % of its pages changed", still, Internal{10, 4}, true, "40 % of the pages it links to changed, 40 % make a visit"},
		{"fewer did", still, Internal{10, 3}, false, "30 % of the pages it links to changed, 40 % make a visit"},
		{"fewer than it has learned to ask for", shy, Internal{10, 5}, false, "50 % of the pages it links to changed, 60 % make a visit"},
		{"never twice in a row", skipped, Internal{10, 0}, true, ""},
	} {
		visit, why := FRMax{}.Select(Page{ID: 1, Belief: c.belief}, c.internal)
		if words := Words(why); visit != c.visit || words != c.words {
			t.Errorf("%s: %t, %q; want %t, %q", c.name, visit, words, c.visit, c.words)
		}
	}
}

// A page that does not change, whose internal pages do not either, is skipped at
// every second time; one whose internal pages change is visited, and learns
// whether that is worth it.
func TestSelectiveVisits(t *testing.T) {
	t.Parallel()
	turns := func(page Page, internal Internal, outcome crawl.Outcome, n int) (visits int, b Belief) {
		for range n {
			page.Visit++
			seen := Observation{Outcome: crawl.OutcomeSkipped, Internal: internal}
			if visit, _ := (FRMax{}).Select(page, internal); visit {
				visits++
				seen.Outcome = outcome
			}
			page.Belief = AfterVisit(FRMax{}, page, seen, daily).Belief
		}
		return visits, page.Belief
	}
	start := Page{ID: 1, State: crawl.Active, Belief: Belief{Pairs: 1}}
	if visits, _ := turns(start, Internal{10, 0}, crawl.OutcomeUnchanged, 20); visits != 10 {
		t.Errorf("a quiet page in quiet company is visited in %d of 20 turns, want 10", visits)
	}
	visits, b := turns(start, Internal{10, 5}, crawl.OutcomeUnchanged, 6)
	if visits != 5 || !mathtest.Alike(float64(b.Selective), 0.525, 1e-6) {
		t.Errorf("a quiet page in lively company is visited in %d of 6 turns and asks for %v; want 5, the last skipped, and 0.525", visits, b.Selective)
	}
	if _, b := turns(start, Internal{10, 10}, crawl.OutcomeUnchanged, 50); !mathtest.Alike(b.selective(), 0.6, 1e-6) {
		t.Errorf("after many useless visits %v are asked for, want 0.6 at most", b.selective())
	}
	if got := NextSelective(0.2, true); got != 0.2 {
		t.Errorf("a useful visit at the least share leads to %v", got)
	}
}

// The second formula shortens the interval of a page that seldom changes itself,
// and leaves max_fr.
func TestSecondFormulaApplies(t *testing.T) {
	t.Parallel()
	seldom := Belief{MaxFR: 6, Pairs: 9, History: 0b1}
	for _, c := range []struct {
		name     string
		belief   Belief
		internal Internal
		maxfr    int
		rounds   int
		words    string
	}{
		{"table 2, second page", seldom, Internal{100, 89}, 8, 4, "changed in 1 of the last 10 visits, not every 8 rounds because 89 % of the pages it links to changed, every 4 rounds of 1d"},
		{"its pages do not change", seldom, Internal{100, 39}, 8, 8, "changed in 1 of the last 10 visits, every 8 rounds of 1d"},
		{"table 2, first page: it changes itself", Belief{MaxFR: 6, Pairs: 9, History: 0b111111111}, Internal{100, 89}, 3, 3, "changed in 9 of the last 10 visits, every 3 rounds of 1d"},
	} {
		got := FRMax{}.Next(Page{ID: 1, Visit: 10, Belief: c.belief}, Observation{Outcome: crawl.OutcomeUnchanged, Internal: c.internal}, daily)
		if !near(got.Interval, times(c.rounds, day)) || Words(got.Reasons()) != c.words || got.Belief.MaxFR != c.maxfr {
			t.Errorf("%s: %s: %s; want %d rounds of max_fr %d: %s", c.name, got.Interval, Words(got.Reasons()), c.rounds, c.maxfr, c.words)
		}
	}
}
