package workflows

import (
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
)

// TestPageAsksAgainUnderAnotherSpelling: a server that wants another spelling is asked again
// at once, as for any visit, and starts no Discover. It does not matter who recorded the
// visit.
func TestPageAsksAgainUnderAnotherSpelling(t *testing.T) {
	t.Parallel()
	for _, byFetch := range []bool{true, false} {
		l := newLive(t, stopAt(2*day))
		plan := func(visit int, now time.Time) contract.PlanOut {
			if visit == 1 {
				return contract.PlanOut{Visit: 1, At: now, Outcome: crawl.OutcomeRedirected, Status: 301, State: crawl.Active, NextAt: now, Reason: "spelled otherwise"}
			}
			return contract.PlanOut{Visit: visit, At: now, Outcome: crawl.OutcomeUnchanged, Status: 200, State: crawl.Active, NextAt: now.Add(7 * day), Reason: "policy"}
		}
		l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
			out := contracttest.Unchanged(try.Now)
			if try.In.Visit == 1 {
				out = contract.FetchOut{
					Outcome: crawl.OutcomeRedirected, Status: 301, At: try.Now, Location: ref().URL, Spelling: "/%61", Respelled: true,
				}
			}
			if byFetch {
				recorded := plan(try.In.Visit, try.Now)
				out.Plan = &recorded
			}
			return out, nil
		}
		l.world.OnPlan = func(in contract.PlanIn, out *contract.PlanOut) {
			if in.Visit == 1 && (!in.Fetch.Respelled || in.Fetch.Spelling != "/%61") {
				t.Errorf("the visit is recorded as %+v", in.Fetch)
			}
			*out = plan(in.Visit, in.Fetch.At)
		}
		var asked []time.Duration
		l.world.OnAcquire = func(a contracttest.Ask) (contract.AcquireOut, error) {
			asked = append(asked, a.Now.Sub(start))
			return contract.AcquireOut{Plans: byFetch}, nil
		}
		l.stopped(l.page(pageIn()))
		if len(asked) != 2 || asked[0] != 0 || asked[1] > time.Second {
			t.Errorf("asked after %v, want twice at once", asked)
		}
		if got := l.world.Discovers(); len(got) != 0 {
			t.Errorf("Discovers: %+v", got)
		}
		if v := l.view(); v.Visits != 2 || len(v.Recent) < 2 || v.Recent[1].Note != "to "+ref().URL {
			t.Errorf("state %+v", v)
		}
	}
}
