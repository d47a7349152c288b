package schedule

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

var byBudget = mathtest.Shared(rapid.Custom(func(t *rapid.T) Budgeted { return Budgeted{anyObjective.Draw(t, "objective")} }))

// Without a threshold an unknown page is visited once a round, whatever the round,
// by every objective.
func TestUnknownPageOncePerRound(t *testing.T) {
	t.Parallel()
	for _, o := range Objectives() {
		for _, round := range []time.Duration{3 * time.Second, time.Hour, day, 30 * day} {
			p := Parameters{Round: round, Min: time.Second, Max: 120 * day}
			d := Budgeted{o}.Next(Page{ID: 1, Visit: 1}, Observation{Outcome: crawl.OutcomeNew}, p)
			if !near(d.Interval, round) || !mathtest.Alike(float64(d.Wanted), float64(round), 1e-6) {
				t.Errorf("%s: first interval %s for a round of %s", o.Name(), d.Wanted, round)
			}
		}
	}
}

// intervals runs a policy over visits that find what changed says, at the times
// that it plans itself.
func intervals(policy Policy, p Parameters, visits int, changed func(visit int, gap time.Duration) bool) (list []time.Duration, last Belief) {
	page, gap := Page{ID: 3, State: crawl.Active}, time.Duration(0)
	for page.Visit = 1; page.Visit <= visits; page.Visit++ {
		seen := Observation{Outcome: crawl.OutcomeUnchanged, Gap: gap}
		switch {
		case page.Visit == 1:
			seen.Outcome = crawl.OutcomeNew
		case changed(page.Visit, gap):
			seen.Outcome = crawl.OutcomeChanged
		}
		plan := AfterVisit(policy, page, seen, p)
		page.Belief, gap = plan.Belief, plan.Interval
		list = append(list, gap)
	}
	return list, page.Belief
}

// A page that never changes is visited more and more seldom, and never left; one
// that always does is visited more and more often under the square-root law, and
// not without limit.
func TestNeverAndAlways(t *testing.T) {
	t.Parallel()
	for _, o := range Objectives() {
		never, _ := intervals(Budgeted{o}, daily, 300, func(int, time.Duration) bool { return false })
		if last := never[len(never)-1]; last < 2*day || last > daily.Max {
			t.Errorf("%s: 300 looks without a change lead to an interval of %s", o.Name(), last)
		}
		always, b := intervals(Budgeted{o}, daily, 300, func(int, time.Duration) bool { return true })
		if g := b.Gamma(FirstPrior(day)); math.IsInf(g.Mean(), 1) || g.Mean() < 0.5 {
			t.Errorf("%s: 300 changes in 300 looks lead to a rate of %v", o.Name(), g.Mean())
		}
		if last := always[len(always)-1]; o.Name() == "sqrt" && last > 2*time.Hour {
			t.Errorf("%s: 300 changes in 300 looks lead to an interval of %s", o.Name(), last)
		}
	}
}

// A page that is planned by a known rate's worth of evidence is visited at the
// optimal interval: the belief converges, and the index with it.
func TestIntervalsConverge(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 1))
	p := daily
	p.Threshold, p.HalfLife = 0.2, 1<<62
	for _, o := range []Objective{Delay{}, Age{}, Harmonic{}} {
		for _, lambda := range []float64{0.02, 0.1, 1} {
			list, _ := intervals(Budgeted{o}, p, 4000, func(_ int, gap time.Duration) bool {
				return r.Float64() > math.Exp(-lambda*days(gap))
			})
			want := 1 / o.Visits(lambda, 1, p.Threshold)
			if got := days(list[len(list)-1]); !mathtest.Alike(got, want, 0.15) {
				t.Errorf("%s: a page of rate %v is visited every %v days after 4000 visits, want %v", o.Name(), lambda, got, want)
			}
		}
	}
}

