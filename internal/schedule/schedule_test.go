package schedule

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

var daily = Parameters{Round: day, Min: time.Hour, Max: 120 * day}

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

// near reports whether d is want moved by the jitter at most.
func near(d, want time.Duration) bool {
	return math.Abs(float64(d-want)) <= float64(want)*Jitter+1
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
	if words := Words(got.Reasons); words != want {
		t.Errorf("reasons %q, want %q", words, want)
	}
}

func TestAfterVisit(t *testing.T) {
	t.Parallel()
	seen := func(o crawl.Outcome) Observation { return Observation{Outcome: o} }
	for _, c := range []struct {
		name     string
		state    crawl.PageState
		failures int
		seen     Observation
		want     crawl.PageState
		wantFail int
		low, top time.Duration
		words    string
	}{
		{"first copy", crawl.Active, 0, seen(crawl.OutcomeNew), crawl.Active, 0, 45 * time.Hour, 51 * time.Hour, "first copy, nothing to compare with yet, every 2 rounds of 1d"},
		{"changed", crawl.Active, 0, seen(crawl.OutcomeChanged), crawl.Active, 0, 22 * time.Hour, 26 * time.Hour, "changed since the last visit, every round of 1d"},
		{"cosmetic is no change", crawl.Active, 0, seen(crawl.OutcomeCosmetic), crawl.Active, 0, 22 * time.Hour, 26 * time.Hour, "unchanged since the last visit, every round of 1d"},
		{"success ends failing", crawl.Failing, 5, seen(crawl.OutcomeUnchanged), crawl.Active, 0, 22 * time.Hour, 26 * time.Hour, ""},
		{"a gone page comes back", crawl.Gone, 0, seen(crawl.OutcomeChanged), crawl.Active, 0, 22 * time.Hour, 26 * time.Hour, ""},
		{"unsupported", crawl.Active, 0, seen(crawl.OutcomeUnsupported), crawl.Active, 0, 108 * day, 120 * day, "content type not wanted, looked at again every 120d"},
		{"too large", crawl.Active, 0, seen(crawl.OutcomeTooLarge), crawl.Active, 0, 108 * day, 120 * day, "over the size limit, looked at again every 120d"},
		{"gone", crawl.Active, 2, seen(crawl.OutcomeGone), crawl.Gone, 0, 108 * day, 120 * day, "gone, looked at again every 120d"},
		{"redirected", crawl.Active, 0, seen(crawl.OutcomeRedirected), crawl.Redirect, 0, 108 * day, 120 * day, "answers with a redirect, looked at again every 120d"},
		{"excluded", crawl.Active, 0, seen(crawl.OutcomeExcluded), crawl.Excluded, 0, 108 * day, 120 * day, "excluded by robots or scope, looked at again every 120d"},
		{"duplicate", crawl.Active, 0, Observation{Outcome: crawl.OutcomeNew, Duplicate: true}, crawl.Duplicate, 0, 108 * day, 120 * day, "same content as another page, looked at again every 120d"},
		{"duplicate stays", crawl.Duplicate, 0, Observation{Outcome: crawl.OutcomeUnchanged, Duplicate: true}, crawl.Duplicate, 0, 108 * day, 120 * day, "same content as another page, looked at again every 120d"},
		{"duplicate that could not be had", crawl.Duplicate, 0, Observation{Outcome: crawl.OutcomeFailed, Duplicate: true}, crawl.Failing, 1, time.Hour, 67 * time.Minute, "failed"},
		{"its other page parts", crawl.Duplicate, 0, seen(crawl.OutcomeUnchanged), crawl.Active, 0, 22 * time.Hour, 51 * time.Hour, ""},
		{"duplicate parts", crawl.Duplicate, 0, seen(crawl.OutcomeChanged), crawl.Active, 0, 22 * time.Hour, 26 * time.Hour, ""},
		{"first failure", crawl.Active, 0, seen(crawl.OutcomeFailed), crawl.Failing, 1, time.Hour, 67 * time.Minute, "failed"},
		{"fifth failure", crawl.Failing, 4, seen(crawl.OutcomeTimedOut), crawl.Failing, 5, 15 * time.Hour, 17 * time.Hour, "failed 5 times in a row"},
		{"thousandth failure", crawl.Failing, 999, seen(crawl.OutcomeFailed), crawl.Failing, 1000, 108 * day, 120 * day, ""},
		{"throttled keeps its state", crawl.Gone, 1, seen(crawl.OutcomeThrottled), crawl.Gone, 2, 110 * time.Minute, 127 * time.Minute, "the host asked for quiet 2 times in a row"},
		{"throttled at its first visit", crawl.Known, 0, seen(crawl.OutcomeThrottled), crawl.Active, 1, time.Hour, 67 * time.Minute, ""},
		{"Retry-After is a floor", crawl.Active, 0, Observation{Outcome: crawl.OutcomeThrottled, RetryAfter: 5 * time.Hour}, crawl.Active, 1, 5 * time.Hour, 335 * time.Minute, "the host asked for quiet, not before the 5h it asked for"},
		{"Retry-After beyond max_interval", crawl.Active, 0, Observation{Outcome: crawl.OutcomeThrottled, RetryAfter: 900 * day}, crawl.Active, 1, 120 * day, 120 * day, ""},
		{"skipped learns nothing", crawl.Failing, 3, seen(crawl.OutcomeSkipped), crawl.Failing, 3, 45 * time.Hour, 51 * time.Hour, ""},
		{"stopped stays stopped", crawl.Stopped, 0, seen(crawl.OutcomeChanged), crawl.Stopped, 0, 22 * time.Hour, 26 * time.Hour, ""},
		{"evicted stays evicted", crawl.Evicted, 0, seen(crawl.OutcomeFailed), crawl.Evicted, 1, time.Hour, 67 * time.Minute, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			page := Page{ID: 11, State: c.state, Visit: 3, Failures: c.failures}
			got := AfterVisit(FRMax{}, page, c.seen, daily)
			if got.State != c.want || got.Failures != c.wantFail {
				t.Errorf("state %s with %d failures, want %s with %d", got.State, got.Failures, c.want, c.wantFail)
			}
			if got.Interval < c.low || got.Interval > c.top {
				t.Errorf("interval %s, want %s to %s", got.Interval, c.low, c.top)
			}
			if words := Words(got.Reasons); c.words != "" && words != c.words {
				t.Errorf("reasons %q, want %q", words, c.words)
			}
		})
	}
}

