package maintain_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/maintain"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlite"
	"recrawl/internal/urlkey"
)

// reader counts how often evidence is read of a store.
type reader struct {
	store.Store
	evidence, grown int
}

func (r *reader) Evidence(ctx context.Context, p store.EvidenceParams) ([]store.EvidencePage, error) {
	r.evidence++
	return r.Store.Evidence(ctx, p)
}

func (r *reader) GrownPages(ctx context.Context, crawlID int64, limit int) (store.Growth, error) {
	r.grown++
	return r.Store.GrownPages(ctx, crawlID, limit)
}

// TestEvidenceIsReadOnceAPass: a pass that takes several rounds to look at what sites have
// grown by reads the evidence on each of them once, and finds in the last round what only
// its pages show. A pass whose time is over leaves the rest to the next.
func TestEvidenceIsReadOnceAPass(t *testing.T) {
	t.Parallel()
	const pages, sites = 16_000, 3
	const rounds = 3 // after the first one, which is a pass of its own
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = "c", []string{"http://s0.test/", "http://s1.test/", "http://s2.test/"}
	rec, err := s.OpenCrawl(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	var urls []store.NewURL
	for i := range pages {
		host := fmt.Sprintf("s%d.test", i%sites)
		urls = append(urls, store.NewURL{URL: fmt.Sprintf("http://%s/%d", host, i), Host: host})
	}
	for year := range 40 { // a calendar, found last
		urls = append(urls, store.NewURL{URL: fmt.Sprintf("http://s0.test/calendar/%d-01", 2100+year), Host: "s0.test"})
	}
	if _, err := s.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: rec.ID, URLs: urls}); err != nil {
		t.Fatal(err)
	}
	sc, err := scope.New(rec.Spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{Store: s}
	var found []string
	g := maintain.Guard{
		Store: r, Crawl: maintain.Crawl{
			CrawlRecord: rec,
			Scope:       func(context.Context, ...urlkey.URL) (scope.Scope, error) { return sc, nil },
		},
		Effects: func(context.Context, store.GateEffects) {},
		Found:   func(trap store.NewTrap) { found = append(found, trap.Name) },
	}
	rests, goesOn := 0, false
	g.Next = func(context.Context) (bool, error) { rests++; return goesOn, nil }
	if err := g.Look(t.Context()); err != nil || r.grown != 1 || rests != 1 {
		t.Fatalf("a pass whose time is over: %d rounds, %d rests, %v", r.grown, rests, err)
	}
	goesOn, r.evidence = true, 0
	if err := g.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.grown != 1+rounds || rests != rounds || r.evidence != 1+sites {
		t.Errorf("%d rounds with %d rests read evidence %d times; want %d rounds, a rest after each but the last, and once for the crawl and each site",
			r.grown-1, rests, r.evidence, rounds)
	}
	if len(found) != 1 {
		t.Errorf("found %q, want the calendar", found)
	}
}
