package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/search"
	"recrawl/internal/search/fts"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// library is a crawl with a search index, in a real store and archive.
type library struct {
	*testing.T
	*crawltest.Crawl
	index *fts.Index
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	made := crawltest.New(t, func(s *crawl.Spec) {
		s.Name, s.Sinks = "docs", map[string]crawl.SinkSpec{"words": {Kind: crawl.SinkSearch}}
	})
	l := &library{T: t, Crawl: made}
	spec := crawl.DefaultSpec()
	spec.Name = "plain"
	_, err := l.Store.OpenCrawl(t.Context(), spec)
	l.check(err)
	l.index, err = fts.Open(t.Context(), filepath.Join(t.TempDir(), fts.Name), fts.Options{Store: l.Store.ID()})
	l.check(err)
	t.Cleanup(func() { l.check(l.index.Close()) })
	return l
}

func (l *library) check(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// page makes a version of a page, and puts it into the index if indexed is set.
func (l *library) page(url, title, text string, indexed bool) store.PageRecord {
	l.Helper()
	ctx := l.Context()
	p, ok := l.Find(store.NewURL{URL: url})
	if !ok {
		l.Fatalf("%s is not taken", url)
	}
	visit := p.Visits + 1
	body := "<html><p>" + text + "<p style='display:none'>And a hidden retry policy.</p>"
	digest := archivetest.Put(l.T, l.Files, []byte(body))
	_, err := l.Store.SaveVersion(ctx, store.SaveVersionParams{Version: store.VersionRecord{
		PageID: p.PageID, Visit: visit, Digest: digest, TextDigest: digest, Bytes: int64(len(body)), ContentType: "text/html", Title: title,
	}})
	l.check(err)
	_, err = l.Store.RecordVisit(ctx, store.RecordParams{Visit: store.VisitRecord{PageID: p.PageID, Visit: visit, Outcome: crawl.OutcomeChanged, State: crawl.Active, Status: 200}})
	l.check(err)
	p, err = l.Store.Page(ctx, p.PageID)
	l.check(err)
	if indexed {
		l.check(l.index.Put(ctx, []search.Document{{
			Crawl: l.Record.ID, Page: p.PageID, Version: p.Last.Seq, URL: url, Host: "a.test", Title: title, Text: text, Digest: text, Importance: 1,
		}}))
	}
	return p
}

func (l *library) reporter() report.Reporter {
	return report.Reporter{Store: l.Store, Relations: l.Store, Index: l.index}
}

func TestSearchOf(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	first := l.page("https://a.test/1", "Retries", "How a retry policy works.", true)
	l.page("https://a.test/2", "Copy", "How a retry policy works.", true)
	l.page("https://a.test/1", "Retries", "How a policy for each retry is chosen.", false) // the index has not heard of it
	l.check(l.index.SetCursor(t.Context(), l.Record.ID, search.Progress{Filled: true}.String()))
	r := l.reporter()
	a, err := r.SearchOf(t.Context(), l.Files, report.SearchQuery{Crawl: "docs", Words: "RETRY policy"})
	l.check(err)
	if len(a.Hits) != 1 || a.Unfilled || a.Some || a.Next != 0 {
		t.Fatalf("%+v", a)
	}
	h := a.Hits[0]
	if h.Page != first.PageID || h.Version != 1 || h.Snippet != "How a retry policy works." || len(h.Marks) != 2 || h.Copies != 1 || h.URL != "https://a.test/1" {
		t.Errorf("%+v", h)
	}
	if time.Since(h.Seen) > time.Hour || h.Record.PageID != h.Page {
		t.Errorf("seen %s, record of %d", h.Seen, h.Record.PageID)
	}
	if a, err := r.SearchOf(t.Context(), nil, report.SearchQuery{Crawl: "docs", Words: "retry"}); err != nil || len(a.Hits) != 1 || a.Hits[0].Snippet != "" {
		t.Errorf("without an archive: %+v, %v", a, err)
	}
	for prefix, want := range map[string]int{"https://A.test:443/1": 1, "https://a.t": 1, "https://a.test/3": 0} {
		if a, err := r.SearchOf(t.Context(), nil, report.SearchQuery{Crawl: "docs", Words: "retry", Prefix: prefix}); err != nil || len(a.Hits) != want {
			t.Errorf("%s: %+v, %v", prefix, a, err)
		}
	}
	damaged := archivetest.Damaged{Store: l.Files, Digest: first.Last.Digest}
	if a, err := r.SearchOf(t.Context(), damaged, report.SearchQuery{Crawl: "docs", Words: "retry"}); err != nil || len(a.Hits) != 1 || a.Hits[0].Snippet != "" {
		t.Errorf("with a damaged body: %+v, %v", a, err)
	}
	if _, err := l.Store.Forget(t.Context(), store.ForgetParams{Target: store.Target{URL: "https://a.test/1"}, Limit: 10}); err != nil {
		t.Fatal(err)
	}
	if a, err := r.SearchOf(t.Context(), l.Files, report.SearchQuery{Crawl: "docs", Words: "retry"}); err != nil || len(a.Hits) != 0 {
		t.Errorf("a page that was forgotten, before the index has heard of it: %+v, %v", a, err)
	}
}

// A page that may not be kept any more is not shown, though the index hears of it only later: its
// text is the same, so it is no change.
func TestSearchOfWhatMayNotBeKept(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	p := l.page("https://a.test/1", "Retries", "How a retry policy works.", true)
	other := l.page("https://a.test/2", "Policies", "How another policy for each retry works.", true)
	l.check(l.index.SetCursor(t.Context(), l.Record.ID, search.Progress{Filled: true}.String()))
	_, err := l.Store.SaveVersion(t.Context(), store.SaveVersionParams{Version: store.VersionRecord{
		PageID: p.PageID, Visit: p.Visits + 1, TextDigest: p.Last.TextDigest, Bytes: p.Last.Bytes, ContentType: "text/html",
	}})
	l.check(err)
	_, err = l.Store.RecordVisit(t.Context(), store.RecordParams{Visit: store.VisitRecord{
		PageID: p.PageID, Visit: p.Visits + 1, Outcome: crawl.OutcomeCosmetic, State: crawl.Active, Status: 200,
	}})
	l.check(err)
	a, err := l.reporter().SearchOf(t.Context(), l.Files, report.SearchQuery{Crawl: "docs", Words: "retry policy"})
	if err != nil || len(a.Hits) != 1 || a.Hits[0].Page != other.PageID {
		t.Errorf("%+v, %v", a.Hits, err)
	}
}

func TestSearchOfNothing(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	r := l.reporter()
	if _, err := r.SearchOf(t.Context(), nil, report.SearchQuery{Crawl: "plain", Words: "x"}); !errors.Is(err, report.ErrNotSearchable) || !strings.Contains(err.Error(), "crawl plain") {
		t.Errorf("%v", err)
	}
	if _, err := r.SearchOf(t.Context(), nil, report.SearchQuery{Crawl: "none", Words: "x"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("%v", err)
	}
	a, err := r.SearchOf(t.Context(), nil, report.SearchQuery{Crawl: "docs", Words: "x"})
	if err != nil || !a.Unfilled || a.Hits == nil {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestFound(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.page("https://a.test/1", "The\x1b[2J title", "A kiwi\u202e and more.", true)
	l.page("https://a.test/2", "", "A kiwi and so much more of other things, but less.", true)
	var out bytes.Buffer
	r := l.reporter()
	r.Out, r.Format = &out, report.Text
	l.check(r.Found(t.Context(), l.Files, report.SearchQuery{Crawl: "docs", Words: "kiwi", Limit: 1}))
	for _, want := range []string{"1. The [2J title\n   https://a.test/1\n   A kiwi and more.\n   version 1, seen ", "the index is being filled", "there are more: --offset 1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q lacks %q", out.String(), want)
		}
	}
	out.Reset()
	l.check(r.Found(t.Context(), l.Files, report.SearchQuery{Crawl: "docs", Words: "kiwi", Offset: 10}))
	if got := out.String(); !strings.HasPrefix(got, "there are no more pages\n") {
		t.Errorf("behind the last page: %q", got)
	}
	out.Reset()
	r.Format = report.JSON
	l.check(r.Found(t.Context(), l.Files, report.SearchQuery{Crawl: "docs", Words: "kiwi less"}))
	var h map[string]any
	l.check(json.Unmarshal(out.Bytes(), &h))
	if h["url"] != "https://a.test/2" || h["snippet"] != "A kiwi and so much more of other things, but less." || h["copies"] != 0.0 || h["version"] != 1.0 || h["seen"] == nil || h["title"] != "" {
		t.Errorf("%v", h)
	}
}
