package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

// wordsOf words reasons one by one.
func wordsOf(reasons []crawl.Reason) []string {
	var all []string
	for _, r := range reasons {
		all = append(all, Word(r))
	}
	return all
}

func TestExplain(t *testing.T) {
	t.Parallel()
	full := daily
	full.Threshold, full.HostPrice, full.Weight, full.Prior = 0.3, 0.8, 2.5, gamma.Distribution{A: 1, B: 10}
	tight := daily
	tight.Max = 2 * day
	b := Belief{MaxFR: 5, Pairs: 8, History: 0b10000010, Told: 0b1100, Changes: 2, Days: 20}
	for _, c := range []struct {
		name    string
		policy  Policy
		p       Parameters
		elapsed time.Duration
		reasons []string // the last ones
		whatIf  []string
	}{
		{
			"budgeted, with all that there is",
			Budgeted{Delay{}},
			full, 2 * day,
			[]string{"weight 2.5", "jitter +4.4 %", "index 0.5 now, due at 0.8"},
			[]string{
				"then after 2d 18h if the next visit finds no change", "then after 2d 7h if the next visit finds a change",
				"after 1d 20h if its weight were twice as large", "after 1d 14h if its host had room",
			},
		},
		{
			"without a threshold",
			Budgeted{Age{}},
			tight, day,
			[]string{"θ is that of an unknown page visited every 1d", "jitter +4.4 %", "index 0.0254 now, due at 0.0159"},
			nil,
		},
		{
			"a rule",
			FRMax{},
			daily, day,
			[]string{"changed in 2 of the last 8 visits", "every 5 rounds of 1d"},
			[]string{"then after 4d 4h if the next visit finds no change", "then after 4d 4h if the next visit finds a change"},
		},
		{
			"a rule at a bound",
			FRMax{},
			tight, day,
			[]string{"every 5 rounds of 1d", "not after max_interval 2d"},
			[]string{
				"then after 1d 23h if the next visit finds no change", "then after 1d 23h if the next visit finds a change",
				"after 5d without min_interval and max_interval",
			},
		},
	} {
		e := Explain(c.policy, Page{ID: 3, Visit: 9, Belief: b}, c.p, c.elapsed)
		if e.Policy != c.policy.Name() || e.Looks != 8 || e.Changes != 2 || e.Told != 2 || e.Observed != 20*day {
			t.Errorf("%s: %+v", c.name, e)
		}
		if !(e.Low < e.Mean && e.Mean < e.High) {
			t.Errorf("%s: the rate is %v, from %v to %v", c.name, e.Mean, e.Low, e.High)
		}
		reasons := wordsOf(e.Reasons)
		if tail := reasons[max(0, len(reasons)-len(c.reasons)):]; !slices.Equal(tail, c.reasons) {
			t.Errorf("%s: reasons %q", c.name, reasons)
		}
		if got := wordsOf(e.WhatIf); c.whatIf != nil && !slices.Equal(got, c.whatIf) {
			t.Errorf("%s: what if %q", c.name, got)
		}
	}
}

// For a page that was just planned, Explain returns the plan.
func TestExplainAgreesWithPlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		policy, page, p := anyPolicy.Draw(t, "policy"), pages.Draw(t, "page"), parameters.Draw(t, "p")
		seen := Observation{
			Outcome: rapid.SampledFrom([]crawl.Outcome{crawl.OutcomeUnchanged, crawl.OutcomeCosmetic, crawl.OutcomeChanged}).Draw(t, "outcome"),
			Gap:     duration(mathtest.Positive(1e-4, 1e4).Draw(t, "gap")),
		}
		plan := policy.Next(page, seen, p)
		page.Belief = plan.Belief
		e := Explain(policy, page, p, 0)
		said := e.Interval == plan.Interval || policy.Name() == "deltat" && (e.Interval-plan.Interval).Abs() <= plan.Interval/1000+2
		if !said || e.Index != 0 {
			t.Fatalf("planned %s, explained %s; index %v at once", plan.Interval, e.Interval, e.Index)
		}
		whole := Words(plan.Reasons())
		if got := Words(e.Reasons); policy.Name() != "deltat" && !strings.HasPrefix(got, whole) {
			t.Fatalf("planned because %q, explained as %q", whole, got)
		}
	})
}

// Explanations can be stored and are worded.
func TestExplanationsAreWorded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		policy, page, p := anyPolicy.Draw(t, "policy"), pages.Draw(t, "page"), parameters.Draw(t, "p")
		e := Explain(policy, page, p, time.Duration(rapid.Int64().Draw(t, "elapsed")))
		checkStored(t, e.Reasons)
		checkStored(t, e.WhatIf)
		timed := slices.ContainsFunc(e.Reasons, func(r crawl.Reason) bool {
			return r.Code == CodeHourly || r.Code == CodeDaily || r.Code == CodeWeekdays
		})
		if len(e.Reasons) == 0 || len(e.WhatIf) < 2 || !(e.Mean > 0) || !(e.Low <= e.High) || (e.Jitter == 0) != timed {
			t.Fatalf("%+v", e)
		}
	})
}
