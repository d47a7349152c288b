package activities_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// rejecting makes a spec reject the URLs below a path.
func rejecting(s *site, path string) func(*crawl.Spec) {
	return func(spec *crawl.Spec) {
		spec.Scope.Type = "host"
		if path != "" {
			spec.Scope.Rules = []crawl.ScopeRule{{Name: "old", Reject: &crawl.FilterSpec{Prefix: crawl.Texts{s.url + path}}}}
		}
	}
}

// recordExcluded records the visit of a page that the scope excludes.
func (w *world) recordExcluded(page crawl.PageRef, visit int) {
	w.t.Helper()
	got := w.acquire(page, visit)
	if got.Answer != contract.AnswerExcluded || got.Rule != "out of scope: rule old" {
		w.t.Fatalf("%s: %+v, want excluded by the rule", page.URL, got)
	}
	run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: visit, Fetch: contract.FetchOut{Outcome: crawl.OutcomeExcluded, Problem: got.Rule}})
}

// A narrowed scope excludes the pages that are now outside, with the rule as the
// reason and without a request, and they come back when the rule is removed.
func TestANarrowedScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { html(w, "<p>hello from "+r.URL.Path) })
	urls := []string{s.url + "/new/a", s.url + "/old/a", s.url + "/old/b"}
	pages := w.living(urls[:1], rejecting(s, ""))
	opened := w.open(urls[:1], rejecting(s, ""))
	found := must[store.RegisterResult](t)(w.store.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: opened.CrawlID, From: pages[0].PageID, URLs: []store.NewURL{
		{URL: urls[1], Host: pages[0].Host, Level: 1}, {URL: urls[2], Host: pages[0].Host, Level: 1},
	}}))
	if found.New != 2 {
		t.Fatalf("%+v", found)
	}
	run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100})
	old, due := w.page(urls[1]).PageRef, w.page(urls[2]).PageRef
	w.visit(pages[0], 1)
	w.visit(old, 1)
	s.wantRequests(t, "/new/a", "/old/a")
	w.maintain(false)
	w.flows.rescheduled = nil

	w.open(urls[:1], rejecting(s, "/old/"))
	w.recordExcluded(due, 1) // it was due: not even until the next pass
	w.maintain(false)
	if !slices.Equal(w.flows.rescheduled, []string{old.URL}) {
		t.Fatalf("woken %q, want the page that is outside now", w.flows.rescheduled)
	}
	w.recordExcluded(old, 2)
	w.maintain(false)
	if len(w.flows.rescheduled) != 1 {
		t.Errorf("woken again: %q", w.flows.rescheduled)
	}
	s.wantRequests(t, "/new/a", "/old/a")
	for _, p := range []crawl.PageRef{old, due} {
		if got := w.page(p.URL); got.State != crawl.Excluded || got.NextAt.Before(time.Now().Add(24*time.Hour)) {
			t.Errorf("%s is %s, next at %v", p.URL, got.State, got.NextAt)
		}
	}

	w.flows.rescheduled = nil
	w.open(urls[:1], rejecting(s, ""))
	w.maintain(false)
	if slices.Sort(w.flows.rescheduled); !slices.Equal(w.flows.rescheduled, []string{old.URL, due.URL}) {
		t.Fatalf("woken %q, want both pages back", w.flows.rescheduled)
	}
	w.visit(old, 3)
	if got := w.page(old.URL); got.State != crawl.Active {
		t.Errorf("the page is %s after its visit", got.State)
	}
}

// A page that waits to be admitted is not excluded, and one that nobody told is
// started.
func TestANarrowedScopeAdmitsNothingOutside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, pageOf("<p>hello"))
	seed := []string{s.url + "/new/"}
	w.living(seed, rejecting(s, ""))
	opened := w.open(seed, rejecting(s, ""))
	page := w.page(seed[0])
	_, err := w.store.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: opened.CrawlID, From: page.PageID, URLs: []store.NewURL{
		{URL: s.url + "/old/a", Host: page.Host, Level: 1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.open(seed, rejecting(s, "/old/"))
	out := run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100})
	if len(out.Pages) != 0 || out.Excluded != 1 || w.page(s.url+"/old/a").State != crawl.Excluded {
		t.Errorf("admitted %+v", out)
	}
	w.maintain(false)
	w.open(seed, rejecting(s, ""))
	w.flows.missing = true
	w.maintain(false)
	if !slices.Contains(w.flows.started, s.url+"/old/a") {
		t.Errorf("started %q, want the page that is inside again", w.flows.started)
	}
	s.wantRequests(t)
}

