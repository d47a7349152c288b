package source_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/export/source"
	"recrawl/internal/feed"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// TestExportsOfWhatChanged exports the changes after a cursor in every format: those visits
// of those pages, and nothing else.
func TestExportsOfWhatChanged(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := crawltest.New(t)
	s := c.Store
	page := func(n int) store.PageRecord {
		return c.Page(store.NewURL{URL: fmt.Sprintf("https://host.test/%d", n)})
	}
	visit := func(p store.PageRecord, n int, v store.VisitRecord, body string) {
		v.PageID, v.Visit = p.PageID, n
		if body != "" {
			digest := archivetest.Put(t, c.Files, []byte(body))
			_, err := s.SaveVersion(ctx, store.SaveVersionParams{Version: store.VersionRecord{PageID: p.PageID, Visit: n, Digest: digest, Bytes: int64(len(body)), ContentType: "text/html"}})
			check(t, err)
		}
		_, err := s.RecordVisit(ctx, store.RecordParams{Visit: v})
		check(t, err)
	}
	found := store.VisitRecord{Outcome: crawl.OutcomeChanged, State: crawl.Active, Status: 200}
	same := store.VisitRecord{Outcome: crawl.OutcomeUnchanged, State: crawl.Active, Status: 304}
	gone := store.VisitRecord{Outcome: crawl.OutcomeGone, State: crawl.Gone, Status: 404}
	var pages []store.PageRecord
	for n := range 250 { // more than are read at once
		pages = append(pages, page(n))
		visit(pages[n], 1, found, fmt.Sprintf("<p>First %d", n))
	}
	visit(pages[240], 2, gone, "")
	ends, err := s.FeedEnds(ctx)
	check(t, err)
	since := ends.Newest
	visit(pages[3], 2, found, "<p>Second 3")
	visit(pages[3], 3, same, "")
	visit(pages[1], 2, gone, "")
	visit(pages[0], 2, same, "")
	visit(pages[240], 3, same, "") // it is back as it was: it stands again
	for n := 4; n < 240; n++ {
		visit(pages[n], 2, found, fmt.Sprintf("<p>Second %d", n))
	}
	_, err = s.Forget(ctx, store.ForgetParams{Target: store.Target{URL: pages[5].URL}})
	check(t, err)
	ends, err = s.FeedEnds(ctx)
	check(t, err)
	through := ends.Newest
	visit(pages[2], 2, found, "<p>Too late") // after the export's cursor was taken

	src, err := source.NewChanged(s, s, c.Files, c.Record)
	check(t, err)
	var got []string
	for x, err := range src.Exchanges(ctx, export.Query{Since: since, Through: through}) {
		check(t, err)
		got = append(got, fmt.Sprintf("%s %d", strings.TrimPrefix(x.URL, "https://host.test/"), x.Visit))
	}
	want := []string{"1 2", "3 2", "4 2"}
	for n := 6; n < 240; n++ {
		want = append(want, fmt.Sprintf("%d 2", n))
	}
	want = append(want, "240 3")
	if !slices.Equal(got, want) {
		t.Errorf("visits %v, want %v", got, want)
	}
	var kinds []string
	for e, err := range src.Changes(ctx, since, through) {
		check(t, err)
		kinds = append(kinds, e.Kind.String())
	}
	if len(kinds) != 240 || kinds[0] != "page.changed" || kinds[1] != "page.gone" || kinds[2] != "page.back" || kinds[239] != "page.forgotten" {
		t.Errorf("%d changes: %v", len(kinds), kinds)
	}
	for _, err := range src.Changes(ctx, feed.Cursor{Epoch: "other", ID: 1}, through) {
		if err == nil {
			t.Error("changes after a cursor of another store")
		}
	}
	now, err := s.Now(ctx)
	check(t, err)
	// The pages without a new version: the one that went, and in some formats the one that
	// came back.
	more := map[export.Format]int64{export.WARC: 2, export.WACZ: 2, export.JSONL: 2}
	for _, format := range export.Formats() {
		if format == export.Mirror { // is always whole
			continue
		}
		// The clock does not matter: changes in this very second are in it.
		o := export.Options{Format: format, Crawl: "news", Now: now.Add(-time.Hour), Since: since, Cursor: through, Software: "recrawl/test"}
		done, err := export.Export(ctx, src, t.TempDir(), o)
		check(t, err)
		if pages := map[export.Format]int64{
			export.Dir: 236, export.HTML: 237, export.Text: 237, export.Markdown: 237, export.Chunks: 237,
			export.WARC: 238, export.WACZ: 238, export.JSONL: 238,
		}[format]; done.Pages != pages || done.Versions != pages-more[format] || done.Cursor != through {
			t.Errorf("%s: %+v", format, done)
		}
		text, err := os.ReadFile(filepath.Join(done.Folder, "changes.jsonl"))
		check(t, err)
		if strings.Count(string(text), "\n") != 240 || strings.Contains(string(text), pages[5].URL+`"`) {
			t.Errorf("%s: changes\n%.500s", format, text)
		}
	}
}

// An export since a cursor also has the versions in which only the links or the decoration
// of a page differ, though they are no change: copied over the one before, it is as an
// export of everything.
func TestExportsOfVersionsWithoutAChange(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := crawltest.New(t)
	s := c.Store
	p := c.Page(store.NewURL{URL: "https://host.test/"})
	visit := func(n int, outcome crawl.Outcome, status int, body string) {
		digest := ""
		if body != "" {
			digest = archivetest.Put(t, c.Files, []byte(body))
			_, err := s.SaveVersion(ctx, store.SaveVersionParams{Version: store.VersionRecord{PageID: p.PageID, Visit: n, Digest: digest, Bytes: int64(len(body)), ContentType: "text/html"}})
			check(t, err)
		}
		_, err := s.RecordVisit(ctx, store.RecordParams{Visit: store.VisitRecord{PageID: p.PageID, Visit: n, Digest: digest, Outcome: outcome, State: crawl.Active, Status: status}})
		check(t, err)
	}
	newest := func() feed.Cursor {
		ends, err := s.FeedEnds(ctx)
		check(t, err)
		return ends.Newest
	}
	visit(1, crawl.OutcomeNew, 200, "<p>Text <a href=/a>x</a>")
	since := newest()
	visit(2, crawl.OutcomeCosmetic, 200, "<p>Text <a href=/b>x</a>")
	visit(3, crawl.OutcomeUnchanged, 304, "")
	through := newest()
	src, err := source.NewChanged(s, s, c.Files, c.Record)
	check(t, err)
	now, err := s.Now(ctx)
	check(t, err)
	for _, format := range export.Formats() {
		if format == export.Mirror { // is always whole
			continue
		}
		o := export.Options{Format: format, Crawl: "news", Now: now, Since: since, Cursor: through, Software: "recrawl/test"}
		done, err := export.Export(ctx, src, t.TempDir(), o)
		check(t, err)
		if done.Pages != 1 || done.Versions != 1 {
			t.Errorf("%s: %+v", format, done.Counts)
		}
		changes, err := os.ReadFile(filepath.Join(done.Folder, "changes.jsonl"))
		check(t, err)
		if len(changes) != 0 {
			t.Errorf("%s: it is listed as a change: %s", format, changes)
		}
		if format != export.HTML {
			continue
		}
		text, err := os.ReadFile(filepath.Join(done.Folder, "host.test/@index.html"))
		check(t, err)
		if !strings.Contains(string(text), "/b") {
			t.Errorf("the page is %s", text)
		}
	}
}
