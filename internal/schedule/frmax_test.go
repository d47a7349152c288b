package schedule

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

func TestNextMaxFR(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source                               string
		maxfr, records, limit, counter, want int
	}{
		{"Bouras §3.2, the worked example", 3, 45, 20, 10, 2},
		{"Bouras §5, table 2, first page", 2, 10, 20, 9, 1},
		{"Bouras §5, table 2, second page", 2, 10, 20, 1, 6},
		{"no change in x records: ⌊(max_fr+x)/2⌋", 3, 45, 20, 0, 11},
		{"no change in few records", 2, 1, 20, 0, 1},
		{"the limit is never reached", 19, 100, 20, 0, 19},
		{"changes every time", 5, 20, 20, 20, 3},
		{"a page without records halves its period", 6, 0, 20, 0, 3},
		{"at least one round", 1, 0, 20, 0, 1},
		{"b is not rounded before the mean", 3, 5, 20, 3, 2},
	} {
		if got := NextMaxFR(c.maxfr, c.records, c.limit, c.counter); got != c.want {
			t.Errorf("%s: NextMaxFR(%d, %d, %d, %d) = %d, want %d", c.source, c.maxfr, c.records, c.limit, c.counter, got, c.want)
		}
	}
}

// rounds runs FRMax over outcomes and returns max_fr after each. The first
// letter is the page's first copy; U is unchanged, C changed, F failed.
func rounds(outcomes string) []int {
	var got []int
	page := Page{ID: 7}
	for i, o := range outcomes {
		page.Visit = i + 1
		seen := map[rune]crawl.Outcome{'C': crawl.OutcomeChanged, 'U': crawl.OutcomeUnchanged, 'F': crawl.OutcomeFailed}[o]
		if i == 0 {
			seen = crawl.OutcomeNew
		}
		page.Belief = AfterVisit(FRMax{}, page, Observation{Outcome: seen}, daily).Belief
		got = append(got, page.Belief.MaxFR)
	}
	return got
}

func TestFRMaxSteps(t *testing.T) {
	t.Parallel()
	never := "U" + strings.Repeat("U", 40)
	for _, c := range []struct {
		name, outcomes string
		want           []int
	}{
		{"step vector", "UCUUCCUUUU", []int{2, 1, 1, 2, 2, 1, 1, 1, 1, 2}},
		{"a failed visit is no evidence", "UCUFUFFCCUUUU", []int{2, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1, 2}},
		{"a page that never changes stops at limit − 1", never, append(
			[]int{2, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19},
			slices.Repeat([]int{19}, len(never)-21)...)},
	} {
		if got := rounds(c.outcomes); !slices.Equal(got, c.want) {
			t.Errorf("%s: max_fr after %s:\n got %v\nwant %v", c.name, c.outcomes, got, c.want)
		}
	}
}

// The rule averages visits with rounds; but the point where it settles, at m =
// 1/(1−e^−λm) rounds, is near the square-root law's 1/√λ.
func TestFRMaxFixedPoint(t *testing.T) {
	t.Parallel()
	for lambda, want := range map[float64]string{0.001: "31.9 31.6", 0.01: "10.26 10.00", 0.05: "4.74 4.47", 0.1: "3.44 3.16", 0.3: "2.12 1.83"} {
		excess := func(m float64) float64 { return -m*math.Expm1(-lambda*m) - 1 }
		settled, ok := gamma.Solve(excess, true, gamma.PointOn(excess, 1), 0.1, 100, 1e-9)
		if mathtest.Printed(t, fmt.Sprintf("λ = %v a round", lambda), want, settled, 1/math.Sqrt(lambda)); !ok {
			t.Errorf("λ = %v: it does not settle", lambda)
		}
	}
}

func TestFRMaxInterval(t *testing.T) {
	t.Parallel()
	history := uint32(0b0101_0101_0101_0101_0101) // 10 changes in 20
	page := Page{ID: 1, Visit: 45, State: crawl.Active, Belief: Belief{MaxFR: 3, Pairs: 32, History: history << 1}}
	got := AfterVisit(FRMax{}, page, Observation{Outcome: crawl.OutcomeChanged}, daily)
	if !near(got.Interval, 2*day) {
		t.Errorf("interval %s, want 2 rounds of a day", got.Interval)
	}
	if got.Belief.MaxFR != 2 {
		t.Errorf("max_fr %d, want 2", got.Belief.MaxFR)
	}
	want := "changed in 10 of the last 20 visits, every 2 rounds of 1d"
	if words := Words(got.Reasons()); words != want {
		t.Errorf("reasons %q, want %q", words, want)
	}
}