// A mistake in a spec that is corrected before a pass of maintenance has seen it: what was excluded
// meanwhile comes back.
func TestAScopeThatIsBackAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, pageOf("<p>hello"))
	seed := []string{s.url + "/new/"}
	page := w.living(seed, rejecting(s, ""))[0]
	due, known := s.url+"/old/due", s.url+"/old/known"
	link := func(url string) {
		must[store.RegisterResult](t)(w.store.RegisterLinks(t.Context(), store.RegisterParams{
			CrawlID: page.CrawlID, From: page.PageID, URLs: []store.NewURL{{URL: url, Host: page.Host, Level: 1}},
		}))
	}
	link(due)
	admitted := w.admitted(due)
	link(known)
	w.maintain(false)
	w.flows.rescheduled = nil

	w.open(seed, rejecting(s, "/old/"))
	w.recordExcluded(admitted, 1)
	if out := run(w, contract.Admit, contract.AdmitIn{CrawlID: page.CrawlID, Limit: 100}); out.Excluded != 1 {
		t.Fatalf("admitted %+v", out)
	}
	w.open(seed, rejecting(s, ""))
	w.maintain(false)
	if slices.Sort(w.flows.rescheduled); !slices.Equal(w.flows.rescheduled, []string{due, known}) {
		t.Errorf("woken %q, want both pages back", w.flows.rescheduled)
	}
	s.wantRequests(t)
}

// Each pass looks at a limited number of pages and the next one goes on from there. Once
// all have been looked at, none is looked at again until the scope changes.
func TestAScopeIsLookedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opened := w.open([]string{"http://localhost/"})
	w.maintain(false)
	first := must[store.ScopeLook](t)(w.store.ScopeLook(t.Context(), opened.CrawlID))
	if !first.Done || first.Scope == "" {
		t.Fatalf("look %+v, want it done", first)
	}
	w.setState(crawl.CrawlPaused)
	w.setState(crawl.CrawlRunning)
	w.maintain(false)
	if again := must[store.ScopeLook](t)(w.store.ScopeLook(t.Context(), opened.CrawlID)); again != first {
		t.Errorf("after a pause: %+v, want %+v", again, first)
	}
	w.open([]string{"http://localhost/"}, func(spec *crawl.Spec) { spec.Scope.MaxDepth = 3 })
	w.maintain(false)
	if other := must[store.ScopeLook](t)(w.store.ScopeLook(t.Context(), opened.CrawlID)); !other.Done || other.Scope == first.Scope {
		t.Errorf("of another scope: %+v, after %+v", other, first)
	}
}

// recordRule records the visit of a page that a rule excluded when it asked.
func (w *world) recordRule(page crawl.PageRef, visit int, rule string) {
	w.t.Helper()
	run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: visit, Fetch: contract.FetchOut{Outcome: crawl.OutcomeExcluded, Problem: rule, At: time.Now()}})
}

// A page that a rule excludes which goes away before the visit is recorded is asked for again
// soon. Maintenance may have looked in between, when the page was not excluded yet.
func TestARuleThatGoesBeforeItsVisitIsRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, pageOf("<p>hello"))
	url := []string{s.url + "/new/a"}
	seed := w.living(url, rejecting(s, ""))[0]
	must[store.RegisterResult](t)(w.store.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: seed.CrawlID, From: seed.PageID, URLs: []store.NewURL{
		{URL: s.url + "/old/a", Host: seed.Host, Level: 1},
	}}))
	page := w.admitted(s.url + "/old/a")
	w.visit(page, 1)
	soon := func(rule string) {
		t.Helper()
		got := w.page(page.URL)
		visit := w.recordedVisit(page, got.Visits)
		if got.State != crawl.Active || got.NextAt.After(time.Now().Add(2*time.Hour)) || visit.Outcome != crawl.OutcomeExcluded || visit.Problem != rule || codes(visit.Reasons) != "lifted" {
			t.Errorf("the page is %s, next at %v; recorded %+v", got.State, got.NextAt, visit)
		}
	}

	w.open(url, rejecting(s, "/old/"))
	got := w.acquire(page, 2)
	if got.Answer != contract.AnswerExcluded {
		t.Fatalf("answer %+v", got)
	}
	w.open(url, rejecting(s, ""))
	w.maintain(false)
	w.recordRule(page, 2, got.Rule)
	soon(got.Rule)

	file := func(rules string) {
		t.Helper()
		w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsParsed, Status: 200, Text: "User-agent: *\n" + rules, Expires: time.Hour})
	}
	file("Disallow: /old/\n")
	if got = w.acquire(page, 3); got.Answer != contract.AnswerExcluded {
		t.Fatalf("answer %+v", got)
	}
	file("Disallow: /other/\n")
	w.recordRule(page, 3, got.Rule)
	soon(got.Rule)

	file("Disallow: /old/\n")
	w.recordRule(page, 4, w.acquire(page, 4).Rule)
	if got := w.page(page.URL); got.State != crawl.Excluded || got.NextAt.Before(time.Now().Add(20*time.Hour)) {
		t.Errorf("forbidden still, the page is %s, next at %v", got.State, got.NextAt)
	}
}
