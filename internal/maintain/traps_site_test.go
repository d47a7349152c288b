package maintain_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/maintain"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlite"
	"recrawl/internal/trap"
	"recrawl/internal/urlkey"
)

// guarded opens a store, with a crawl of two sites and its guard, which adds the names of the traps
// that it finds to a list.
func guarded(t *testing.T, options sqlite.Options, change func(*crawl.Spec)) (store.Store, maintain.Guard, *[]string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = "c", []string{"http://hostile.test/", "http://good.test/"}
	change(&spec)
	rec, err := s.OpenCrawl(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	sc, err := scope.New(rec.Spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := &[]string{}
	return s, maintain.Guard{
		Store: s, Crawl: maintain.Crawl{
			CrawlRecord: rec,
			Scope:       func(context.Context, ...urlkey.URL) (scope.Scope, error) { return sc, nil },
		},
		Effects: func(context.Context, store.GateEffects) {},
		Found:   func(n store.NewTrap) { *found = append(*found, n.Name) },
	}, found
}

func register(t *testing.T, s store.Store, crawlID int64, urls ...store.NewURL) {
	t.Helper()
	if _, err := s.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: crawlID, URLs: urls}); err != nil {
		t.Fatal(err)
	}
}

// A site that has as many traps as are loaded gets no more of them, and takes no room from others.
func TestTrapsOfOneSiteLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	const most = 500
	s, g, found := guarded(t, sqlite.Options{}, func(*crawl.Spec) {})
	var traps []store.NewTrap
	for i := range most {
		host := fmt.Sprintf("h%d.hostile.test", i)
		traps = append(traps, store.NewTrap{
			Site: "hostile.test", Host: host, Name: host + " repeats", Pattern: fmt.Appendf(nil, `{"kind":"repeats","host":%q}`, host),
			Reason: trap.ReasonRepeats, After: -1,
		})
	}
	if _, err := s.SetTraps(t.Context(), g.Crawl.ID, traps); err != nil {
		t.Fatal(err)
	}
	var urls []store.NewURL
	for _, host := range []string{"good.test", "hostile.test"} {
		for year := range 40 {
			urls = append(urls, store.NewURL{URL: fmt.Sprintf("http://%s/calendar/%d-01", host, 2100+year), Host: host})
		}
	}
	register(t, s, g.Crawl.ID, urls...)
	if err := g.Look(t.Context()); err != nil || !slices.Equal(*found, []string{"good.test/calendar@dates"}) {
		t.Errorf("found %q, want the calendar of the other site: %v", *found, err)
	}
	var links []urlkey.URL
	for _, host := range []string{"good.test", "hostile.test"} {
		u, err := urlkey.Canonical("http://" + host + "/docs/docs/docs/a")
		if err != nil {
			t.Fatal(err)
		}
		links = append(links, u)
	}
	caught, err := g.HoldBack(t.Context(), trap.Page{}, links)
	if err != nil || caught[0].Trap == 0 || caught[1].Trap != 0 {
		t.Errorf("caught %+v: %v", caught, err)
	}
}

// Where hosts are grouped by domain, a budget is that of all its hosts together, and of their pages
// those that were found first stay.
func TestABudgetOfGroupedHosts(t *testing.T) {
	t.Parallel()
	const budget, found = 10, 16
	s, g, _ := guarded(t, sqlite.Options{Grouping: urlkey.ByDomain}, func(spec *crawl.Spec) { spec.Traps.MaxHostPages = budget })
	var urls []store.NewURL
	for i := range found {
		host := []string{"www.good.test", "blog.good.test"}[i%2]
		urls = append(urls, store.NewURL{URL: fmt.Sprintf("http://%s/page-%d", host, i), Host: host})
	}
	register(t, s, g.Crawl.ID, urls...)
	if err := g.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	pages, err := s.ListPages(t.Context(), store.PageFilter{CrawlID: g.Crawl.ID, Limit: 100})
	if err != nil || len(pages) != found {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for i, p := range pages {
		if held := p.State == crawl.Held; held != (i >= budget) {
			t.Errorf("page %d of %d is %s", i+1, found, p.State)
		}
	}
}
