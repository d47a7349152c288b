package app

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
	"recrawl/internal/care"
	"recrawl/internal/cli"
	"recrawl/internal/config"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/report"
	"recrawl/internal/search"
	"recrawl/internal/search/fts"
	"recrawl/internal/sink"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// indexed is a store with a crawl of two pages, and its search index.
type indexed struct {
	*testing.T
	dir   string
	store store.Store
	files archive.Store
	crawl store.CrawlRecord
	index searchIndex
}

func newIndexed(t *testing.T) *indexed {
	t.Helper()
	w := &indexed{T: t, dir: t.TempDir()}
	dsn := "sqlite:" + filepath.Join(w.dir, storeFile)
	var err error
	w.store, err = openStore(t.Context(), dsn, storeOwn, "")
	w.check(err)
	t.Cleanup(func() { _ = w.store.Close() })
	w.files, err = openArchive(t.Context(), filepath.Join(w.dir, archiveDir), storeOwn)
	w.check(err)
	w.index = searchIndex{dsn, w.store.ID()}
	w.crawl = w.open("docs", map[string]crawl.SinkSpec{"words": {Kind: crawl.SinkSearch}})
	w.page("https://a.test/tokyo", "<title>t</title><p>東京都に住む")
	w.page("https://a.test/kyoto", "<title>k</title><p>京都の寺")
	return w
}

func (w *indexed) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *indexed) open(name string, sinks map[string]crawl.SinkSpec) store.CrawlRecord {
	w.Helper()
	spec := crawl.DefaultSpec()
	spec.Name, spec.Sinks = name, sinks
	record, err := w.store.OpenCrawl(w.Context(), spec)
	w.check(err)
	return record
}

func (w *indexed) page(url, body string) {
	w.Helper()
	ctx := w.Context()
	page := crawltest.Page(w.T, w.store, w.crawl, store.NewURL{URL: url}).PageID
	digest := archivetest.Put(w.T, w.files, []byte(body))
	_, err := w.store.SaveVersion(ctx, store.SaveVersionParams{Version: store.VersionRecord{PageID: page, Visit: 1, Digest: digest, Bytes: int64(len(body)), ContentType: "text/html; charset=utf-8"}})
	w.check(err)
	_, err = w.store.RecordVisit(ctx, store.RecordParams{Interval: time.Hour, Visit: store.VisitRecord{PageID: page, Visit: 1, Outcome: crawl.OutcomeNew, State: crawl.Active}})
	w.check(err)
}

// care is the care of a worker for the index.
func (w *indexed) care(woken *wokenSinks, log io.Writer) *care.Indexes {
	return &care.Indexes{Store: w.store, Flows: woken, Open: w.index.openFor, Log: slog.New(slog.NewTextHandler(log, nil))}
}

// wokenSinks takes down which sinks are woken.
type wokenSinks struct{ names []string }

func (w *wokenSinks) StartSink(_ context.Context, in contract.SinkIn, _ contract.SinkWakeArg) error {
	w.names = append(w.names, in.Sink)
	return nil
}

// held are the crawls with something in the index.
func (w *indexed) held() (crawls []int64) {
	w.Helper()
	w.check(w.index.with(w.Context(), storeRead, func(i search.Index) (err error) {
		crawls, err = i.Crawls(w.Context())
		return err
	}))
	return crawls
}

// finds returns the pages that a search finds through the reports.
func (w *indexed) finds(words string) (urls []string) {
	w.Helper()
	a, err := report.Reporter{Store: w.store, Relations: w.store, Index: w.index}.SearchOf(w.Context(), w.files, report.SearchQuery{Crawl: "docs", Words: words})
	w.check(err)
	for _, h := range a.Hits {
		if h.Snippet == "" {
			w.Errorf("%s has no snippet", h.URL)
		}
		urls = append(urls, h.URL)
	}
	slices.Sort(urls)
	return urls
}

// fill has the sink of the crawl fill its index, as a worker does.
func (w *indexed) fill() {
	w.Helper()
	s := newSenders(config.Default(), parts{store: w.store, dsn: w.index.dsn, files: w.files}, slog.New(slog.DiscardHandler))
	sender, err := s.Sender(w.Context(), "docs", "words", w.crawl.Spec.Sinks["words"])
	w.check(err)
	for more := true; more; {
		more, err = sender.(sink.Filler).Fill(w.Context())
		w.check(err)
	}
	w.check(sender.Send(w.Context(), feed.Event{Kind: feed.PageChanged, Page: &feed.EventPage{ID: 1 << 40}}))
	w.check(sender.Close())
}

