package workflows

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
)

// planned is a page under a policy. It stands for the store and PlanRevisit in a workflow, and
// is the whole of a simulation.
type planned struct {
	policy    schedule.Policy
	with      schedule.Parameters
	selective bool
	changes   []time.Time // of the page
	page      schedule.Page
	looked    time.Time // at the content
}

func newPlanned(t *testing.T, name string, selective bool) *planned {
	t.Helper()
	policy, err := schedule.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	p := &planned{
		policy: policy, with: schedule.ParametersOf(crawl.DefaultSpec().Revisit), selective: selective,
		page: schedule.Page{ID: ref().PageID, State: crawl.Active},
	}
	// A busy season and a quiet one.
	random := rand.New(rand.NewPCG(6, 11))
	for at := start; at.Before(start.Add(365 * day)); {
		mean := 4.0
		if at.After(start.Add(150 * day)) {
			mean = 40
		}
		at = at.Add(time.Duration(random.ExpFloat64() * mean * float64(day)))
		p.changes = append(p.changes, at)
	}
	return p
}

// see is the outcome of a visit to the page.
func (p *planned) see(at time.Time) crawl.Outcome {
	last := p.looked
	p.looked = at
	if last.IsZero() {
		return crawl.OutcomeNew
	}
	for _, c := range p.changes {
		if c.After(last) && !c.After(at) {
			return crawl.OutcomeChanged
		}
	}
	return crawl.OutcomeUnchanged
}

// internal says how the pages that this one links to changed: more in some weeks.
func (p *planned) internal(at time.Time) schedule.Internal {
	if !p.selective {
		return schedule.Internal{}
	}
	return schedule.Internal{Compared: 10, Changed: int(at.Sub(start)/(7*day)) % 8}
}

// skips is the selective rule's decision about a visit.
func (p *planned) skips(at time.Time) bool {
	rule, ok := p.policy.(schedule.FRMax)
	if !ok || !p.selective {
		return false
	}
	visit, _ := rule.Select(p.page, p.internal(at))
	return !visit
}

// plan decides after a visit, and returns when the next one is.
func (p *planned) plan(outcome crawl.Outcome, at time.Time) time.Time {
	p.page.Visit++
	seen := schedule.Observation{Outcome: outcome, At: at, Gap: p.page.Belief.Gap(at), Internal: p.internal(at)}
	plan := schedule.AfterVisit(p.policy, p.page, seen, p.with)
	p.page.Belief, p.page.State = plan.Belief, plan.State
	return at.Add(plan.Interval)
}

// A year of a page under each policy is the same in a workflow, cut into runs of any length,
// as in a simulation of the policy alone.
func TestYearOfEachPolicy(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: years of a page")
	}
	t.Parallel()
	type kind struct {
		policy    string
		selective bool
	}
	kinds := []kind{{"frmax", true}}
	for _, name := range crawl.Policies() {
		kinds = append(kinds, kind{name, false})
	}
	for _, k := range kinds {
		t.Run(fmt.Sprintf("%s selective %t", k.policy, k.selective), func(t *testing.T) {
			t.Parallel()
			var want []contracttest.Visit
			alone := newPlanned(t, k.policy, k.selective)
			for at := start; at.Before(start.Add(365 * day)); {
				outcome := crawl.OutcomeSkipped
				if !alone.skips(at) {
					outcome = alone.see(at)
				}
				next := alone.plan(outcome, at)
				want = append(want, contracttest.Visit{At: at, Outcome: outcome, NextAt: next})
				at = next
			}
			if len(want) < 12 {
				t.Fatalf("%d visits in the year", len(want))
			}
			for _, cut := range []int{1, 2, 3, 5, 7, 1 << 30} {
				comparePolicyYear(t, cut, want, newPlanned(t, k.policy, k.selective))
			}
		})
	}
}

func comparePolicyYear(t *testing.T, visitsPerRun int, want []contracttest.Visit, p *planned) {
	t.Helper()
	l := newLive(t, stopAt(365*day))
	l.world.OnAcquire = func(a contracttest.Ask) (contract.AcquireOut, error) {
		if p.skips(a.Now) {
			return contract.AcquireOut{Answer: contract.AnswerSkipped}, nil
		}
		return contract.AcquireOut{}, nil
	}
	l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		switch outcome := p.see(try.Now); outcome {
		case crawl.OutcomeUnchanged:
			return contracttest.Unchanged(try.Now), nil
		default:
			out := contracttest.Changed(try.Now)
			out.Outcome = outcome
			return out, nil
		}
	}
	l.world.OnPlan = func(in contract.PlanIn, out *contract.PlanOut) {
		out.NextAt = p.plan(in.Fetch.Outcome, out.At)
		out.State = p.page.State
	}
	in := pageIn()
	in.Tuning.VisitsPerRun = visitsPerRun
	l.stopped(l.page(in))
	got := l.world.Visits()
	for i := range min(len(got), len(want)) {
		if g, w := got[i], want[i]; !g.At.Equal(w.At) || g.Outcome != w.Outcome || !g.NextAt.Equal(w.NextAt) {
			t.Fatalf("in runs of %d visits, visit %d was %s at %s, next at %s; want %s at %s, next at %s",
				visitsPerRun, i+1, g.Outcome, g.At, g.NextAt, w.Outcome, w.At, w.NextAt)
		}
	}
	if len(got) != len(want) {
		t.Errorf("in runs of %d visits, %d visits in the year, want %d", visitsPerRun, len(got), len(want))
	}
}
