// Package crawltest gives tests a crawl in a real store and archive, which are folders of the
// test. Tests only.
package crawltest

import (
	"net/url"
	"path/filepath"
	"testing"

	"recrawl/internal/archive"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlite"
)

// Crawl is a crawl with its store and archive. Its methods fail the test.
type Crawl struct {
	Record store.CrawlRecord
	Store  store.Store
	Path   string // of the store
	Files  *archive.Dir
	Root   string // of the archive

	t testing.TB
}

// New opens the crawl news in an empty store and archive. Change changes its spec before.
func New(t testing.TB, change ...func(*crawl.Spec)) *Crawl {
	t.Helper()
	c := &Crawl{t: t, Path: newPath(t), Root: t.TempDir()}
	c.Store = OpenStore(t, c.Path)
	var err error
	if c.Files, err = archive.OpenDir(c.Root); err != nil {
		t.Fatal(err)
	}
	spec := crawl.DefaultSpec()
	spec.Name = "news"
	for _, do := range change {
		do(&spec)
	}
	if c.Record, err = c.Store.OpenCrawl(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	return c
}

// Page is Page for this crawl.
func (c *Crawl) Page(u store.NewURL) store.PageRecord {
	c.t.Helper()
	return Page(c.t, c.Store, c.Record, u)
}

// Find is the page of a URL, which it makes as Page does if it is not there. It is not ok if
// the page was forgotten, and so may not come back.
func (c *Crawl) Find(u store.NewURL) (p store.PageRecord, ok bool) {
	c.t.Helper()
	if p, ok = find(c.t, c.Store, c.Record, u.URL); ok {
		return p, true
	}
	return add(c.t, c.Store, c.Record, u)
}

// Page makes a page of a crawl, admitted and not visited yet. Its host is that of its URL if
// u names none.
func Page(t testing.TB, s store.Store, of store.CrawlRecord, u store.NewURL) store.PageRecord {
	t.Helper()
	p, ok := add(t, s, of, u)
	if !ok {
		t.Fatalf("%s is not taken", u.URL)
	}
	return p
}

func add(t testing.TB, s store.Store, of store.CrawlRecord, u store.NewURL) (p store.PageRecord, ok bool) {
	t.Helper()
	if u.Host == "" {
		parsed, err := url.Parse(u.URL)
		if err != nil {
			t.Fatal(err)
		}
		u.Host = parsed.Host
	}
	if _, err := s.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: of.ID, URLs: []store.NewURL{u}}); err != nil {
		t.Fatal(err)
	}
	if p, ok = find(t, s, of, u.URL); !ok {
		return p, false
	}
	if _, err := s.Admit(t.Context(), store.AdmitParams{CrawlID: of.ID, Admit: []int64{p.PageID}}); err != nil {
		t.Fatal(err)
	}
	return p, true
}

func find(t testing.TB, s store.Store, of store.CrawlRecord, at string) (p store.PageRecord, ok bool) {
	t.Helper()
	found, err := s.FindPages(t.Context(), at, of.Spec.Name)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		return p, false
	}
	return found[0], true
}

// Store opens an empty store.
func Store(t testing.TB) store.Store {
	t.Helper()
	return OpenStore(t, newPath(t))
}

// OpenStore opens the store at a path, and makes it if there is none. It is closed after the
// test.
func OpenStore(t testing.TB, path string) store.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Owner: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "store.db") }