// Fresh gives up pages that change too often to be kept fresh, and others do not.
func TestFreshGivesUp(t *testing.T) {
	t.Parallel()
	p := daily
	p.Threshold = 1
	b := Belief{Pairs: 20, History: 0xfffff, Changes: 200, Days: 20} // ten a day
	for _, c := range []struct {
		objective Objective
		words     string
		low, high time.Duration
	}{
		{
			Fresh{},
			"changed in 20 of the last 20 visits, changes about every 4h 3m (90 %: 3h 38m to 4h 35m), changes too often to be worth a visit at θ 1, not after max_interval 120d, jitter +5.0 %",
			110 * day, 120 * day,
		},
		{
			Delay{},
			"changed in 20 of the last 20 visits, changes about every 4h 3m (90 %: 3h 38m to 4h 35m), √λ share: every 13h 58m at θ 1, jitter +5.0 %",
			13 * time.Hour, 15 * time.Hour,
		},
	} {
		d := Replan(Budgeted{c.objective}, Page{ID: 5, Visit: 9, Belief: b}, p)
		if words := Words(d.Reasons()); words != c.words || d.Interval < c.low || d.Interval > c.high {
			t.Errorf("%s: %s, %q; want %q", c.objective.Name(), d.Interval, words, c.words)
		}
	}
}

// On a host whose pages change too often for a price, a new page is still looked at
// while a look teaches most; after that it is on its own.
func TestFirstLookIsNotStarved(t *testing.T) {
	t.Parallel()
	p := daily
	p.Threshold, p.Prior = 1, gamma.Distribution{A: 20, B: 4} // five a day, all pages alike
	first := Budgeted{Fresh{}}.Next(Page{ID: 1, Visit: 1}, Observation{Outcome: crawl.OutcomeNew}, p)
	if want := duration(gamma.MostInformative / 5); first.Wanted != want || !near(first.Interval, want) {
		t.Errorf("first look after %s, want %s", first.Wanted, want)
	}
	if words := Words(first.Reasons()[:4]); words != "first copy, nothing to compare with yet, pages like it change about every 4h 48m (90 %: 3h 26m to 7h 14m), changes too often to be worth a visit at θ 1, looked at within 7h 38m to learn how often it changes" {
		t.Errorf("reasons %q", words)
	}
	second := Budgeted{Fresh{}}.Next(Page{ID: 1, Visit: 2}, Observation{Outcome: crawl.OutcomeChanged, Gap: first.Interval}, p)
	if second.Interval < 100*day {
		t.Errorf("second look after %s, want it given up", second.Interval)
	}
}

func TestBudgetedReasons(t *testing.T) {
	t.Parallel()
	p := daily
	p.Threshold, p.HostPrice, p.Weight, p.Prior = 0.3, 0.8, 2.5, gamma.Distribution{A: 1, B: 10}
	b := Belief{Pairs: 8, History: 0b10000010, Told: 0b1100, Changes: 2, Days: 20}
	d := Replan(Budgeted{Delay{}}, Page{ID: 3, Visit: 9, Belief: b}, p)
	want := "changed in 2 of the last 8 visits, 2 of them on the server's word (304), changes about every 10d (90 %: 4d 18h to 37d), " +
		"√λ share: every 2d 12h at θ 0.8, its host is full: θ 0.8 instead of 0.3, weight 2.5, jitter +4.4 %"
	if words := Words(d.Reasons()); words != want {
		t.Errorf("reasons %q,\nwant %q", words, want)
	}
	noisy := Belief{Pairs: 20, History: 0xfffff, Soonest: 1. / 24, Changes: 15, Days: 1}
	d = Replan(Budgeted{Delay{}}, Page{ID: 3, Visit: 9, Belief: noisy}, daily)
	if words := Words(d.Reasons()[1:2]); words != "changed at each of the last 20 looks, once after 1h only: noise, or faster than it may be visited" {
		t.Errorf("reasons %q", words)
	}
	if words := Words(d.Reasons()[3:]); words != "√λ share: every 5h 14m at θ 0.025, θ is that of an unknown page visited every 1d, jitter +4.4 %" {
		t.Errorf("reasons %q", words)
	}
}