func TestFixed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		p     Parameters
		want  time.Duration
		words string
	}{
		{"once a round", daily, day, "every 1d"},
		{"a round below min_interval is meant", Parameters{Round: 10 * time.Second, Min: time.Hour, Max: day}, 10500 * time.Millisecond, "every 10s"},
		{"a round above max_interval is cut", Parameters{Round: 10 * day, Min: time.Hour, Max: day}, 23 * time.Hour, "every 10d, not after max_interval 1d"},
	} {
		got := Fixed{}.Next(Page{ID: 1, Visit: 1}, Observation{Outcome: crawl.OutcomeUnchanged}, c.p)
		if !near(got.Interval, c.want) {
			t.Errorf("%s: interval %s, want about %s", c.name, got.Interval, c.want)
		}
		if words := Words(got.Reasons); words != c.words {
			t.Errorf("%s: reasons %q, want %q", c.name, words, c.words)
		}
	}
}

// A page at one visit a day is never visited at the hour of the day before, goes
// round the clock, and loses or gains no visits by it.
func TestDailyVisitsMove(t *testing.T) {
	t.Parallel()
	for id := range int64(50) {
		var at time.Duration
		hours := map[time.Duration]bool{}
		for visit := 1; visit <= 4*driftVisits; visit++ {
			d := Fixed{}.Next(Page{ID: id, Visit: visit}, Observation{Outcome: crawl.OutcomeUnchanged}, daily)
			if moved := (d.Interval - day).Abs(); moved < 30*time.Minute {
				t.Fatalf("page %d visit %d: moved by %s only", id, visit, moved)
			}
			at += d.Interval
			hours[at%day/time.Hour] = true
		}
		if len(hours) < 20 {
			t.Errorf("page %d was visited at %d different hours of the day, want nearly all", id, len(hours))
		}
		if mean := at / (4 * driftVisits); (mean - day).Abs() > 6*time.Minute {
			t.Errorf("page %d: mean interval %s, want a day", id, mean)
		}
	}
}

