package schedule

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

func TestDecodeBelief(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stored string
		want         Belief
	}{
		{"none", "", Belief{}},
		{"null", "null", Belief{}},
		{"known", `{"max_fr":3,"pairs":4,"history":5}`, Belief{MaxFR: 3, Pairs: 4, History: 5}},
		{"fields of a later version", `{"grid":{"a":0.7,"b":14},"max_fr":3,"pairs":4,"history":5}`, Belief{MaxFR: 3, Pairs: 4, History: 5}},
		{"damaged", `{"max_fr":3,`, Belief{}},
		{"another type", `{"max_fr":"three"}`, Belief{}},
		{"out of range", `{"max_fr":-3}`, Belief{}},
		{"far out of range", `{"max_fr":99999999999999999999}`, Belief{}},
		{"with what the rate is believed to be", `{"pairs":1,"told":1,"a":0.5,"b":2.25,"at":1790000000123}`, Belief{
			Pairs: 1, Told: 1, Changes: 0.5, Days: 2.25, Compared: 1790000000123,
		}},
		{"negative evidence", `{"a":-1}`, Belief{}},
		{"endless evidence", `{"b":1e300}`, Belief{}},
		{"a change by the server's word", `{"pairs":2,"history":1,"told":1}`, Belief{}},
		{"a time before there was one", `{"at":-5}`, Belief{}},
		{"a share that is none", `{"selective":4}`, Belief{}},
		{"with times of looks", `{"times":"AjBS","table":{"p":2,"by":74,"in":6}}`, Belief{Times: Times{n: 2, codes: [recalled]uint16{35, 82}}, Timetable: Timetable{Period: 2, By: 74, Within: 6}}},
		{"half a time", `{"times":"AjB"}`, Belief{}},
		{"times that are none", `{"times":"A."}`, Belief{}},
		{"more times than are recalled", `{"times":"` + strings.Repeat("AB", recalled+1) + `"}`, Belief{}},
		{"a period that is none", `{"table":{"p":4,"by":74,"in":6}}`, Belief{}},
		{"a time beyond its period", `{"table":{"p":1,"by":12,"in":6}}`, Belief{}},
		{"a time without a period", `{"table":{"by":12}}`, Belief{}},
		{"more changes than comparisons", `{"max_fr":3,"pairs":2,"history":5}`, Belief{}},
	} {
		if got := DecodeBelief(json.RawMessage(c.stored)); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// A stored page from before the beliefs about rates existed goes on where it was:
// the fields that it lacks are zero, as in a fresh page.
func TestOldBeliefs(t *testing.T) {
	t.Parallel()
	old := DecodeBelief(json.RawMessage(`{"max_fr":3,"pairs":32,"history":4042322160}`))
	if g := old.Gamma(FirstPrior(day)); g != FirstPrior(day) {
		t.Errorf("believed %+v, want the prior", g)
	}
	if gap := old.Gap(time.Now()); gap != 0 {
		t.Errorf("a gap of %s from an unknown time", gap)
	}
	// Its first comparison has no gap; it only starts the clock.
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	next := Budgeted{Delay{}}.Next(Page{ID: 1, Visit: 9, Belief: old}, Observation{Outcome: crawl.OutcomeChanged, At: at}, daily).Belief
	if next.Changes != 0 || next.Days != 0 || next.Gap(at.Add(day)) != day || next.History != old.History<<1|1 {
		t.Errorf("after a change after an unknown time: %+v", next)
	}
	if gap := next.Gap(at.Add(-day)); gap != 0 {
		t.Errorf("a clock that goes back makes a gap of %s", gap)
	}
}

func TestEncodeIsCompact(t *testing.T) {
	t.Parallel()
	full := Belief{
		MaxFR: 19, Pairs: 32, History: 0xfffffff0, Told: 0xf, Soonest: 1. / 24, Changes: 21.337, Days: 251.7731, Looks: 12.345, Apart: 3.21, Compared: 1790000000123,
		Refresh: 119.99, Selective: 0.425, Skipped: true,
	}
	if n := len(full.Encode()); n > 220 {
		t.Errorf("a belief takes %d bytes: %s", n, full.Encode())
	}
	if got := string(Belief{}.Encode()); got != "{}" {
		t.Errorf("nothing takes %s", got)
	}
}

// after is a belief after looks of a day each; see rounds for the letters, and N
// is a 304.
func after(outcomes string, p Parameters, gap time.Duration) Belief {
	var b Belief
	for _, o := range outcomes {
		seen := Observation{Gap: gap, NotModified: o == 'N', Outcome: map[rune]crawl.Outcome{
			'C': crawl.OutcomeChanged, 'U': crawl.OutcomeUnchanged, 'N': crawl.OutcomeUnchanged,
			'c': crawl.OutcomeCosmetic, 'F': crawl.OutcomeFailed, 'S': crawl.OutcomeSkipped, '1': crawl.OutcomeNew,
			'R': crawl.OutcomeReturned,
		}[o]}
		b = b.observe(seen, p)
	}
	return b
}

func TestObserve(t *testing.T) {
	t.Parallel()
	p := daily
	p.Prior, p.HalfLife = gamma.Distribution{A: 0.5, B: 15}, 1<<62 // as good as no forgetting
	for _, c := range []struct {
		name, outcomes string
		gap            time.Duration
		want           string // Gamma
		pairs, told    int
	}{
		{"a first copy teaches nothing", "1", day, "0.5 15", 0, 0},
		{"a change", "1C", day, "1.498700 15.473135", 1, 0},
		{"no change", "1U", day, "0.5 16", 1, 0},
		{"a cosmetic change is none", "1c", day, "0.5 16", 1, 0},
		{"a return is none", "1R", day, "0.5 16", 1, 0},
		{"a 304 is no change, told apart", "1NN", day, "0.5 17", 2, 2},
		{"a failure is no evidence", "1CFFS", day, "1.498700 15.473135", 1, 0},
		{"without a gap the history alone learns", "1CU", 0, "0.5 15", 2, 0},
	} {
		b := after(c.outcomes, p, c.gap)
		g := b.Gamma(p.Prior)
		if mathtest.Printed(t, c.name, c.want, g.A, g.B); b.Pairs != c.pairs || b.told(window) != c.told {
			t.Errorf("%s: %d comparisons, %d told; want %d, %d", c.name, b.Pairs, b.told(window), c.pairs, c.told)
		}
	}
}

func TestObserveLastModified(t *testing.T) {
	t.Parallel()
	p := daily
	p.Prior, p.HalfLife = gamma.Distribution{A: 0.5, B: 15}, 90*day
	for _, c := range []struct {
		name string
		seen Observation
		want string
	}{
		{"a change at a known time", Observation{Outcome: crawl.OutcomeChanged, Gap: 7 * day, ChangedAgo: 2 * day}, "1.500000 17.000000"},
		{"a time before the last look contradicts the change", Observation{Outcome: crawl.OutcomeChanged, Gap: day, ChangedAgo: 9 * day}, "1.498700 15.473135"},
		{"an unchanged page's is old news", Observation{Outcome: crawl.OutcomeUnchanged, Gap: day, ChangedAgo: 9 * day}, "0.500000 16.000000"},
		// Half of the change is remembered, and 90/ln 2 × ½ of the 90 days.
		{"a first copy that is 90 days old", Observation{Outcome: crawl.OutcomeNew, ChangedAgo: 90 * day}, "1.0000 79.9213"},
		{"a first copy of always: forgotten by half-lives", Observation{Outcome: crawl.OutcomeNew, ChangedAgo: 36500 * day}, "0.5000 144.8426"},
	} {
		g := Belief{}.observe(c.seen, p).Gamma(p.Prior)
		mathtest.Printed(t, c.name, c.want, g.A, g.B)
	}
}

// Evidence fades by half in a half-life, under any policy.
func TestForgetting(t *testing.T) {
	t.Parallel()
	p := daily
	p.HalfLife = 30 * day
	b := Belief{Changes: 8, Days: 100}.observe(Observation{Outcome: crawl.OutcomeUnchanged, Gap: 30 * day}, p)
	if b.Changes != 4 || b.Days != 80 {
		t.Errorf("after a half-life of no change %v changes in %v days, want 4 in 50+30", b.Changes, b.Days)
	}
	// A page that never changes is not believed to have been watched for ever: the
	// evidence ends at the half-life / ln 2 (for gaps that are short against it).
	b = Belief{}
	for range 2000 {
		b = b.observe(Observation{Outcome: crawl.OutcomeUnchanged, Gap: day}, p)
	}
	if !mathtest.Alike(float64(b.Days), 30/math.Ln2, 0.03) {
		t.Errorf("%v days of evidence, want about %v", b.Days, 30/math.Ln2)
	}
}

func TestNoisy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, outcomes string
		gap            time.Duration
		want           bool
	}{
		{"changed at all of 16 looks, an hour apart", "1CCCCCCCCCCCCCCCC", time.Hour, true},
		{"at all of 60", "1" + strings.Repeat("C", 60), 2 * time.Hour, true},
		{"at all of 15", "1CCCCCCCCCCCCCCC", time.Hour, false},
		{"not at the one before the last 16", "1CCCCCUCCCCCCCCCCCCCCCC", time.Hour, true},
		{"not at one of the last 16", "1CCCCCCCCCCCUCCCC", time.Hour, false},
		{"not at the last", "1CCCCCCCCCCCCCCCCCCCCU", time.Hour, false},
		{"daily looks cannot tell", "1CCCCCCCCCCCCCCCCCCCC", day, false},
		{"looks at unknown times cannot tell", "1CCCCCCCCCCCCCCCCCCCC", 0, false},
	} {
		if _, got := after(c.outcomes, daily, c.gap).noisy(daily); got != c.want {
			t.Errorf("%s: noisy %t, want %t", c.name, got, c.want)
		}
	}
}