// A page with a larger weight is not visited later, one at a higher threshold or
// on a fuller host not earlier; and the plan is stored completely. Looks for learning the
// rate may be sooner where a page is worth less, and are left out: the first one, and of
// the others every second one (firstLook, exploratoryLook).
func TestBudgetedMonotone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		policy, page, p := byBudget.Draw(t, "policy"), pages.Draw(t, "page"), parameters.Draw(t, "p")
		page.Visit |= 1
		page.Belief.Pairs = max(page.Belief.Pairs, 1)
		p.Threshold, p.Weight, p.HostPrice = mathtest.Positive(1e-9, 1e9).Draw(t, "threshold"), mathtest.Positive(1e-3, 1e3).Draw(t, "weight"), 0
		more := mathtest.Positive(1, 1e3).Draw(t, "more")
		heavier, dearer, fuller := p, p, p
		heavier.Weight *= more
		dearer.Threshold *= more
		fuller.HostPrice = p.Threshold * more
		// Two equal searches end 1e-9 apart at most.
		const slack = 1 + 1e-8
		at := float64(Replan(policy, page, p).Wanted)
		if got := float64(Replan(policy, page, heavier).Wanted); got > at*slack+1 {
			t.Fatalf("weight %v: %v, weight %v: %v", p.Weight, at, heavier.Weight, got)
		}
		for _, p := range []Parameters{dearer, fuller} {
			if got := float64(Replan(policy, page, p).Wanted); got*slack+1 < at {
				t.Fatalf("%+v: %v, at first %v", p, got, at)
			}
		}
	})
}

// A change seen instead of none never makes the next visit later, except under
// Fresh, which gives up pages that change too often.
func TestChangeNeverLater(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		policy := Budgeted{rapid.SampledFrom([]Objective{Delay{}, Age{}, Harmonic{}}).Draw(t, "objective")}
		page, p := pages.Draw(t, "page"), parameters.Draw(t, "p")
		gap := duration(mathtest.Positive(1e-4, 1e4).Draw(t, "gap"))
		same := policy.Next(page, Observation{Outcome: crawl.OutcomeUnchanged, Gap: gap}, p)
		changed := policy.Next(page, Observation{Outcome: crawl.OutcomeChanged, Gap: gap}, p)
		// The float32 values of the belief are precise to 1e-7.
		if float64(changed.Wanted) > float64(same.Wanted)*(1+1e-5)+1 {
			t.Fatalf("after a change %s, after none %s", changed.Wanted, same.Wanted)
		}
	})
}

// Reasons can be stored: every number is one that JSON has, and is named.
func TestReasonsAreStored(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		policy, page, seen, p := anyPolicy.Draw(t, "policy"), pages.Draw(t, "page"), observations.Draw(t, "seen"), parameters.Draw(t, "p")
		plan := AfterVisit(policy, page, seen, p)
		checkStored(t, plan.Reasons())
	})
}

// checkStored fails unless reasons can be stored and are worded.
func checkStored(t *rapid.T, reasons []crawl.Reason) {
	for _, r := range reasons {
		if _, err := json.Marshal(r); err != nil || strings.Contains(Word(r), "=") {
			t.Fatalf("reason %+v: %v, in words %q", r, err, Word(r))
		}
	}
}

// A page whose rate falls with its age, at a site that changed as a whole.
var (
	agedBelief = Belief{
		MaxFR: 3, Pairs: 32, History: 0x0f0f0f0e, Changes: 3.5, Days: 40, Looks: 2.5, Apart: 3,
		Compared: 1_800_000_000_000, Since: 1_799_000_000_000, LastGap: 3,
	}
	aging = func() Parameters {
		p := daily
		p.Steep, p.Site = 0.5, Site{Wave: 1_800_100_000_000, Share: 0.4, Waves: 2, Since: 1_700_000_000_000}
		return p
	}()
)

// The target is none: a simulation plans a hundred million visits.
func TestPlanAllocatesNothing(t *testing.T) {
	page := Page{ID: 7, State: crawl.Active, Visit: 45, Belief: agedBelief}
	for _, policy := range Policies() {
		for _, outcome := range crawl.Outcomes() {
			seen := Observation{Outcome: outcome, Gap: 3 * day, At: agedBelief.ComparedAt().Add(3 * day)}
			if n := testing.AllocsPerRun(100, func() { sink = AfterVisit(policy, page, seen, aging) }); n > 0 {
				t.Errorf("%s allocates %v times when the visit was %s", policy.Name(), n, outcome)
			}
		}
	}
}
