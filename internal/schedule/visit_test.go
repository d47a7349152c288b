package schedule

import (
	"testing"
	"time"

	"recrawl/internal/crawl"
)

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
		{"a return is no change", crawl.Active, 0, seen(crawl.OutcomeReturned), crawl.Active, 0, 22 * time.Hour, 26 * time.Hour, "unchanged since the last visit, every round of 1d"},
		{"a return of a duplicate", crawl.Duplicate, 0, Observation{Outcome: crawl.OutcomeReturned, Duplicate: true}, crawl.Duplicate, 0, 108 * day, 120 * day, ""},
		{"success ends failing", crawl.Failing, 5, seen(crawl.OutcomeUnchanged), crawl.Active, 0, 22 * time.Hour, 26 * time.Hour, ""},
		{"a gone page comes back", crawl.Gone, 0, seen(crawl.OutcomeChanged), crawl.Active, 0, 22 * time.Hour, 26 * time.Hour, ""},
		{"unsupported", crawl.Active, 0, seen(crawl.OutcomeUnsupported), crawl.Active, 0, 108 * day, 120 * day, "content type not wanted, looked at again every 120d"},
		{"too large", crawl.Active, 0, seen(crawl.OutcomeTooLarge), crawl.Active, 0, 108 * day, 120 * day, "over the size limit, looked at again every 120d"},
		{"gone", crawl.Active, 2, seen(crawl.OutcomeGone), crawl.Gone, 0, 108 * day, 120 * day, "gone, looked at again every 120d"},
		{"redirected", crawl.Active, 0, seen(crawl.OutcomeRedirected), crawl.Redirect, 0, 108 * day, 120 * day, "answers with a redirect, looked at again every 120d"},
		{"excluded", crawl.Active, 0, seen(crawl.OutcomeExcluded), crawl.Excluded, 0, 108 * day, 120 * day, "excluded by robots, scope or purpose, looked at again every 120d"},
		{"excluded by a rule that is gone", crawl.Active, 2, Observation{Outcome: crawl.OutcomeExcluded, Lifted: true}, crawl.Active, 2, time.Hour, 67 * time.Minute, "the rule that excluded it no longer holds: asked for again after 1h 4m"},
		{"excluded by a rule that is gone, at its first visit", crawl.Known, 0, Observation{Outcome: crawl.OutcomeExcluded, Lifted: true}, crawl.Active, 0, time.Hour, 67 * time.Minute, ""},
		{"duplicate", crawl.Active, 0, Observation{Outcome: crawl.OutcomeNew, Duplicate: true}, crawl.Duplicate, 0, 108 * day, 120 * day, "same content as another page, looked at again every 120d"},
		{"duplicate stays", crawl.Duplicate, 0, Observation{Outcome: crawl.OutcomeUnchanged, Duplicate: true}, crawl.Duplicate, 0, 108 * day, 120 * day, "same content as another page, looked at again every 120d"},
		{"duplicate that could not be had", crawl.Duplicate, 0, Observation{Outcome: crawl.OutcomeFailed, Duplicate: true}, crawl.Failing, 1, time.Hour, 67 * time.Minute, "failed"},
		{"in a trap", crawl.Active, 0, Observation{Outcome: crawl.OutcomeChanged, Trapped: true}, crawl.Active, 0, 108 * day, 120 * day, "part of a trap, looked at again every 120d"},
		{"in a trap that could not be had", crawl.Active, 0, Observation{Outcome: crawl.OutcomeFailed, Trapped: true}, crawl.Failing, 1, time.Hour, 67 * time.Minute, "failed"},
		{"its other page parts", crawl.Duplicate, 0, seen(crawl.OutcomeUnchanged), crawl.Active, 0, 22 * time.Hour, 51 * time.Hour, ""},
		{"duplicate parts", crawl.Duplicate, 0, seen(crawl.OutcomeChanged), crawl.Active, 0, 22 * time.Hour, 26 * time.Hour, ""},
		{"first failure", crawl.Active, 0, seen(crawl.OutcomeFailed), crawl.Failing, 1, time.Hour, 67 * time.Minute, "failed"},
		{"fifth failure", crawl.Failing, 4, seen(crawl.OutcomeTimedOut), crawl.Failing, 5, 15 * time.Hour, 17 * time.Hour, "failed 5 times in a row"},
		{"thousandth failure", crawl.Failing, 999, seen(crawl.OutcomeFailed), crawl.Failing, 1000, 108 * day, 120 * day, ""},
		{"throttled keeps its state", crawl.Gone, 1, seen(crawl.OutcomeThrottled), crawl.Gone, 2, 110 * time.Minute, 127 * time.Minute, "the host asked for quiet 2 times in a row"},
		{"throttled at its first visit", crawl.Known, 0, seen(crawl.OutcomeThrottled), crawl.Active, 1, time.Hour, 67 * time.Minute, ""},
		{"Retry-After is a floor", crawl.Active, 0, Observation{Outcome: crawl.OutcomeThrottled, RetryAfter: 5 * time.Hour}, crawl.Active, 1, 5 * time.Hour, 335 * time.Minute, "the host asked for quiet, not before the 5h it asked for"},
		{"Retry-After beyond max_interval", crawl.Active, 0, Observation{Outcome: crawl.OutcomeThrottled, RetryAfter: 900 * day}, crawl.Active, 1, 120 * day, 120 * day, ""},
		{"throttled, and its host held", crawl.Active, 0, Observation{Outcome: crawl.OutcomeThrottled, Rest: 2 * time.Hour}, crawl.Active, 1, 2 * time.Hour, 135 * time.Minute, "the host asked for quiet, left alone for 2h because its host was held on its account"},
		{"timed out, and its host held", crawl.Failing, 2, Observation{Outcome: crawl.OutcomeTimedOut, Rest: 8 * time.Hour}, crawl.Failing, 3, 8 * time.Hour, 9 * time.Hour, "failed 3 times in a row, left alone for 8h because its host was held on its account"},
		{"held for as long as it asked for", crawl.Active, 0, Observation{Outcome: crawl.OutcomeThrottled, RetryAfter: 5 * time.Hour, Rest: 5 * time.Hour}, crawl.Active, 1, 5 * time.Hour, 335 * time.Minute, "the host asked for quiet, not before the 5h it asked for"},
		{"skipped learns nothing", crawl.Failing, 3, seen(crawl.OutcomeSkipped), crawl.Failing, 3, 45 * time.Hour, 51 * time.Hour, ""},
		{"suspect is looked at again soon", crawl.Active, 2, seen(crawl.OutcomeSuspect), crawl.Active, 2, time.Hour, 67 * time.Minute, "looked at again after 1h 4m already, before it counts, not before min_interval 1h"},
		{"suspect keeps its state", crawl.Duplicate, 0, seen(crawl.OutcomeSuspect), crawl.Duplicate, 0, time.Hour, 67 * time.Minute, ""},
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
			if words := Words(got.Reasons()); c.words != "" && words != c.words {
				t.Errorf("reasons %q, want %q", words, c.words)
			}
		})
	}
}

