//go:build unix

package gc_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
	"recrawl/internal/archive/gc"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/postgres"
	"recrawl/internal/store/storetest/crawltest"
	"recrawl/internal/store/storetest/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// world is a store of some pages and an archive. Its helpers fail the test.
type world struct {
	t     *testing.T
	store store.Store
	files archive.Store
	pages []crawl.PageRef // by id
	root  string          // of the archive
}

func onSQLite(t *testing.T) store.Store { return crawltest.Store(t) }

func onPostgres(t *testing.T) store.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), pgtest.DSN(t), postgres.Options{})
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

// newWorld is a world of n pages with an archive in a folder.
func newWorld(t *testing.T, s store.Store, n int) *world {
	t.Helper()
	w := &world{t: t, store: s, root: t.TempDir()}
	files, err := archive.OpenDir(w.root)
	w.check(err)
	w.files = files
	spec := crawl.DefaultSpec()
	spec.Name = "news"
	rec, err := s.OpenCrawl(t.Context(), spec)
	w.check(err)
	params := store.RegisterParams{CrawlID: rec.ID}
	for i := range n {
		params.URLs = append(params.URLs, store.NewURL{URL: fmt.Sprintf("https://host.test/%d", i), Host: "host.test"})
	}
	_, err = s.RegisterLinks(t.Context(), params)
	w.check(err)
	for _, u := range params.URLs {
		found, err := s.FindPages(t.Context(), u.URL, "")
		w.check(err)
		w.pages = append(w.pages, found[0].PageRef)
	}
	slices.SortFunc(w.pages, func(a, b crawl.PageRef) int { return cmp.Compare(a.PageID, b.PageID) })
	return w
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// put puts a body into the archive.
func (w *world) put(body string) (digest string) {
	w.t.Helper()
	return archivetest.Put(w.t, w.files, []byte(body))
}

// save gives a page a version with a body that is, or was, in the archive.
func (w *world) save(page, visit int, digest string) {
	w.t.Helper()
	_, err := w.store.SaveVersion(w.t.Context(), store.SaveVersionParams{Version: store.VersionRecord{PageID: w.pages[page].PageID, Visit: visit, Digest: digest}})
	w.check(err)
}

// has reports whether a digest is in the archive.
func (w *world) has(digest string) bool {
	w.t.Helper()
	ok, err := w.files.Has(w.t.Context(), digest)
	w.check(err)
	return ok
}

// verify reads every content of a version.
func (w *world) verify() (gc.Verified, []gc.Problem) {
	w.t.Helper()
	var problems []gc.Problem
	got, err := gc.Verify(w.t.Context(), w.store, w.files, gc.VerifyOptions{Report: func(p gc.Problem) error {
		problems = append(problems, p)
		return nil
	}})
	w.check(err)
	return got, problems
}

func (w *world) collect(o gc.CollectOptions) gc.Collected {
	w.t.Helper()
	got, err := gc.Collect(w.t.Context(), w.store, w.files, o)
	w.check(err)
	return got
}

// agrees checks that the archive has exactly the versions' contents, intact.
func (w *world) agrees() {
	w.t.Helper()
	if _, problems := w.verify(); len(problems) > 0 {
		w.t.Errorf("lost: %v", problems)
	}
	var stored []string
	for info, err := range w.files.List(w.t.Context(), "") {
		w.check(err)
		stored = append(stored, info.Digest)
	}
	had, err := w.store.ListContents(w.t.Context(), "", 1<<20)
	w.check(err)
	if !slices.Equal(stored, had) {
		w.t.Errorf("the archive has %d contents and versions have %d: %v, %v", len(stored), len(had), stored, had)
	}
}

var errDisk = errors.New("disk on fire")

// faulty is an archive in which some calls fail, or do something first.
type faulty struct {
	archive.Store
	open, has, delete func(digest string) error
}

func (f faulty) Open(ctx context.Context, digest string) (io.ReadCloser, error) {
	if f.open != nil {
		if err := f.open(digest); err != nil {
			return nil, err
		}
	}
	return f.Store.Open(ctx, digest)
}

func (f faulty) Has(ctx context.Context, digest string) (bool, error) {
	if f.has != nil {
		if err := f.has(digest); err != nil {
			return false, err
		}
	}
	return f.Store.Has(ctx, digest)
}

func (f faulty) Delete(ctx context.Context, digest string) error {
	if f.delete != nil {
		if err := f.delete(digest); err != nil {
			return err
		}
	}
	return f.Store.Delete(ctx, digest)
}
