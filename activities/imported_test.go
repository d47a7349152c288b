package activities_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// imported adds seeds to the crawl as `starter import` does.
func (w *world) imported(raw ...string) {
	w.t.Helper()
	p := store.ImportParams{CrawlID: w.crawl().ID}
	for _, text := range raw {
		u := must[urlkey.URL](w.t)(urlkey.Canonical(text))
		p.Seeds = append(p.Seeds, store.NewSeed{URL: u.String(), Host: u.HostKey(), Keys: scope.SeedKeys(u)})
	}
	must[store.ImportResult](w.t)(w.store.ImportSeeds(w.t.Context(), p))
}

// Links are judged by imported seeds as by those of the spec, even by a worker that has
// judged links of the crawl before.
func TestLinksToImportedSeeds(t *testing.T) {
	t.Parallel()
	const links = 9
	for kind, want := range map[string]map[string]int{
		"page":   {"not a seed": 6},
		"prefix": {"prefix": 4},
		"host":   {"host": 2},
		"domain": {"domain": 1},
		"any":    {},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			page := w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) {
				spec.Scope.Type, spec.Identity.Contact = kind, "ops@example.org"
			}, wholeMachine)[0]
			w.linking(page, 1, store.Link{URL: "https://imported.example/docs/"})
			before := run(w, contract.RegisterLinks, contract.RegisterIn{Page: page, Visit: 1})
			if accepted := before.New == 1; accepted != (kind == "any") {
				t.Fatalf("before the import: %+v", before)
			}
			w.imported("https://imported.example/docs/", "https://imported.example/docs/seed.html", "https://sub.other.example/x/y")
			w.linking(page, 2,
				store.Link{URL: "https://imported.example/docs/"}, store.Link{URL: "https://imported.example/docs/seed.html#top"}, store.Link{URL: "https://sub.other.example/x/y"},
				store.Link{URL: "https://imported.example/docs/new"}, store.Link{URL: "http://imported.example/docs/deep/new"},
				store.Link{URL: "https://imported.example/"}, store.Link{URL: "https://sub.other.example/"},
				store.Link{URL: "https://other.example/"}, store.Link{URL: "https://elsewhere.example/"})
			got := run(w, contract.RegisterLinks, contract.RegisterIn{Page: page, Visit: 2})
			if !maps.Equal(got.Rejected, want) || got.New+got.Seen != links-len(want)*want[first(want)] {
				t.Errorf("registered %+v, want %v rejected", got, want)
			}
		})
	}
}

func first(counts map[string]int) string {
	for reason := range counts {
		return reason
	}
	return ""
}

// An imported seed on this machine opens its own service, and no other.
func TestImportedSeedOpensItsServiceOnly(t *testing.T) {
	t.Parallel()
	neighbour := serve(t, pageOf("<p>secret"))
	mine := serve(t, pageOf("<p>mine"))
	w := newWorld(t)
	w.open([]string{"http://localhost:18999/"}, func(spec *crawl.Spec) { spec.Scope.Type = "any" })
	w.imported(mine.url + "/")
	other := store.NewURL{URL: neighbour.url + "/x", Host: strings.TrimPrefix(neighbour.url, "http://"), Level: 1}
	must[store.RegisterResult](t)(w.store.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: w.crawl().ID, URLs: []store.NewURL{other}}))
	run(w, contract.Admit, contract.AdmitIn{CrawlID: w.crawl().ID, Limit: 100})
	for _, url := range []string{mine.url + "/", other.URL} {
		page := w.page(url)
		w.saveRobots(store.SaveRobotsParams{Origin: originOf(page.URL), State: store.RobotsAllowAll, Expires: time.Hour})
		out := w.fetched(w.fetch(page.PageRef, 1))
		if opened := out.Outcome == crawl.OutcomeNew; opened != (url != other.URL) {
			t.Errorf("%s: %+v", url, out)
		}
	}
	neighbour.wantRequests(t)
}

// The redirect target of an imported seed on its site becomes an imported seed too: the
// spec, which travels in messages, does not grow.
func TestRedirectOfAnImportedSeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.living([]string{"http://first.localhost/"})
	w.imported("http://shop.localhost/")
	run(w, contract.Admit, contract.AdmitIn{CrawlID: w.crawl().ID, Limit: 100})
	from := w.page("http://shop.localhost/").PageRef
	w.plan(from, 1, contract.FetchOut{Outcome: crawl.OutcomeRedirected, Status: 301, Location: "http://www.shop.localhost/"})
	if target, known := w.find("http://www.shop.localhost/"); !known || target.Level != 0 {
		t.Errorf("the target: %+v, known %t", target, known)
	}
	if seeds := w.crawl().Spec.Seeds; len(seeds) != 1 {
		t.Errorf("seeds of the spec: %q", seeds)
	}
	to := must[urlkey.URL](t)(urlkey.Canonical("http://www.shop.localhost/"))
	keys := must[map[crawl.SeedKey]bool](t)(w.store.SeedKeys(t.Context(), from.CrawlID, scope.SeedKeys(to)))
	if !keys[crawl.SeedKey{Kind: crawl.SeedURL, Text: to.String()}] {
		t.Errorf("keys %v", keys)
	}
}

// A spec holds up to crawl.MostSeeds seeds. A crawl that already has more keeps them.
func TestSpecHoldsSoManySeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seeds := func(n int) []string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf("http://localhost/%d", i)
		}
		return all
	}
	open := func(in contract.OpenCrawlIn) error {
		in.WorkflowID = contract.CrawlID("news")
		_, err := try(w, contract.OpenCrawl, in)
		return err
	}
	err := open(contract.OpenCrawlIn{Spec: encode(t, specOf(seeds(crawl.MostSeeds+1)))})
	wantError(t, err, contract.ErrTypeBadSpec, false, "starter import NAME FILE")
	w.open(seeds(crawl.MostSeeds))
	err = open(contract.OpenCrawlIn{Spec: encode(t, specOf(seeds(crawl.MostSeeds))), AddSeeds: []string{"http://localhost/more"}})
	wantError(t, err, contract.ErrTypeBadSpec, false, "starter import NAME FILE")

	must[store.CrawlRecord](t)(w.store.OpenCrawl(t.Context(), specOf(seeds(5000))))
	if err := open(contract.OpenCrawlIn{Spec: encode(t, specOf(seeds(5000)))}); err != nil {
		t.Errorf("a crawl of 5000 seeds that was made before: %v", err)
	}
}
