package activities_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// A visit that finds the same text in other bytes leaves nothing in the archive
// once maintenance has come by, and the version's own bytes stay.
func TestCosmeticBytesAreSwept(t *testing.T) {
	t.Parallel()
	var visits atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>a</title><!-- %d --><p>The same words on every visit.", visits.Add(1))
	})
	w := newWorld(t)
	page := w.living([]string{s.url + "/"})[0]
	w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsAllowAll, Status: 404, Expires: time.Hour})
	w.visit(page, 1)
	if got := w.visit(page, 2); got.Outcome.String() != "cosmetic" {
		t.Fatalf("the second visit is %s", got.Outcome)
	}
	if n, _ := w.archived(); n != 2 {
		t.Fatalf("%d contents before maintenance, want 2", n)
	}
	w.maintain(false)
	if n, _ := w.archived(); n != 1 {
		t.Errorf("%d contents, want the version's alone", n)
	}
	if _, err := w.archive.Open(t.Context(), w.page(s.url+"/").Last.Digest); err != nil {
		t.Errorf("the version's bytes: %v", err)
	}
}

// A pass sweeps all bytes that wait, not just a batch: where more than a batch comes in
// between two passes, the archive would grow for ever.
func TestAllBytesAreSwept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.living([]string{"http://127.0.0.1:8080/"})
	discarded := make([]string, 1201)
	for i := range discarded {
		discarded[i] = fmt.Sprintf("%064x", i)
	}
	if err := w.store.Discard(t.Context(), discarded); err != nil {
		t.Fatal(err)
	}
	w.maintain(false)
	if n, err := w.store.Waiting(t.Context()); n != 0 || err != nil {
		t.Errorf("the bytes of %d contents still wait, %v", n, err)
	}
}

// ordered notes when bytes are looked for that are to be deleted, and pages that a changed scope
// wakes.
type ordered struct {
	store.Store
	steps []string
}

func (o *ordered) Unreferenced(ctx context.Context, limit int) ([]string, error) {
	o.steps = append(o.steps, "archive")
	return o.Store.Unreferenced(ctx, limit)
}

func (o *ordered) ScopeLook(ctx context.Context, id int64) (store.ScopeLook, error) {
	o.steps = append(o.steps, "scope")
	return o.Store.ScopeLook(ctx, id)
}

// The bytes of pages that are excluded by what their body says wait to be deleted. When the scope
// or the purpose has changed, a pass wakes these pages, which fetch the same bytes again: they
// must not be deleted between that fetch and the comparison.
func TestBytesGoBeforePagesAreWoken(t *testing.T) {
	t.Parallel()
	watched := &ordered{}
	w := newWorld(t, func(p *parts) { watched.Store, p.store = p.store, watched })
	w.living(numbered(1))
	w.maintain(false)
	if got := strings.Join(watched.steps, " "); got != "archive scope" {
		t.Errorf("a pass does %q, want the archive before the scope", got)
	}
}

// Bytes that are fetched while their page is forgotten do not stay.
func TestForgottenDuringItsFetch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var target store.Target
	s := serve(t, func(rw http.ResponseWriter, _ *http.Request) {
		if _, err := w.store.Forget(t.Context(), store.ForgetParams{Target: target, Limit: 10}); err != nil {
			t.Error(err)
		}
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprint(rw, "<p>Words that were to be forgotten.")
	})
	target.URL = s.url + "/"
	page := w.living([]string{target.URL})[0]
	w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsAllowAll, Status: 404, Expires: time.Hour})
	_, err := w.fetch(page, 1)
	if app := application(t, err); app.Type() != contract.ErrTypeNotFound {
		t.Errorf("the fetch ends with %v", err)
	}
	w.maintain(false)
	if n, _ := w.archived(); n != 0 {
		t.Errorf("%d contents are left", n)
	}
}

// sweptStore has the bytes of a version deleted just before it is saved, as
// maintenance may while they are found in the archive and still nobody's.
type sweptStore struct {
	store.Store
	sweep func() error
}

func (s sweptStore) SaveVersion(ctx context.Context, p store.SaveVersionParams) (int64, error) {
	if err := s.sweep(); err != nil {
		return 0, err
	}
	return s.Store.SaveVersion(ctx, p)
}

// A version whose bytes were swept when it was saved gets them back.
func TestSweptBytesComeBackWithTheirVersion(t *testing.T) {
	t.Parallel()
	const body = "<p>Words that nobody had yet."
	var w *world
	swept := func(p *parts) {
		p.store = sweptStore{p.store, func() error { return w.archive.Delete(w.t.Context(), digestOf(body)) }}
	}
	w = newWorld(t, swept)
	page := w.living([]string{"http://localhost/"})[0]
	if got := w.seen(page, 1, body); got.Outcome != crawl.OutcomeNew {
		t.Fatalf("the visit is %s", got.Outcome)
	}
	if ok := must[bool](t)(w.archive.Has(t.Context(), digestOf(body))); !ok {
		t.Error("the version has no bytes")
	}
}

// goneArchive does not answer.
type goneArchive struct{ archive.Store }

func (goneArchive) Open(context.Context, string) (io.ReadCloser, error) {
	return nil, fmt.Errorf("%w: connection refused", archive.ErrUnavailable)
}

// An archive that does not answer says nothing about the page: the workflow asks
// again, as when the store does not answer.
func TestDetectChangeWithoutTheArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *parts) { p.archive = goneArchive{p.archive} })
	page := w.living([]string{"http://localhost/"})[0]
	_, err := try(w, contract.DetectChange, w.detection(page, 1, "<p>hello"))
	wantError(t, err, contract.ErrTypeStoreUnavailable, true, "connection refused")
	var why string
	if err := application(t, err).Details(&why); err != nil || why != "archive unavailable: connection refused" {
		t.Errorf("the page's workflow is told %q, %v", why, err)
	}
}
