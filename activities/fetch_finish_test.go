package activities_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// finished makes a visit's request for a workflow that adopts a plan in the answer.
func (w *world) finished(page crawl.PageRef, visit int) contract.FetchOut {
	w.t.Helper()
	return w.fetched(try(w, contract.Fetch, contract.FetchIn{Page: page, Visit: visit, Permit: w.permit(page, visit), Plans: true}))
}

// A visit that leaves nothing to compare is recorded when its permit is given back, as
// PlanRevisit would have recorded it.
func TestFetchRecordsASettledVisit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		site    http.HandlerFunc // from the second visit on
		outcome crawl.Outcome
	}{
		{"304", answering(304, ""), crawl.OutcomeUnchanged},
		{"the same bytes", answering(200, "<p>hello", "Content-Type: text/html"), crawl.OutcomeUnchanged},
		{"410", answering(410, ""), crawl.OutcomeGone},
		{"503", answering(503, "", "Retry-After: 3600"), crawl.OutcomeThrottled},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, n := newWorld(t), 0
			s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
				if n++; n == 1 {
					answering(200, "<p>hello", "Content-Type: text/html", `ETag: "1"`)(rw, r)
					return
				}
				c.site(rw, r)
			})
			page := w.living([]string{s.url + "/"})[0]
			w.visit(page, 1)
			out := w.finished(page, 2)
			if out.Plan == nil {
				t.Fatalf("fetched %+v, want it recorded", out)
			}
			if out.Outcome != c.outcome || out.Plan.Outcome != out.Outcome || out.Plan.Visit != 2 || out.Plan.Reason == "" {
				t.Errorf("fetched %s with the plan %+v, want %s", out.Outcome, out.Plan, c.outcome)
			}
			if record := w.page(page.URL); record.Visits != 2 || !record.NextAt.Equal(out.Plan.NextAt) {
				t.Errorf("recorded %d visits, the next at %v; want 2 and %v", record.Visits, record.NextAt, out.Plan.NextAt)
			}
			if host := w.host(page); host.InFlight {
				t.Error("the permit was not given back")
			}
			if got := run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: 2, Fetch: out}); got != *out.Plan {
				t.Errorf("PlanRevisit: %+v, want the same as %+v", got, *out.Plan)
			}
			if rest := out.Plan.NextAt.Sub(out.Plan.At); out.Held > 0 && rest < out.Held {
				t.Errorf("held for %v and due again after %v", out.Held, rest)
			}
		})
	}
}

// Bodies to compare and redirects to follow are left to the workflow, and so is
// everything for a workflow of a release that records each visit itself.
func TestFetchLeavesTheRecord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		site  http.HandlerFunc
		plans bool
	}{
		{"a new body", answering(200, "<p>hello", "Content-Type: text/html"), true},
		{"a redirect", answering(301, "", "Location: /other"), true},
		{"an older workflow", answering(410, ""), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := serve(t, c.site)
			page := w.living([]string{s.url + "/"})[0]
			out := w.fetched(try(w, contract.Fetch, contract.FetchIn{Page: page, Visit: 1, Permit: w.permit(page, 1), Plans: c.plans}))
			if out.Plan != nil || w.page(page.URL).Visits != 0 || w.host(page).InFlight {
				t.Errorf("fetched %+v; want its permit given back and no record", out)
			}
		})
	}
}

// Whatever keeps a visit from being recorded with the end of its request, the permit is
// given back, and the workflow records the visit.
func TestFetchGivesThePermitBackWithoutARecord(t *testing.T) {
	t.Parallel()
	for _, err := range []error{store.ErrConflict, fmt.Errorf("a fault")} {
		w := newWorld(t, func(p *parts) { p.store = &unfinished{p.store, err} })
		s := serve(t, answering(503, "", "Retry-After: 3600"))
		page := w.living([]string{s.url + "/"})[0]
		out := w.finished(page, 1)
		if out.Plan != nil || out.Held != time.Hour || w.host(page).InFlight {
			t.Errorf("%v: fetched %+v, want no plan and the permit given back", err, out)
		}
		if plan := run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: 1, Fetch: out}); plan.Outcome != crawl.OutcomeThrottled {
			t.Errorf("%v: planned %+v", err, plan)
		}
	}
}

// unfinished is a store that cannot record a visit with the end of its request.
type unfinished struct {
	store.Store
	err error
}

func (s *unfinished) Finish(context.Context, store.FinishParams) (store.FinishResult, error) {
	return store.FinishResult{}, s.err
}

// A change of the spec while the request was under way: the visit is planned by the new
// one.
func TestFetchDoesNotPlanByAnOldSpec(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		w.setState(crawl.CrawlPaused)
		answering(410, "")(rw, r)
	})
	page := w.living([]string{s.url + "/"})[0]
	if out := w.finished(page, 1); out.Plan != nil || w.host(page).InFlight {
		t.Errorf("fetched %+v, want no plan and the permit given back", out)
	}
}

// Once a visit for which a person asked is recorded, the page's tasks overtake nobody, whichever
// activity records it.
func TestAskedVisitFallsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, answering(http.StatusNotFound, ""))
	page := w.living([]string{s.url + "/"})[0]
	wants := func(n int) {
		t.Helper()
		if want := slices.Repeat([]string{page.URL}, n); !slices.Equal(w.flows.fellBack, want) {
			t.Errorf("fell back: %q, want %q", w.flows.fellBack, want)
		}
	}
	ahead := contract.PlanIn{Page: page, Visit: 1, Ahead: true, Fetch: contract.FetchOut{Outcome: crawl.OutcomeExcluded, Problem: "a rule"}}
	usual := ahead
	usual.Ahead = false
	run(w, contract.PlanRevisit, usual)
	wants(0)
	run(w, contract.PlanRevisit, ahead) // its answer was lost
	wants(1)
	fetch := contract.FetchIn{Page: page, Visit: 2, Plans: true, Ahead: true}
	fetch.Permit = w.permit(page, fetch.Visit)
	if out := w.fetched(try(w, contract.Fetch, fetch)); out.Plan == nil {
		t.Errorf("%+v: the visit is not recorded", out)
	}
	wants(2)
}