func TestDecodeBelief(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stored string
		want         Belief
	}{
		{"none", "", Belief{}},
		{"null", "null", Belief{}},
		{"known", `{"max_fr":3,"pairs":4,"history":5}`, Belief{3, 4, 5}},
		{"fields of a later version", `{"gamma":{"a":0.7,"b":14},"max_fr":3,"pairs":4,"history":5}`, Belief{3, 4, 5}},
		{"damaged", `{"max_fr":3,`, Belief{}},
		{"another type", `{"max_fr":"three"}`, Belief{}},
		{"out of range", `{"max_fr":-3}`, Belief{}},
		{"far out of range", `{"max_fr":99999999999999999999}`, Belief{}},
		{"more changes than comparisons", `{"max_fr":3,"pairs":2,"history":5}`, Belief{}},
	} {
		if got := DecodeBelief(json.RawMessage(c.stored)); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestByName(t *testing.T) {
	t.Parallel()
	for _, name := range crawl.Policies() {
		if p, err := ByName(name); err != nil || p.Name() != name {
			t.Errorf("ByName(%q) = %v, %v: every policy that a spec may name must exist", name, p, err)
		}
	}
	if _, err := ByName("sqrt"); err == nil || !strings.Contains(err.Error(), "fixed, frmax") {
		t.Errorf("an unknown policy: %v, want an error that lists the known ones", err)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason crawl.Reason
		want   string
	}{
		{crawl.Reason{Code: "changes", Num: map[string]float64{"n": 0, "of": 20}}, "unchanged in the last 20 visits"},
		{crawl.Reason{Code: "min", Num: map[string]float64{"s": 3600}}, "not before min_interval 1h"},
		{crawl.Reason{Code: "robots", Text: "robots.txt line 3: Disallow: /private"}, "robots.txt line 3: Disallow: /private"},
		{crawl.Reason{Code: "resemblance", Num: map[string]float64{"r": 0.5, "at": 0.98}}, "resemblance (at=0.98 r=0.5)"},
		{crawl.Reason{Code: "noindex-tag"}, "noindex by X-Robots-Tag: no body kept"},
		{crawl.Reason{Code: "later"}, "later"},
	} {
		if got := Word(c.reason); got != c.want {
			t.Errorf("%+v: %q, want %q", c.reason, got, c.want)
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	d := Decision{Interval: 3*day + 4*time.Hour + 59*time.Minute, Reasons: []crawl.Reason{
		{Code: CodeChanges, Num: map[string]float64{"n": 10, "of": 20}},
		{Code: CodeRounds, Num: map[string]float64{"n": 2, "s": 86400}},
	}}
	want := "revisit in 3d 4h: changed in 10 of the last 20 visits, every 2 rounds of 1d"
	if got := Summary(d); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRough(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 850 * time.Millisecond: "850ms", 12 * time.Second: "12s", 90 * time.Second: "1m 30s",
		2 * time.Hour: "2h", 26*time.Hour + 30*time.Minute: "1d 2h", day + 30*time.Minute: "1d",
		-90 * time.Second: "1m 30s", math.MinInt64: "106751d 23h",
	} {
		if got := Rough(d); got != want {
			t.Errorf("Rough(%d) = %q, want %q", int64(d), got, want)
		}
	}
}

var sink Plan

// The target is 10 µs a plan, decoding and encoding of the belief included.
func BenchmarkPlan(b *testing.B) {
	stored := Belief{MaxFR: 3, Pairs: 32, History: 0x0f0f0f0f}.Encode()
	b.ReportAllocs()
	for b.Loop() {
		page := Page{ID: 7, State: crawl.Active, Visit: 45, Belief: DecodeBelief(stored)}
		sink = AfterVisit(FRMax{}, page, Observation{Outcome: crawl.OutcomeUnchanged}, daily)
		sink.Belief.Encode()
	}
}

func BenchmarkSummary(b *testing.B) {
	d := FRMax{}.Next(Page{ID: 7, Visit: 45}, Observation{Outcome: crawl.OutcomeUnchanged}, daily)
	b.ReportAllocs()
	for b.Loop() {
		Summary(d)
	}
}
