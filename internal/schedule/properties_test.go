package schedule

import (
	"math/bits"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
)

var (
	parameters = rapid.Custom(func(t *rapid.T) Parameters {
		minimum := time.Duration(rapid.Int64Range(1, int64(3650*day)).Draw(t, "min"))
		return Parameters{
			Round: time.Duration(rapid.Int64Range(1, int64(1<<62)).Draw(t, "round")),
			Min:   minimum,
			Max:   time.Duration(rapid.Int64Range(int64(minimum), int64(3650*day)).Draw(t, "max")),
		}
	})
	beliefs = rapid.Custom(func(t *rapid.T) Belief {
		pairs := rapid.IntRange(0, window).Draw(t, "pairs")
		return Belief{
			MaxFR:   rapid.IntRange(0, FRLimit).Draw(t, "max_fr"),
			Pairs:   pairs,
			History: uint32(rapid.Uint64Range(0, 1<<pairs-1).Draw(t, "history")),
		}
	})
	pages = rapid.Custom(func(t *rapid.T) Page {
		return Page{
			ID:       rapid.Int64().Draw(t, "id"),
			State:    rapid.SampledFrom(crawl.PageStates()).Draw(t, "state"),
			Visit:    rapid.IntRange(1, 1<<31).Draw(t, "visit"),
			Failures: rapid.IntRange(0, 1<<31).Draw(t, "failures"),
			Belief:   beliefs.Draw(t, "belief"),
		}
	})
	observations = rapid.Custom(func(t *rapid.T) Observation {
		return Observation{
			Outcome:    rapid.SampledFrom(crawl.Outcomes()).Draw(t, "outcome"),
			RetryAfter: time.Duration(rapid.Int64Min(0).Draw(t, "retry_after")),
		}
	})
	anyPolicy = rapid.SampledFrom(policies)
)

// Every plan keeps the bounds, says why, leaves a belief that can be stored, and
// is the same when made again.
func TestPlanProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		policy, page, seen, p := anyPolicy.Draw(t, "policy"), pages.Draw(t, "page"), observations.Draw(t, "seen"), parameters.Draw(t, "p")
		plan := AfterVisit(policy, page, seen, p)
		if plan.Interval < p.Floor() || plan.Interval > p.Max {
			t.Fatalf("interval %s is outside %s to %s", plan.Interval, p.Floor(), p.Max)
		}
		if len(plan.Reasons) == 0 || Words(plan.Reasons) == "" {
			t.Fatal("no reasons")
		}
		if got := DecodeBelief(plan.Belief.Encode()); got != plan.Belief {
			t.Fatalf("belief %+v comes back as %+v", plan.Belief, got)
		}
		if !seen.Outcome.Observes() && plan.Belief.Pairs != page.Belief.Pairs {
			t.Fatalf("%s was taken for evidence", seen.Outcome)
		}
		if plan.State == crawl.Known {
			t.Fatal("a visited page is not only known")
		}
		if again := AfterVisit(policy, page, seen, p); !reflect.DeepEqual(again, plan) {
			t.Fatalf("the same visit planned twice: %+v and %+v", plan, again)
		}
	})
}

// For the same state, a page that was seen to change more often is not visited
// later.
func TestMoreChangesNeverLater(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		policy, page, p := anyPolicy.Draw(t, "policy"), pages.Draw(t, "page"), parameters.Draw(t, "p")
		more := page
		more.Belief.History |= uint32(rapid.Uint64Range(0, 1<<page.Belief.Pairs-1).Draw(t, "more changes"))
		before := policy.Next(page, Observation{Outcome: crawl.OutcomeUnchanged}, p)
		after := policy.Next(more, Observation{Outcome: rapid.SampledFrom([]crawl.Outcome{
			crawl.OutcomeUnchanged, crawl.OutcomeChanged,
		}).Draw(t, "seen")}, p)
		if after.Interval > before.Interval {
			t.Fatalf("%d changes: %s; %d changes: %s", bits.OnesCount32(page.Belief.History), before.Interval,
				bits.OnesCount32(more.Belief.History), after.Interval)
		}
	})
}

// The back-off grows with each failure until it reaches max_interval, and never
// shrinks.
func TestBackoffGrows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, n := parameters.Draw(t, "p"), rapid.IntRange(1, 100).Draw(t, "n")
		now, next := p.Backoff(n), p.Backoff(n+1)
		if next < now || now < p.Max && next != min(2*now, p.Max) {
			t.Fatalf("after %d failures %s, after %d %s", n, now, n+1, next)
		}
	})
}

func FuzzDecodeBelief(f *testing.F) {
	f.Add([]byte(`{"max_fr":3,"pairs":4,"history":5}`))
	f.Add([]byte(`{"max_fr":1e99}`))
	f.Fuzz(func(t *testing.T, stored []byte) {
		belief := DecodeBelief(stored)
		plan := AfterVisit(FRMax{}, Page{ID: 1, Visit: 1, Belief: belief}, Observation{Outcome: crawl.OutcomeUnchanged}, daily)
		if plan.Belief.MaxFR < 1 || plan.Interval < daily.Min || plan.Interval > daily.Max {
			t.Fatalf("belief %q leads to %+v", stored, plan)
		}
	})
}
