package schedule

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/mathtest"
)

// Eq. 1 and 2 as printed, for t = 10; with p_g below ½ the time becomes negative.
func TestNextRefresh(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pc    float64
		want  string // p_g = 0.7, p_l = 0.3
		lower string // p_g = 0.4, p_l = 0.3
	}{
		{0.0, "20.0000", "20.0000"},
		{0.1, "16.6667", "16.6667"},
		{0.3, "10.0000", "10.0000"},
		{0.5, "10.0000", "7.5000"},
		{0.7, "10.0000", "2.5000"},
		{0.9, "7.1429", "-2.5000"},
		{1.0, "5.7143", "-5.0000"},
	} {
		mathtest.Printed(t, fmt.Sprintf("p_c = %v", c.pc), c.want+" "+c.lower, NextRefresh(10, c.pc, 0.7, 0.3), NextRefresh(10, c.pc, 0.4, 0.3))
	}
}

// The paper's queues of refresh times, which a timer per page makes needless: the
// n-th is from (n−1)²·20 to n²·20, the latter being also its period (eq. 4). The
// table of eq. 3 agrees for queues 1, 9 and 10, and for 2 and 3 except for their
// common bound, printed as 40: it is 80, as in eq. 4.
func TestQueuesOfRefreshTimes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "0 20", 2: "20 80", 3: "80 180", 9: "1280 1620", 10: "1620 2000"} {
		mathtest.Printed(t, fmt.Sprintf("queue %d", n), want, float64((n-1)*(n-1)*20), float64(n*n*20))
	}
}

// refreshes runs DeltaT over outcomes as rounds runs FRMax, and returns the
// intervals that it wants, in days.
func refreshes(outcomes string, p Parameters) []float64 {
	var got []float64
	page := Page{ID: 7}
	for i, o := range outcomes {
		page.Visit = i + 1
		seen := map[rune]crawl.Outcome{'C': crawl.OutcomeChanged, 'U': crawl.OutcomeUnchanged, 'F': crawl.OutcomeFailed}[o]
		if i == 0 {
			seen = crawl.OutcomeNew
		}
		plan := AfterVisit(DeltaT{}, page, Observation{Outcome: seen}, p)
		page.Belief = plan.Belief
		if o != 'F' {
			got = append(got, days(plan.Wanted))
		}
	}
	return got
}

func TestDeltaTSteps(t *testing.T) {
	t.Parallel()
	mathtest.Printed(t, "step vector", "1.0000 0.5714 0.5714 0.5714 0.5714 0.5714 0.5714 0.5714 0.5714 0.7619", refreshes("UCUUCCUUUU", daily)...)
	mathtest.Printed(t, "failures are no evidence", "1.0000 0.5714 0.5714 0.5714 0.5714", refreshes("UFCUFFUC", daily)...)
	// It never ends below or above the bounds, from which it comes back at once.
	low, high := daily, daily
	low.Min, high.Max = 12*time.Hour, 4*day
	mathtest.Printed(t, "never below", "1.0000 0.5714 0.3265 0.2857 0.2857", refreshes("UCCCC", low)...)
	mathtest.Printed(t, "never above", "1.0000 2.0000 4.0000 8.0000 8.0000", refreshes("UUUUU", high)...)
	mathtest.Printed(t, "back from below", "0.5000 0.6667", refreshes("U"+strings.Repeat("C", 5)+"UUUU", low)[8:]...)
}

func TestDeltaTWords(t *testing.T) {
	t.Parallel()
	got := AfterVisit(DeltaT{}, Page{ID: 1, Visit: 3, Belief: Belief{Pairs: 1, History: 1}}, Observation{Outcome: crawl.OutcomeChanged}, daily)
	want := "changed in 2 of the last 2 visits, refresh time 13h 42m after 1d, 100 % of the looks found changes"
	if words := Words(got.Reasons()); words != want {
		t.Errorf("reasons %q, want %q", words, want)
	}
}

// The rule is continuous in its period and keeps its promise: within a factor of
// two for the bounds that it is used with.
func TestNextRefreshBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pc, at := rapid.Float64Range(0, 1).Draw(t, "pc"), mathtest.Positive(1e-3, 1e3).Draw(t, "t")
		if next := NextRefresh(at, pc, deltaUpper, deltaLower); next < at/2 || next > 2*at {
			t.Fatalf("%v becomes %v at %v", at, next, pc)
		}
	})
}
