package activities_test

import (
	"context"
	"sync/atomic"
	"testing"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// specReads counts how often a crawl is read from the store.
type specReads struct {
	store.Store
	n atomic.Int32
}

func (s *specReads) Crawl(ctx context.Context, name string) (store.CrawlRecord, error) {
	s.n.Add(1)
	return s.Store.Crawl(ctx, name)
}

func fixedEvery(d crawl.Duration) func(*crawl.Spec) {
	return func(spec *crawl.Spec) { spec.Revisit.Policy, spec.Revisit.DefaultInterval = "fixed", d }
}

// An unchanged visit reads no spec, and yet the next visit after a change is planned by the
// new one.
func TestVisitsReadNoSpec(t *testing.T) {
	t.Parallel()
	reads := &specReads{}
	w := newWorld(t, func(p *parts) { reads.Store = p.store; p.store = reads })
	url := "http://localhost/"
	page := w.living([]string{url}, fixedEvery(crawl.Duration(day)))[0]
	unchanged := contract.FetchOut{Outcome: crawl.OutcomeUnchanged}
	visit := func(n int) contract.PlanOut {
		t.Helper()
		if got := w.acquire(page, n); got.Answer != contract.AnswerPermit {
			t.Fatalf("visit %d was answered %+v, want a permit", n, got)
		}
		return w.plan(page, n, unchanged)
	}
	visit(1)
	before := reads.n.Load()
	for n := 2; n < 5; n++ {
		if plan := visit(n); !near(plan.NextAt.Sub(plan.At), day, 0.1) {
			t.Errorf("visit %d is followed by another in %s, want a day", n, plan.NextAt.Sub(plan.At))
		}
	}
	if n := reads.n.Load() - before; n != 0 {
		t.Errorf("three unchanged visits read the spec %d times", n)
	}
	w.acquire(page, 5)
	w.open([]string{url}, fixedEvery(crawl.Duration(3*day)))
	if plan := w.plan(page, 5, unchanged); !near(plan.NextAt.Sub(plan.At), 3*day, 0.1) {
		t.Errorf("after the change of the spec the next visit is in %s, want three days", plan.NextAt.Sub(plan.At))
	}
}

// Another crawl of the name of one that was deleted has its own spec from its first visit on.
func TestRecreatedCrawl(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := "http://localhost/"
	first := w.living([]string{url}, fixedEvery(crawl.Duration(day)))[0]
	w.plan(first, 1, contract.FetchOut{Outcome: crawl.OutcomeUnchanged})
	must[store.CrawlRecord](t)(w.store.BeginDelete(t.Context(), "news"))
	for done := false; !done; {
		done = must[store.DeleteResult](t)(w.store.DeleteCrawl(t.Context(), store.DeleteParams{CrawlID: first.CrawlID, Limit: 100})).Done
	}
	second := w.living([]string{url}, fixedEvery(crawl.Duration(3*day)))[0]
	if plan := w.plan(second, 1, contract.FetchOut{Outcome: crawl.OutcomeUnchanged}); !near(plan.NextAt.Sub(plan.At), 3*day, 0.1) {
		t.Errorf("the next visit is in %s, want three days", plan.NextAt.Sub(plan.At))
	}
}