// A second look never comes later than the policy wants, and not before the floor.
func TestSecondLookIsNoLater(t *testing.T) {
	t.Parallel()
	page := Page{ID: 11, State: crawl.Active, Visit: 3, Belief: Belief{Pairs: 2, History: 1, Compared: 1}}
	for _, policy := range Policies() {
		for _, round := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour, day, 30 * day} {
			for _, least := range []time.Duration{time.Second, time.Hour, 12 * time.Hour} {
				p := Parameters{Round: round, Min: least, Max: 60 * day}
				usual := policy.Next(page, Observation{Outcome: crawl.OutcomeSuspect}, p)
				got := AfterVisit(policy, page, Observation{Outcome: crawl.OutcomeSuspect}, p)
				if got.Interval > usual.Interval || got.Interval < p.Floor() {
					t.Errorf("%s, round %s, at least %s: after %s, as usual after %s", policy.Name(), round, least, got.Interval, usual.Interval)
				}
				if most := max(secondLook, p.Floor()) * 112 / 100; got.Interval > most {
					t.Errorf("%s, round %s, at least %s: only after %s", policy.Name(), round, least, got.Interval)
				}
				third := AfterVisit(policy, page, Observation{Outcome: crawl.OutcomeSuspect, Looks: 1}, p)
				if third.Interval > usual.Interval || third.Interval < got.Interval || third.Interval > 2*max(secondLook, p.Floor())*112/100 {
					t.Errorf("%s, round %s, at least %s: then after %s", policy.Name(), round, least, third.Interval)
				}
				if got.Belief.Pairs != page.Belief.Pairs || got.Belief.Compared != page.Belief.Compared {
					t.Errorf("%s learned %+v", policy.Name(), got.Belief)
				}
			}
		}
	}
}

