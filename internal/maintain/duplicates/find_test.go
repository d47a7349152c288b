package duplicates

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"recrawl/internal/change"
	"recrawl/internal/change/changetest"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// world is a store with one crawl.
type world struct {
	*testing.T
	*crawltest.Crawl
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{t, crawltest.New(t, func(s *crawl.Spec) { s.Limits.Window = 1000 })}
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// page adds a page and visits it.
func (w *world) page(host string, content change.Content) store.PageRecord {
	w.Helper()
	p := w.Page(store.NewURL{URL: fmt.Sprintf("https://%s/%d", host, len(w.pages())), Host: host})
	w.visit(p.PageID, content)
	return p
}

func (w *world) pages() []store.PageRecord {
	w.Helper()
	pages, err := w.Store.ListPages(w.Context(), store.PageFilter{CrawlID: w.Record.ID, Limit: 1000})
	w.check(err)
	return pages
}

// visit gives a page a new content.
func (w *world) visit(page int64, content change.Content) {
	w.Helper()
	p, err := w.Store.Page(w.Context(), page)
	w.check(err)
	_, err = w.Store.SaveVersion(w.Context(), store.SaveVersionParams{Version: store.VersionRecord{PageID: page, Visit: p.Visits + 1}, Content: content})
	w.check(err)
	_, err = w.Store.RecordVisit(w.Context(), store.RecordParams{
		Visit: store.VisitRecord{PageID: page, Visit: p.Visits + 1, Outcome: crawl.OutcomeChanged, State: crawl.Active},
	})
	w.check(err)
}

func (w *world) find(expected Result) {
	w.Helper()
	dir := w.TempDir()
	got, err := Find(w.Context(), w.Store, w.Record.ID, Options{Threshold: 0.95, Dir: dir})
	w.check(err)
	wantEmpty(w.T, dir)
	if got.Spilled = 0; got != expected {
		w.Errorf("got %+v, want %+v", got, expected)
	}
}

// duplicates lists the records as "page of older", "=" for the same content.
func (w *world) duplicates() []string {
	w.Helper()
	all, err := w.Store.ListDuplicates(w.Context(), store.DuplicateFilter{CrawlID: w.Record.ID, Limit: 1000})
	w.check(err)
	var texts []string
	for _, d := range all {
		sign := "~"
		if d.Exact {
			sign = "="
		}
		if !d.Holds {
			w.Errorf("does not hold: %+v", d)
		}
		texts = append(texts, fmt.Sprintf("%d %s %d", d.Page.PageID, sign, d.Of.PageID))
	}
	return texts
}

func TestFind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.find(Result{})
	// The pages 8, 9, 10, 11 of the corpus are nearly the same, those from 4 on have
	// nothing in common.
	corpus := changetest.Corpus{Sites: 1, Shingles: 400, Family: 4, Edit: 0.01}
	first := w.page("a.test", corpus.Content(8)).PageID
	w.page("b.test", corpus.Content(9))
	w.page("b.test", corpus.Content(9))
	w.page("c.test", corpus.Content(4))
	w.page("c.test", corpus.Content(8))
	w.find(Result{Stats: Stats{Pages: 5, Same: 2, Compared: 1, Near: 1}, Duplicates: 3, Set: 3})
	want := []string{
		fmt.Sprintf("%d ~ %d", first+1, first), fmt.Sprintf("%d = %d", first+4, first), fmt.Sprintf("%d = %d", first+2, first+1),
	}
	if got := w.duplicates(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	w.find(Result{Stats: Stats{Pages: 5, Same: 2, Compared: 1, Near: 1}, Duplicates: 3})

	// The oldest changes: the cluster is that of the next.
	w.visit(first, corpus.Content(5))
	w.find(Result{Stats: Stats{Pages: 5, Same: 1, Compared: 1, Near: 1}, Duplicates: 2, Set: 1, Unset: 1})
	want = []string{fmt.Sprintf("%d = %d", first+2, first+1), fmt.Sprintf("%d ~ %d", first+4, first+1)}
	if got := w.duplicates(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFindMirrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	corpus := changetest.Corpus{Sites: 1, Shingles: 400, Family: 4, Edit: 0.005}
	for i := range 12 {
		w.page("one.test", corpus.Content(8+16*i))
		w.page("two.test", corpus.Content(8+16*i+i%2)) // every second is nearly the same
		w.page("two.test", change.Content{Exact: 1})   // "not found"
	}
	w.page("two.test", corpus.Content(4))
	w.find(Result{Stats: Stats{Pages: 37, Same: 6 + 11, Compared: 6, Near: 6}, Duplicates: 23, Set: 23, Mirrors: 1})
	got, err := w.Store.Mirrors(t.Context(), w.Record.ID, 10)
	want := store.MirrorRecord{A: "one.test", B: "two.test", Shared: 12, OfA: 12, OfB: 14}
	if err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("mirrors %+v, %v; want %+v", got, err, want)
	}
}

// racing is a store in which a page gets a new content while duplicates are
// looked for.
type racing struct {
	store.Store
	meanwhile func()
}

func (r *racing) Contents(ctx context.Context, crawlID, after int64, limit int) ([]store.ContentRecord, error) {
	contents, err := r.Store.Contents(ctx, crawlID, after, limit)
	if after == 0 {
		r.meanwhile()
	}
	return contents, err
}

func TestFindLeavesWhatIsNewer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	corpus := changetest.Corpus{Sites: 1, Shingles: 400, Family: 4, Edit: 0.01}
	older, p, other := w.page("a.test", corpus.Content(8)).PageID, w.page("a.test", corpus.Content(8)).PageID, w.page("a.test", corpus.Content(4)).PageID
	s := &racing{w.Store, func() {
		// p gets the content of none, other that of the oldest.
		w.visit(p, corpus.Content(5))
		now, err := w.Store.Page(t.Context(), older)
		w.check(err)
		_, err = w.Store.SaveVersion(t.Context(), store.SaveVersionParams{
			Version: store.VersionRecord{PageID: other, Visit: 2}, Content: corpus.Content(8),
			Duplicate: &store.DuplicateOf{PageVersion: store.PageVersion{PageID: older, Version: now.Last.ID}, Exact: true, Resemblance: 1},
		})
		w.check(err)
	}}
	_, err := Find(t.Context(), s, w.Record.ID, Options{Dir: t.TempDir()})
	w.check(err)
	if d, err := w.Store.Duplicate(t.Context(), other); err != nil || d.Of.PageID != older {
		t.Errorf("what was recorded meanwhile is %+v, %v", d, err)
	}
	if d, err := w.Store.Duplicate(t.Context(), p); err == nil && d.Holds {
		t.Errorf("what is not so any more holds: %+v", d)
	}
}

