package source_test

import (
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
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
	"recrawl/internal/urlkey"
)

const host = "https://host.test"

// sameBytes is a crawl with two pages of identical bytes, of which one is a duplicate, and with
// two pictures of identical bytes.
func sameBytes(t *testing.T) *source.Source {
	t.Helper()
	ctx := t.Context()
	c := crawltest.New(t, func(s *crawl.Spec) { s.Documents.Requisites = true })
	visited := func(path string, kind crawl.PageKind, state crawl.PageState, contentType, body string, of *store.DuplicateOf) store.PageVersion {
		id := c.Page(store.NewURL{URL: host + path, Level: 1, Kind: kind, Looks: kind == crawl.KindRequisite}).PageID
		version, err := c.Store.SaveVersion(ctx, store.SaveVersionParams{Duplicate: of, Version: store.VersionRecord{
			PageID: id, Visit: 1, Digest: archivetest.Put(t, c.Files, []byte(body)), Bytes: int64(len(body)), ContentType: contentType,
		}})
		check(t, err)
		_, err = c.Store.RecordVisit(ctx, store.RecordParams{Interval: time.Hour, Visit: store.VisitRecord{PageID: id, Visit: 1, Outcome: crawl.OutcomeNew, State: state, Status: 200}})
		check(t, err)
		return store.PageVersion{PageID: id, Version: version}
	}
	visited("/", crawl.KindPage, crawl.Active, "text/html", "<p>Home<a href=/a>a</a><a href=/b>b</a><img src=/p.png><img src=/q.png>", nil)
	original := visited("/a", crawl.KindPage, crawl.Active, "text/html", "<p>The same words.", nil)
	visited("/b", crawl.KindPage, crawl.Duplicate, "text/html", "<p>The same words.", &store.DuplicateOf{PageVersion: original, Exact: true, Resemblance: 1})
	visited("/p.png", crawl.KindRequisite, crawl.Kept, "image/png", "a picture", nil)
	visited("/q.png", crawl.KindRequisite, crawl.Kept, "image/png", "a picture", nil)
	src, err := source.New(c.Store, c.Files, c.Record)
	check(t, err)
	return src
}

// TestMirrorOfSameBytes: links to a duplicate lead to the file of the page that has its
// bytes, in an export and in a folder that is kept. Two pictures with identical bytes have
// a file each.
func TestMirrorOfSameBytes(t *testing.T) {
	t.Parallel()
	ctx, src := t.Context(), sameBytes(t)
	var leads []export.Lead
	for lead, err := range src.Leads(ctx) {
		check(t, err)
		leads = append(leads, lead)
	}
	if want := []export.Lead{{From: host + "/b", To: host + "/a"}}; !slices.Equal(leads, want) {
		t.Errorf("leads %+v, want %+v", leads, want)
	}
	kept := src.WithRequisites() // as a folder reads it
	for path, want := range map[string]string{
		"/a": "host.test/a/@page.html", "/b": "host.test/a/@page.html", "/p.png": "host.test/p.png/@page.png", "/q.png": "host.test/q.png/@page.png", "/c": "",
	} {
		u, err := urlkey.Canonical(host + path)
		check(t, err)
		if got, err := kept.Path(ctx, u); err != nil || got != want {
			t.Errorf("%s is at %q, %v, want %q", path, got, err, want)
		}
	}
	// A folder may have only some of the pages: links to the others lead to the web.
	some := kept.Choosing(func(url string) bool { return url == host+"/" })
	for path, want := range map[string]string{"/": "host.test/@index.html", "/a": "", "/b": "", "/p.png": "host.test/p.png/@page.png"} {
		u, err := urlkey.Canonical(host + path)
		check(t, err)
		if got, err := some.Path(ctx, u); err != nil || got != want {
			t.Errorf("of some pages %s is at %q, %v, want %q", path, got, err, want)
		}
	}

	done, err := export.Export(ctx, src, t.TempDir(), export.Options{Format: export.Mirror, Crawl: "news", Now: time.Now().Add(time.Hour)})
	check(t, err)
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(done.Folder, filepath.FromSlash(name)))
		check(t, err)
		return string(text)
	}
	home := read("host.test/@index.html")
	for _, want := range []string{`<a href="./a/@page.html">a</a><a href="./a/@page.html">b</a>`, `<img src="./p.png/@page.png"><img src="./q.png/@page.png">`} {
		if !strings.Contains(home, want) {
			t.Errorf("the home page lacks %s:\n%s", want, home)
		}
	}
	if read("host.test/p.png/@page.png") != "a picture" || read("host.test/q.png/@page.png") != "a picture" {
		t.Error("a picture is another")
	}
	if _, err := os.Stat(filepath.Join(done.Folder, "host.test", "b")); !os.IsNotExist(err) {
		t.Errorf("the duplicate has a file: %v", err)
	}
}
