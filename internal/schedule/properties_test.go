package schedule

import (
	"math/bits"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

func anyTimes(t *rapid.T) Times {
	var times Times
	for range rapid.IntRange(0, recalled).Draw(t, "looks") {
		times.add(rapid.Uint16Range(0, 1<<12-1).Draw(t, "look"))
	}
	return times
}

func anyTimetable(t *rapid.T) Timetable {
	number := rapid.IntRange(1, len(periods)-1).Draw(t, "period")
	slots := int(periods[number].slots)
	return Timetable{
		Period: uint8(number), By: uint16(rapid.IntRange(0, slots-1).Draw(t, "by")),
		Within: uint16(rapid.IntRange(1, slots).Draw(t, "within")), Doubtful: rapid.Bool().Draw(t, "doubtful"),
	}
}

var (
	parameters = mathtest.Shared(rapid.Custom(func(t *rapid.T) Parameters {
		minimum := time.Duration(rapid.Int64Range(1, int64(3650*day)).Draw(t, "min"))
		return Parameters{
			Round: time.Duration(rapid.Int64Range(1, int64(1<<62)).Draw(t, "round")),
			Min:   minimum,
			Max:   time.Duration(rapid.Int64Range(int64(minimum), int64(3650*day)).Draw(t, "max")),

			Threshold: rapid.OneOf(rapid.Just(0.), mathtest.Positive(1e-9, 1e9)).Draw(t, "threshold"),
			HostPrice: rapid.OneOf(rapid.Just(0.), mathtest.Positive(1e-9, 1e9)).Draw(t, "host price"),
			Prior:     rapid.OneOf(rapid.Just(gamma.Distribution{}), gammas).Draw(t, "prior"),
			HalfLife:  time.Duration(rapid.Int64Min(0).Draw(t, "half-life")),
			Weight:    rapid.OneOf(rapid.Just(0.), mathtest.Positive(1e-3, 1e3)).Draw(t, "weight"),
			Steep:     rapid.OneOf(rapid.Just(0.), rapid.Float64Range(0, mostSteep)).Draw(t, "steep"),
			Site:      rapid.OneOf(rapid.Just(Site{}), sites).Draw(t, "site"),
		}
	}))
	sites = mathtest.Shared(rapid.Custom(func(t *rapid.T) Site {
		return Site{
			Wave:  rapid.Int64Range(0, 4e12).Draw(t, "wave"),
			Share: rapid.Float64Range(0, 1).Draw(t, "share"),
			Waves: rapid.Float64Range(0, 1e3).Draw(t, "waves"),
			Since: rapid.Int64Range(0, 4e12).Draw(t, "since"),
		}
	}))
	beliefs = mathtest.Shared(rapid.Custom(func(t *rapid.T) Belief {
		pairs := rapid.IntRange(0, window).Draw(t, "pairs")
		history := uint32(rapid.Uint64Range(0, 1<<pairs-1).Draw(t, "history"))
		return Belief{
			MaxFR:     rapid.IntRange(0, FRLimit).Draw(t, "max_fr"),
			Pairs:     pairs,
			History:   history,
			Told:      uint32(rapid.Uint64Range(0, 1<<pairs-1).Draw(t, "told")) &^ history,
			Soonest:   rapid.Float32Range(0, 1e3).Draw(t, "soonest"),
			Changes:   rapid.Float32Range(0, 1e5).Draw(t, "changes"),
			Days:      rapid.Float32Range(0, 1e5).Draw(t, "days"),
			Compared:  rapid.Int64Min(0).Draw(t, "compared"),
			Since:     rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, 4e12)).Draw(t, "since"),
			LastGap:   rapid.Float32Range(0, 1e5).Draw(t, "last gap"),
			Aging:     Aging{Known: rapid.Float32Range(0, 1e5).Draw(t, "known"), Slope: rapid.Float32Range(-1e5, 1e5).Draw(t, "slope")},
			Refresh:   rapid.Float32Range(0, 3650).Draw(t, "refresh"),
			Selective: rapid.Float32Range(0.2, 0.6).Draw(t, "selective"),
			Skipped:   rapid.Bool().Draw(t, "skipped"),
			Times:     rapid.Custom(anyTimes).Draw(t, "times"),
			Timetable: rapid.OneOf(rapid.Just(Timetable{}), rapid.Custom(anyTimetable)).Draw(t, "timetable"),
		}
	}))
	pages = mathtest.Shared(rapid.Custom(func(t *rapid.T) Page {
		return Page{
			ID:       rapid.Int64().Draw(t, "id"),
			State:    rapid.SampledFrom(crawl.PageStates()).Draw(t, "state"),
			Visit:    rapid.IntRange(1, 1<<31).Draw(t, "visit"),
			Failures: rapid.IntRange(0, 1<<31).Draw(t, "failures"),
			Belief:   beliefs.Draw(t, "belief"),
		}
	}))
	observations = mathtest.Shared(rapid.Custom(func(t *rapid.T) Observation {
		return Observation{
			Outcome:    rapid.SampledFrom(crawl.Outcomes()).Draw(t, "outcome"),
			RetryAfter: time.Duration(rapid.Int64Min(0).Draw(t, "retry_after")),

			At:          time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "at")),
			Gap:         time.Duration(rapid.Int64Min(0).Draw(t, "gap")),
			NotModified: rapid.Bool().Draw(t, "not modified"),
			ChangedAgo:  time.Duration(rapid.Int64Min(0).Draw(t, "changed ago")),
			Internal:    Internal{Compared: rapid.IntRange(0, 100).Draw(t, "compared"), Changed: rapid.IntRange(0, 100).Draw(t, "changed")},
		}
	}))
	anyPolicy = mathtest.Shared(rapid.SampledFrom(Policies()))
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
		if len(plan.Reasons()) == 0 || Words(plan.Reasons()) == "" {
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

// A page may live through any history under any policy, changing it on the way,
// and is always planned within the bounds, by a belief that can be stored.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("a page of no great importance"))
	f.Add([]byte{0, 255, 1, 254, 2, 253, 128, 128, 128})
	f.Fuzz(func(t *testing.T, history []byte) {
		page := Page{ID: 5, State: crawl.Known}
		gap := time.Duration(0)
		for len(history) >= 2 {
			how, which := history[0], history[1]
			history = history[2:]
			page.Visit++
			policy := Policies()[int(which)%len(Policies())]
			outcome := crawl.Outcomes()[int(how)%len(crawl.Outcomes())]
			seen := Observation{Outcome: outcome, Gap: gap, NotModified: which > 128, ChangedAgo: time.Duration(how) * time.Hour, Internal: Internal{int(how), int(which)}}
			plan := AfterVisit(policy, page, seen, daily)
			if plan.Interval < daily.Floor() || plan.Interval > daily.Max || len(plan.Reasons()) == 0 {
				t.Fatalf("visit %d, %s by %s: %+v", page.Visit, outcome, policy.Name(), plan)
			}
			if !plan.Belief.valid() || DecodeBelief(plan.Belief.Encode()) != plan.Belief {
				t.Fatalf("visit %d, %s by %s: belief %+v", page.Visit, outcome, policy.Name(), plan.Belief)
			}
			if g := plan.Belief.Gamma(FirstPrior(day)); !(g.Mean() > 0) || g.Mean() > 1e3 {
				t.Fatalf("visit %d, %s by %s: believed %+v", page.Visit, outcome, policy.Name(), g)
			}
			page.State, page.Failures, page.Belief = plan.State, plan.Failures, plan.Belief
			// The next visit is as planned, or at any time that a person asks for.
			gap = plan.Interval
			if how&1 == 1 {
				gap = time.Duration(which) * 7 * time.Minute
			}
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