// Pages that a sink fills are found, even after the file was deleted, or the index rebuilt
// by the command; forgotten or deleted ones are not.
func TestSearchFromStoreToAnswer(t *testing.T) {
	t.Parallel()
	w := newIndexed(t)
	both, tokyo := []string{"https://a.test/kyoto", "https://a.test/tokyo"}, []string{"https://a.test/tokyo"}
	want := func(what, words string, want []string) {
		t.Helper()
		if got := w.finds(words); !slices.Equal(got, want) {
			t.Errorf("%s: %s finds %q, want %q", what, words, got, want)
		}
	}
	want("not filled yet", "東京", nil)
	w.fill()
	want("filled", "東京", tokyo)
	want("filled", "京都", both)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(w.dir, fts.Name+suffix)); err != nil && suffix == "" {
			t.Fatal(err)
		}
	}
	want("deleted", "東京", nil)
	w.fill()
	want("filled again", "京都", both)
	at := cli.Target{Store: w.index.dsn, Archive: filepath.Join(w.dir, archiveDir)}
	if n, err := (Backend{}).RebuildIndex(t.Context(), at, "docs", func(int) {}); n != 2 || err != nil {
		t.Errorf("rebuilt: %d pages, %v", n, err)
	}
	want("rebuilt", "京都", both)
	w.check(w.index.forget(t.Context(), search.Target{URL: "https://a.test/kyoto"}, true))
	want("forgotten", "京都", tokyo)
	w.check(w.index.drop(t.Context(), w.crawl.ID))
	want("dropped", "京都", nil)
	w.open("plain", nil)
	if _, err := (Backend{}).RebuildIndex(t.Context(), at, "plain", func(int) {}); !errors.Is(err, report.ErrNotSearchable) {
		t.Errorf("a crawl without a sink: %v", err)
	}
}

// Takedowns and deletions of a store that has no index make none.
func TestNoIndexIsMade(t *testing.T) {
	t.Parallel()
	w := newIndexed(t)
	w.check(w.index.forget(t.Context(), search.Target{Host: "a.test"}, true))
	w.check(w.index.drop(t.Context(), w.crawl.ID))
	if _, err := os.Stat(filepath.Join(w.dir, fts.Name)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// An index of an older release cannot be searched. A takedown does not leave it as it is,
// and a worker reports once that it rebuilds it.
func TestOlderIndex(t *testing.T) {
	t.Parallel()
	w := newIndexed(t)
	older := func() {
		t.Helper()
		w.fill()
		db, err := sql.Open("sqlite", filepath.Join(w.dir, fts.Name))
		w.check(err)
		_, err = db.ExecContext(t.Context(), "UPDATE about SET format = -1")
		w.check(errors.Join(err, db.Close()))
		if err := w.index.with(t.Context(), storeRead, func(search.Index) error { return nil }); !errors.Is(err, search.ErrOlder) {
			t.Fatalf("it opens with %v", err)
		}
	}
	older()
	w.check(w.index.forget(t.Context(), search.Target{Host: "a.test"}, true))
	w.check(w.index.with(t.Context(), storeRead, func(i search.Index) error {
		crawls, err := i.Crawls(t.Context())
		if len(crawls) > 0 {
			t.Errorf("after a takedown it holds something of the crawls %v", crawls)
		}
		return err
	}))
	older()
	var log strings.Builder
	indexes := w.care(&wokenSinks{}, &log)
	for range 2 {
		w.check(indexes.Look(t.Context()))
	}
	if n := strings.Count(log.String(), "of an older release"); n != 1 {
		t.Errorf("said %d times: %s", n, log.String())
	}
}

// The index of a crawl whose sink waits is filled when it is missing, and what no sink keeps
// goes.
func TestIndexCare(t *testing.T) {
	t.Parallel()
	w := newIndexed(t)
	woken := &wokenSinks{}
	indexes := w.care(woken, io.Discard)
	look := func(what string, want ...string) {
		t.Helper()
		if err := indexes.Look(t.Context()); err != nil || !slices.Equal(woken.names, want) {
			t.Errorf("%s: woken %q, %v; want %q", what, woken.names, err, want)
		}
		woken.names = nil
	}
	look("its sink is not open yet")
	ends, err := w.store.FeedEnds(t.Context())
	w.check(err)
	_, err = w.store.OpenSink(t.Context(), w.crawl.ID, "words", ends.Newest)
	w.check(err)
	look("no index", "words")
	w.fill()
	look("filled")
	w.check(w.index.with(t.Context(), storeWrite, func(i search.Index) error { return i.SetCursor(t.Context(), w.crawl.ID, "") }))
	look("a rebuild was cut off", "words")
	w.fill()
	look("filled again")
	if got := w.finds("東京"); len(got) != 1 {
		t.Errorf("dropped: %q", got)
	}
	w.check(w.index.with(t.Context(), storeWrite, func(i search.Index) error {
		return i.Put(t.Context(), []search.Document{{Crawl: 99, Page: 1, Text: "of a crawl that is no more"}})
	}))
	look("another's")
	if held := w.held(); !slices.Equal(held, []int64{w.crawl.ID}) {
		t.Errorf("held %v", held)
	}
	w.open("docs", map[string]crawl.SinkSpec{})
	look("the spec has lost its sink")
	if held := w.held(); len(held) != 0 {
		t.Errorf("held %v", held)
	}
}