// failing is a store in which one method fails.
type failing struct {
	store.Store
	what string
}

var errFailing = errors.New("failing")

func (f failing) Contents(ctx context.Context, crawlID, after int64, limit int) ([]store.ContentRecord, error) {
	if f.what == "Contents" {
		return nil, errFailing
	}
	return f.Store.Contents(ctx, crawlID, after, limit)
}

func (f failing) ListDuplicates(ctx context.Context, filter store.DuplicateFilter) ([]store.DuplicateRecord, error) {
	if f.what == "ListDuplicates" {
		return nil, errFailing
	}
	return f.Store.ListDuplicates(ctx, filter)
}

func (f failing) UpdateDuplicates(ctx context.Context, p store.UpdateDuplicatesParams) error {
	if f.what == "UpdateDuplicates" {
		return errFailing
	}
	return f.Store.UpdateDuplicates(ctx, p)
}

func (f failing) SetMirrors(ctx context.Context, crawlID int64, mirrors []change.Mirror) error {
	if f.what == "SetMirrors" {
		return errFailing
	}
	return f.Store.SetMirrors(ctx, crawlID, mirrors)
}

func TestFindFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, what := range []string{"Contents", "ListDuplicates", "UpdateDuplicates", "SetMirrors"} {
		dir := t.TempDir()
		if _, err := Find(t.Context(), failing{w.Store, what}, w.Record.ID, Options{Dir: dir}); !errors.Is(err, errFailing) {
			t.Errorf("%s: %v", what, err)
		}
		wantEmpty(t, dir)
	}
}