// A page that had content and is gone, or elsewhere, is not given up at once: a site in trouble
// says so of all its pages.
func TestWhatIsGoneMayComeBack(t *testing.T) {
	t.Parallel()
	monthly := Parameters{Round: 30 * day, Min: time.Hour, Max: 120 * day}
	bihourly := Parameters{Round: 2 * time.Hour, Min: time.Hour, Max: 120 * day}
	gone := Observation{Outcome: crawl.OutcomeGone}
	brief := Parameters{Round: time.Hour, Min: time.Minute, Max: 12 * time.Hour}
	for _, c := range []struct {
		name  string
		state crawl.PageState
		away  time.Duration
		seen  Observation
		p     Parameters
		want  time.Duration
		words string
	}{
		{"gone", crawl.Active, 30 * day, gone, monthly, day, "gone, looked at again after 1d, in case it comes back"},
		{"redirected", crawl.Failing, 30 * day, Observation{Outcome: crawl.OutcomeRedirected}, monthly, day, "answers with a redirect, looked at again after 1d, in case it comes back"},
		{"a duplicate", crawl.Duplicate, 110 * day, gone, monthly, day, ""},
		{"no later than it would have come", crawl.Active, 2 * time.Hour, gone, bihourly, 2 * time.Hour, ""},
		{"still gone", crawl.Gone, 3 * day, gone, monthly, 3 * day, ""},
		{"elsewhere, then gone", crawl.Redirect, 31 * day, gone, monthly, 31 * day, ""},
		{"gone for good", crawl.Gone, 120 * day, gone, monthly, 114 * day, "gone, looked at again every 120d"},
		{"forbidden by a robots.txt", crawl.Active, 30 * day, Observation{Outcome: crawl.OutcomeExcluded, Forbidden: true}, monthly, day, "excluded by robots, scope or purpose, looked at again after 1d, in case it comes back"},
		{"still forbidden", crawl.Excluded, 4 * day, Observation{Outcome: crawl.OutcomeExcluded, Forbidden: true}, monthly, 4 * day, ""},
		{"excluded otherwise", crawl.Active, 30 * day, Observation{Outcome: crawl.OutcomeExcluded}, monthly, 114 * day, ""},
		{"never there", crawl.Active, 0, gone, monthly, 114 * day, "gone, looked at again every 120d"},
		{"a seed that was never there", crawl.Active, 0, Observation{Outcome: crawl.OutcomeGone, Seed: true}, monthly, day, "gone, looked at again after 1d, in case it comes back"},
		{"a seed that is forbidden", crawl.Active, 0, Observation{Outcome: crawl.OutcomeExcluded, Forbidden: true, Seed: true}, monthly, day, ""},
		{"a seed that is still not there", crawl.Redirect, 0, Observation{Outcome: crawl.OutcomeRedirected, Seed: true, Since: 4 * day}, monthly, 16 * day, ""},
		{"a seed that never comes", crawl.Gone, 0, Observation{Outcome: crawl.OutcomeGone, Seed: true, Since: 64 * day}, monthly, 114 * day, ""},
		{"a seed that has moved for good", crawl.Active, 0, Observation{Outcome: crawl.OutcomeRedirected, Seed: true, Permanent: true}, monthly, 114 * day, ""},
		{"never there, as others of its host", crawl.Active, 0, Observation{Outcome: crawl.OutcomeGone, HostLost: true}, monthly, day, "gone, looked at again after 1d, in case it comes back"},
		{"still not there, as others", crawl.Gone, 0, Observation{Outcome: crawl.OutcomeGone, HostLost: true, Since: day}, monthly, 114 * day, ""},
		{"rests for less than a day anyway", crawl.Active, time.Hour, gone, brief, 11 * time.Hour, "gone, looked at again every 12h"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			had := Belief{Pairs: 2, History: 1, Compared: 1}
			page := Page{ID: 11, State: c.state, Visit: 3, Belief: had}
			c.seen.At, c.seen.Gap = time.UnixMilli(1).Add(c.away), c.away
			got := AfterVisit(Fixed{}, page, c.seen, c.p)
			if off := got.Interval - c.want; off.Abs() > c.want/7 {
				t.Errorf("interval %s, want %s", got.Interval, c.want)
			}
			if words := Words(got.Reasons()); c.words != "" && words != c.words {
				t.Errorf("reasons %q, want %q", words, c.words)
			}
			if got.Belief != had {
				t.Errorf("it has learned %+v", got.Belief)
			}
		})
	}
}

// A site that is away for days is back in the collection within as long again, and what is gone
// for good costs few visits.
func TestGoneForDays(t *testing.T) {
	t.Parallel()
	p := Parameters{Round: day, Min: time.Hour, Max: 120 * day}
	for _, away := range []time.Duration{time.Minute, 5 * time.Hour, 3 * day, 20 * day, 1000 * day} {
		page := Page{ID: 7, State: crawl.Active, Visit: 3, Belief: Belief{Compared: 1}}
		at, visits := day, 0
		for lost := at; at <= lost+away && at < 400*day; visits++ {
			plan := AfterVisit(Fixed{}, page, Observation{Outcome: crawl.OutcomeGone, At: time.UnixMilli(1).Add(at), Gap: at}, p)
			page.State, page.Visit = plan.State, page.Visit+1
			at += plan.Interval
		}
		if most := 2*(day+away) + day/2; at > most && away < 400*day || visits > 12 {
			t.Errorf("away for %s, it came back after %s and %d visits", away, at-day, visits)
		}
	}
}
