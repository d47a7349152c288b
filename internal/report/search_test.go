package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/search"
	"recrawl/internal/search/fts"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlite"
)

// library is a crawl with a search index, in a real store and archive.
type library struct {
	*testing.T
	s     store.Store
	files archive.Store
	crawl store.CrawlRecord
	index *fts.Index
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	l := &library{T: t}
	var err error
	l.s, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Options{Owner: true})
	l.check(err)
	t.Cleanup(func() { l.check(l.s.Close()) })
	l.files, err = archive.OpenDir(t.TempDir())
	l.check(err)
	spec := crawl.DefaultSpec()
	spec.Name, spec.Sinks = "docs", map[string]crawl.SinkSpec{"words": {Kind: crawl.SinkSearch}}
	l.crawl, err = l.s.OpenCrawl(t.Context(), spec)
	l.check(err)
	spec.Name, spec.Sinks = "plain", nil
	_, err = l.s.OpenCrawl(t.Context(), spec)
	l.check(err)
	l.index, err = fts.Open(t.Context(), filepath.Join(t.TempDir(), fts.Name), fts.Options{Store: l.s.ID()})
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
	_, err := l.s.RegisterLinks(ctx, store.RegisterParams{CrawlID: l.crawl.ID, URLs: []store.NewURL{{URL: url, Host: "a.test"}}})
	l.check(err)
	found, err := l.s.FindPages(ctx, url, "docs")
	l.check(err)
	if found[0].Visits == 0 {
		_, err = l.s.Admit(ctx, store.AdmitParams{CrawlID: l.crawl.ID, Admit: []int64{found[0].PageID}})
		l.check(err)
	}
	visit := found[0].Visits + 1
	body := "<html><p>" + text
	digest := archivetest.Put(l.T, l.files, []byte(body))
	_, err = l.s.SaveVersion(ctx, store.SaveVersionParams{Version: store.VersionRecord{
		PageID: found[0].PageID, Visit: visit, Digest: digest, TextDigest: digest, Bytes: int64(len(body)), ContentType: "text/html", Title: title,
	}})
	l.check(err)
	_, err = l.s.RecordVisit(ctx, store.RecordParams{Visit: store.VisitRecord{PageID: found[0].PageID, Visit: visit, Outcome: crawl.OutcomeChanged, State: crawl.Active, Status: 200}})
	l.check(err)
	p, err := l.s.Page(ctx, found[0].PageID)
	l.check(err)
	if indexed {
		l.check(l.index.Put(ctx, []search.Document{{
			Crawl: l.crawl.ID, Page: p.PageID, Version: p.Last.Seq, URL: url, Host: "a.test", Title: title, Text: text, Digest: text, Importance: 1,
		}}))
	}
	return p
}

func (l *library) reporter() report.Reporter {
	return report.Reporter{Store: l.s, Relations: l.s, Index: l.index}
}

func TestSearchOf(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	first := l.page("https://a.test/1", "Retries", "How a retry policy works.", true)
	l.page("https://a.test/2", "Copy", "How a retry policy works.", true)
	l.page("https://a.test/1", "Retries", "How a policy for each retry is chosen.", false) // the index does not have it yet
	l.check(l.index.SetCursor(t.Context(), l.crawl.ID, search.Progress{Filled: true}.String()))
	r := l.reporter()
	a, err := r.SearchOf(t.Context(), l.files, report.SearchQuery{Crawl: "docs", Words: "RETRY policy"})
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
	if _, err := l.s.Forget(t.Context(), store.ForgetParams{Target: store.Target{URL: "https://a.test/1"}, Limit: 10}); err != nil {
		t.Fatal(err)
	}
	if a, err := r.SearchOf(t.Context(), l.files, report.SearchQuery{Crawl: "docs", Words: "retry"}); err != nil || len(a.Hits) != 0 {
		t.Errorf("a page that was forgotten, before the index has heard of it: %+v, %v", a, err)
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
	l.check(r.Found(t.Context(), l.files, report.SearchQuery{Crawl: "docs", Words: "kiwi", Limit: 1}))
	for _, want := range []string{"1. The [2J title\n   https://a.test/1\n   A kiwi and more.\n   version 1, seen ", "the index is being filled", "there are more: --offset 1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q lacks %q", out.String(), want)
		}
	}
	out.Reset()
	r.Format = report.JSON
	l.check(r.Found(t.Context(), l.files, report.SearchQuery{Crawl: "docs", Words: "kiwi less"}))
	var h map[string]any
	l.check(json.Unmarshal(out.Bytes(), &h))
	if h["url"] != "https://a.test/2" || h["snippet"] != "A kiwi and so much more of other things, but less." || h["copies"] != 0.0 || h["version"] != 1.0 || h["seen"] == nil || h["title"] != "" {
		t.Errorf("%v", h)
	}
}