// Any stored text decodes to a belief that can be used and stored again.
func FuzzDecodeBelief(f *testing.F) {
	f.Add([]byte(`{"max_fr":3,"pairs":4,"history":5}`))
	f.Add([]byte(`{"max_fr":1e99}`))
	f.Add([]byte(`{"pairs":32,"history":4294901760,"told":65535,"soonest":0.04,"a":3.5,"b":40.25,"at":1790000000123,"t":2,"selective":0.35,"skipped":true}`))
	f.Add([]byte(`{"a":1e6,"b":-0,"soonest":1e-45}`))
	f.Fuzz(func(t *testing.T, stored []byte) {
		belief := DecodeBelief(stored)
		if again := DecodeBelief(belief.Encode()); again != belief {
			t.Fatalf("%q is read as %+v, written and read again as %+v", stored, belief, again)
		}
		for _, policy := range Policies() {
			plan := AfterVisit(policy, Page{ID: 1, Visit: 1, Belief: belief}, Observation{Outcome: crawl.OutcomeUnchanged, Gap: day}, daily)
			if plan.Interval < daily.Min || plan.Interval > daily.Max || len(plan.Reasons()) == 0 || plan.Belief != DecodeBelief(plan.Belief.Encode()) {
				t.Fatalf("%s: belief %q leads to %+v", policy.Name(), stored, plan)
			}
		}
	})
}
