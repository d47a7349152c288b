package report

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func (f *fake) ListVersions(_ context.Context, page int64, before, limit int) (found []store.VersionRecord, err error) {
	for _, v := range f.versions[page] {
		if (before == 0 || v.Seq < before) && len(found) < limit {
			found = append(found, v)
		}
	}
	return found, f.fail
}

func (f *fake) Version(_ context.Context, page int64, seq int) (store.VersionRecord, error) {
	for _, v := range f.versions[page] {
		if v.Seq == seq {
			return v, f.fail
		}
	}
	return store.VersionRecord{}, store.ErrNotFound
}

// versioned returns the sample with four versions of its first page. Their bodies are in
// the archive, except that of the second, which the site forbade to keep.
func versioned(t *testing.T) (*fake, *archive.Dir, store.PageRecord) {
	t.Helper()
	files, err := archive.OpenDir(filepath.Join(t.TempDir(), "archive"))
	if err != nil {
		t.Fatal(err)
	}
	f := sample()
	at := func(daysAgo int) time.Time { return now.Add(-time.Duration(daysAgo) * 24 * time.Hour) }
	put := func(seq int, body string) store.VersionRecord {
		w, err := files.Create(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
		digest, size, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		return store.VersionRecord{
			PageID: 1, Seq: seq, Visit: seq, At: at(9 - seq), Digest: digest, Bytes: size, TextBytes: size / 2,
			ContentType: "text/html; charset=utf-8", Title: "Opening\thours", Language: "en",
			Heads: store.Heads{Request: "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", Response: "HTTP/1.1 200 OK\r\nServer: x\r\n\r\n"},
		}
	}
	const page = "<title>t</title><h1>Opening hours</h1><p>Monday<p>Tuesday<p>Wednesday<p>We open at %H.<p>Thursday<p>Friday"
	f.versions = map[int64][]store.VersionRecord{1: {
		put(4, strings.Replace(page, "%H", "<b>9</b>", 1)+"<!-- 4 -->"),
		put(3, strings.Replace(page, "%H", "9", 1)),
		{PageID: 1, Seq: 2, Visit: 2, At: at(7), Bytes: 70, TextBytes: 20, ContentType: "text/html"},
		put(1, strings.Replace(page, "%H", "8", 1)),
	}}
	f.pages[0].Last = f.versions[1][0]
	return f, files, f.pages[0]
}

func TestVersionsGolden(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	f, files, page := versioned(t)
	diff := func(from, to int, view View, colour bool) func(Reporter) error {
		return func(r Reporter) error {
			return r.Diff(ctx, files, page, DiffQuery{From: from, To: to, View: view, Colour: colour})
		}
	}
	show := func(seq int, view View) func(Reporter) error {
		return func(r Reporter) error { return r.Show(ctx, files, page, seq, view) }
	}
	for name, ask := range map[string]func(Reporter) error{
		"versions":       func(r Reporter) error { return r.Versions(ctx, HistoryQuery{URL: page.URL}) },
		"versions-limit": func(r Reporter) error { return r.Versions(ctx, HistoryQuery{URL: page.URL, Limit: 1}) },
		"show":           show(0, ViewBody),
		"show-text":      show(1, ViewText),
		"show-all":       show(1, ViewAll),
		"show-head":      show(1, ViewHead),
		"diff":           diff(1, 3, ViewText, false),
		"diff-back":      diff(3, 1, ViewText, false),
		"diff-colour":    diff(1, 3, ViewText, true),
		"diff-text-same": diff(0, 0, ViewText, false),
		"diff-all":       diff(1, 3, ViewAll, false),
		"diff-all-same":  diff(0, 0, ViewAll, false),
		"diff-markup":    diff(3, 4, ViewBody, false),
		"diff-itself":    diff(4, 4, ViewText, false),
	} {
		answers(t, name, Reporter{Store: f}, ask)
	}
}

// returned is versioned with its page back at its first version since visit 7. It had the
// third one before.
func returned(t *testing.T) (*fake, *archive.Dir, store.PageRecord) {
	t.Helper()
	f, files, _ := versioned(t)
	f.versions[1][3].Back = 7
	f.pages[0].Last, f.pages[0].Visits = f.versions[1][3], 7
	visit := func(n, version int, outcome crawl.Outcome, reasons ...crawl.Reason) store.VisitRecord {
		at := now.Add(-time.Duration(8-n) * time.Hour)
		return store.VisitRecord{PageID: 1, Visit: n, At: at, NextAt: at.Add(time.Hour), Outcome: outcome, Status: 200, Version: version, Digest: "ab12", Bytes: 900, State: crawl.Active, Reasons: reasons}
	}
	f.visits[1] = []store.VisitRecord{
		visit(7, 1, crawl.OutcomeReturned, change.ReturnReason(1, 3), crawl.Reason{Code: change.CodeText, Num: map[string]float64{"text_delta": -1}}),
		visit(6, 3, crawl.OutcomeReturned, change.ReturnReason(3, 4), crawl.Reason{Code: change.CodeText, Num: map[string]float64{"text_delta": 4}}),
	}
	return f, files, f.pages[0]
}

func TestReturnsGolden(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	f, files, page := returned(t)
	for name, ask := range map[string]func(Reporter) error{
		"versions-returned": func(r Reporter) error { return r.Versions(ctx, HistoryQuery{URL: page.URL}) },
		"history-returned":  func(r Reporter) error { return r.History(ctx, HistoryQuery{URL: page.URL}) },
		"diff-returned":     func(r Reporter) error { return r.Diff(ctx, files, page, DiffQuery{View: ViewText}) },
		"show-returned":     func(r Reporter) error { return r.Show(ctx, files, page, 0, ViewText) },
		"pages-returned":    func(r Reporter) error { return r.Pages(ctx, PagesQuery{Crawl: "news", Limit: 1}) },
		"explain-returned":  func(r Reporter) error { return r.Explain(ctx, page, Live{}) },
	} {
		answers(t, name, Reporter{Store: f}, ask)
	}
}

// If the visit before a return is no longer kept, the return is compared with the version
// before.
func TestDiffOfAReturnWithoutItsPast(t *testing.T) {
	t.Parallel()
	f, files, page := returned(t)
	f.versions[1][1].Back = 6
	f.visits[1] = f.visits[1][:1]
	var out bytes.Buffer
	if err := (Reporter{Store: f, Out: &out, Format: JSON}).Diff(t.Context(), files, page, DiffQuery{To: 3, View: ViewText}); !errors.Is(err, ErrNoBody) || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestVersionsMissing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	f, files, page := versioned(t)
	r := Reporter{Store: f, Out: &bytes.Buffer{}, Format: Text}
	fresh := store.PageRecord{PageRef: crawl.PageRef{PageID: 2, URL: "https://example.com/new"}}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"unknown", r.Show(ctx, files, page, 9, ViewBody), "has no version 9: `starter history --versions` lists them"},
		{"none yet", r.Show(ctx, files, fresh, 0, ViewBody), "has no version yet"},
		{"forbidden", r.Show(ctx, files, page, 2, ViewText), "version 2 of https://example.com/: no body: the site asked that it not be kept"},
		{"compared with the forbidden", r.Diff(ctx, files, page, DiffQuery{To: 3, View: ViewText}), "version 2 of"},
		{"only one", r.Diff(ctx, files, page, DiffQuery{To: 1, View: ViewText}), "has only version 1"},
	} {
		if !errors.Is(c.err, ErrNoBody) || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, c.err, c.want)
		}
	}
	if err := files.Delete(ctx, page.Last.Digest); err != nil {
		t.Fatal(err)
	}
	if err := r.Show(ctx, files, page, 4, ViewBody); !errors.Is(err, archive.ErrNotFound) || !strings.Contains(err.Error(), "missing in the archive") {
		t.Errorf("without its bytes: %v", err)
	}
}
