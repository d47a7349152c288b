package activities_test

import (
	"testing"
	"time"

	"recrawl/internal/admission"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// One page at a time is told to refill its crawl, until nothing is left to admit.
func TestRefill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opened := w.open(numbered(30), func(spec *crawl.Spec) { spec.Limits.Window = 10 })
	pages := run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100}).Pages
	visit := func(want ...bool) {
		t.Helper()
		for i, room := range want {
			if plan := w.plan(pages[0].Page, 1, contract.FetchOut{Outcome: crawl.OutcomeGone}); plan.Room != room {
				t.Errorf("visit %d: room %t", i+1, plan.Room)
			}
			pages = pages[1:]
		}
	}
	refill := func(want int, more bool) {
		t.Helper()
		out := run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100, Refill: true})
		if len(out.Pages) != want || out.More != more {
			t.Errorf("admitted %d pages, more: %t; want %d", len(out.Pages), out.More, want)
		}
		pages = append(pages, out.Pages...)
	}
	visit(false, false, false, false, true, false)
	refill(6, true)
	visit(false, false, false, false, false, false) // the refill is not done
	refill(6, true)
	refill(0, false)
	visit(false, false, false, false, true)
}

// Tasks that wait for a worker move the bound, and hold admissions.
func TestAdmitHeedsTheEngine(t *testing.T) {
	t.Parallel()
	engine := admission.Engine{Wait: time.Minute}
	w := newWorld(t, func(p *parts) { p.settings.Engine = func() admission.Engine { return engine } })
	opened := w.open(numbered(1), func(spec *crawl.Spec) { spec.Limits.Window = 1000 })
	var urls []store.NewURL
	for _, url := range numbered(200)[1:] {
		urls = append(urls, store.NewURL{URL: url, Host: "localhost", Level: 1})
	}
	must[store.RegisterResult](t)(w.store.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: opened.CrawlID, URLs: urls}))
	admit := func(want, bound int) {
		t.Helper()
		got := len(run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100}).Pages)
		if now := w.status().Bound.Pages; got != want || now != bound {
			t.Errorf("admitted %d pages within a bound of %d, want %d and %d", got, now, want, bound)
		}
	}
	admit(admission.Floor, admission.Floor)
	admit(0, admission.Floor)
	if w.maintain(false).Room {
		t.Error("maintenance finds room beyond the bound")
	}
}

// Pages whose hosts never answer hold the bound, and none of them asks for a refill. If the
// engine has time, maintenance lets others in: the bound grows at each pass.
func TestBoundGrowsBesideWhatHangs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *parts) { p.settings.Engine = func() admission.Engine { return admission.Engine{} } })
	opened := w.open(numbered(200), func(spec *crawl.Spec) { spec.Limits.Window = 1000 })
	all := run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100}).Pages
	must[[]store.PageRecord](t)(w.store.Admit(t.Context(), store.AdmitParams{CrawlID: opened.CrawlID, Admit: ids(w, opened.CrawlID, 100)})) // without a bound
	before := w.status().Bound.Pages
	if w.maintain(false).Room {
		t.Fatalf("%d pages are admitted, and there is room", len(all))
	}
	if after := w.status().Bound.Pages; after <= before {
		t.Errorf("the bound stays at %d", after)
	}
}

// ids returns the first known pages of a crawl.
func ids(w *world, crawlID int64, n int) (ids []int64) {
	for _, p := range must[[]store.PageRecord](w.t)(w.store.ListPages(w.t.Context(), store.PageFilter{CrawlID: crawlID, States: []crawl.PageState{crawl.Known}, Limit: n})) {
		ids = append(ids, p.PageID)
	}
	return ids
}
