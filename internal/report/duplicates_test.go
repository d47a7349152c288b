package report

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/feed"
	"recrawl/internal/store"
)

func (f *fake) ListDuplicates(_ context.Context, q store.DuplicateFilter) (found []store.DuplicateRecord, err error) {
	for _, d := range f.duplicates {
		if d.Of.CrawlID == q.CrawlID && (d.Of.PageID > q.AfterOf || d.Of.PageID == q.AfterOf && d.Page.PageID > q.After) && len(found) < q.Limit {
			found = append(found, d)
		}
	}
	return found, f.fail
}

func (f *fake) Mirrors(_ context.Context, crawlID int64, limit int) ([]store.MirrorRecord, error) {
	if crawlID != 1 {
		return nil, f.fail
	}
	return f.mirrors[:min(limit, len(f.mirrors))], f.fail
}

func TestDuplicatesGolden(t *testing.T) {
	t.Parallel()
	f := sample()
	ref := func(id int64, url string) crawl.PageRef { return crawl.PageRef{CrawlID: 1, PageID: id, URL: url} }
	one := ref(1, "https://example.com/")
	f.duplicates = []store.DuplicateRecord{
		{Page: ref(2, "https://example.com/index.html"), Of: one, Exact: true, Resemblance: 1, At: now.Add(-time.Hour), Holds: true},
		{Page: ref(3, "https://example.com/?print=1"), Of: one, Resemblance: 0.9876, At: now.Add(-24 * time.Hour)},
	}
	f.mirrors = []store.MirrorRecord{{A: "example.com", B: "mirror.example", Shared: 90, OfA: 100, OfB: 95}}
	ctx := t.Context()
	for name, ask := range map[string]func(Reporter) error{
		"duplicates":       func(r Reporter) error { return r.Duplicates(ctx, "news", 0) },
		"duplicates-limit": func(r Reporter) error { return r.Duplicates(ctx, "news", 1) },
		"duplicates-none":  func(r Reporter) error { return r.Duplicates(ctx, "docs", 0) },
		"mirrors":          func(r Reporter) error { return r.Mirrors(ctx, "news", 0) },
		"mirrors-none":     func(r Reporter) error { return r.Mirrors(ctx, "docs", 0) },
	} {
		answers(t, name, Reporter{Store: f}, ask)
	}
}

func TestExported(t *testing.T) {
	t.Parallel()
	done := Exported{Folder: "out/2026-03-01T120000Z", At: now, Counts: export.Counts{Pages: 1, Visits: 3, Versions: 2, Bytes: 10, Missing: 1}}
	var text, lines bytes.Buffer
	if err := done.Write(&text, Text); err != nil {
		t.Fatal(err)
	}
	if err := done.Write(&lines, JSON); err != nil {
		t.Fatal(err)
	}
	if want := "exported 1 page, 3 visits and 2 versions to out/2026-03-01T120000Z; without the bytes of 1 version, which are not in the archive\n"; text.String() != want {
		t.Errorf("%q, want %q", text.String(), want)
	}
	if want := `{"folder":"out/2026-03-01T120000Z","at":"2026-03-01T12:00:00.123456000Z","pages":1,"visits":3,"versions":2,"missing":1,"bytes":10}`; strings.TrimSpace(lines.String()) != want {
		t.Errorf("%s, want %s", lines.String(), want)
	}
	text.Reset()
	lines.Reset()
	done = Exported{Folder: "out/x", At: now, Counts: export.Counts{Pages: 3, Visits: 3, Versions: 1, Missing: 1, Damaged: 2}}
	if err := errors.Join(done.Write(&text, Text), done.Write(&lines, JSON)); err != nil {
		t.Fatal(err)
	}
	if want := "; without the bytes of 1 version, which are not in the archive; without the bytes of 2 versions, which are damaged in the archive\n"; !strings.HasSuffix(text.String(), want) {
		t.Errorf("%q, want %q", text.String(), want)
	}
	if want := `"missing":1,"damaged":2,`; !strings.Contains(lines.String(), want) {
		t.Errorf("%s lacks %s", lines.String(), want)
	}
	text.Reset()
	lines.Reset()
	done = Exported{Folder: "out/x", At: now, Since: feed.Cursor{Epoch: "ab", ID: 3}, Cursor: feed.Cursor{Epoch: "ab", ID: 9}}
	if err := errors.Join(done.Write(&text, Text), done.Write(&lines, JSON)); err != nil {
		t.Fatal(err)
	}
	if want := "exported 0 pages, 0 visits and 0 versions to out/x\nwhat changes from then on: --since c1.ab.9\n"; text.String() != want {
		t.Errorf("%q, want %q", text.String(), want)
	}
	if want := `,"since":"c1.ab.3","cursor":"c1.ab.9"}`; !strings.HasSuffix(strings.TrimSpace(lines.String()), want) {
		t.Errorf("%s does not end in %s", lines.String(), want)
	}
}
