package source_test

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
	"recrawl/internal/export/source"
	"recrawl/internal/export/warctest"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// stored puts a made-up crawl into a real store and archive.
func stored(t *testing.T, made *exporttest.Memory) (*source.Source, store.Store) {
	t.Helper()
	c := crawltest.New(t)
	for _, body := range made.Bodies {
		archivetest.Put(t, c.Files, body)
	}
	for _, x := range made.Visits {
		page, ok := c.Find(store.NewURL{URL: x.URL, Host: "host.test"})
		if !ok {
			t.Fatalf("%s is not taken", x.URL)
		}
		record1(t, c.Store, page.PageID, x)
	}
	source, err := source.New(c.Store, c.Files, c.Record)
	check(t, err)
	return source, c.Store
}

// record1 stores one visit.
func record1(t *testing.T, s store.Store, page int64, x export.Exchange) {
	t.Helper()
	if x.Found() {
		_, err := s.SaveVersion(t.Context(), store.SaveVersionParams{Version: store.VersionRecord{
			PageID: page, Visit: x.Visit, At: x.At, Digest: x.Version.Digest, Bytes: x.Version.Bytes, ContentType: x.Version.ContentType,
			Title: x.Version.Title, Heads: store.Heads{Request: string(x.Request), Response: string(x.Response), Remote: x.IP},
		}})
		check(t, err)
	}
	_, err := s.RecordVisit(t.Context(), store.RecordParams{Interval: time.Hour, Visit: store.VisitRecord{
		PageID: page, Visit: x.Visit, At: x.At, Outcome: x.Outcome, Status: x.Status, Digest: x.Digest, Bytes: x.Bytes, Duration: x.Duration,
		State: crawl.Active, Problem: x.Problem, Location: x.Location, Reasons: x.Reasons,
	}})
	check(t, err)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	var urls []string
	for i := range 250 { // more than are read at once
		urls = append(urls, "https://host.test/"+string(rune('a'+i%26))+"/"+string(rune('a'+i/26)))
	}
	made := exporttest.Crawl(1, urls, 12)
	source, _ := stored(t, made)
	exporttest.Conform(t, source)
	n := 0
	for x, err := range source.Exchanges(t.Context(), export.Query{Until: exporttest.Start.Add(100 * 365 * 24 * time.Hour)}) {
		check(t, err)
		want := made.Visits[n]
		n++
		if x.URL != want.URL || x.Visit != want.Visit || !x.At.Equal(want.At) || x.Outcome != want.Outcome || x.Digest != want.Digest ||
			x.Version.Seq != want.Version.Seq || x.Version.Digest != want.Version.Digest || x.Found() && !bytes.Equal(x.Response, want.Response) {
			t.Fatalf("visit %d: %+v, want %+v", n, x, want)
		}
	}
	if n != len(made.Visits) {
		t.Errorf("%d visits, want %d", n, len(made.Visits))
	}
}

// TestClockSetBack: the store's clock is a machine's, which may be set back.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	made := exporttest.Crawl(2, []string{"https://host.test/"}, 20)
	for i := range made.Visits {
		if i%3 == 1 {
			made.Visits[i].At = made.Visits[i].At.Add(-400 * time.Hour)
		}
		if made.Visits[i].Found() {
			made.Visits[i].Version.At = made.Visits[i].At
		}
	}
	source, _ := stored(t, made)
	exporttest.Conform(t, source)
}

// TestExports writes every format of URLs that are hard on names, and reads the
// WARC files with the strict check.
func TestExports(t *testing.T) {
	t.Parallel()
	made := exporttest.Crawl(3, exporttest.URLs(), 8)
	slices.SortStableFunc(made.Visits, func(a, b export.Exchange) int { return cmp.Compare(a.Page, b.Page) })
	source, s := stored(t, made)
	now, err := s.Now(t.Context())
	check(t, err)
	for _, format := range export.Formats() {
		out := filepath.Join(t.TempDir(), string(format))
		done, err := export.Export(t.Context(), source, out, export.Options{Format: format, Crawl: "news", Now: now.Add(100 * 365 * 24 * time.Hour), Software: "recrawl/test"})
		check(t, err)
		if format != export.WARC {
			continue
		}
		files, err := filepath.Glob(filepath.Join(done.Folder, "*.warc.gz"))
		check(t, err)
		if len(files) == 0 {
			t.Fatalf("no WARC files in %s", done.Folder)
		}
		for _, name := range files {
			f, err := os.Open(name)
			check(t, err)
			report, err := warctest.Check(f)
			check(t, err)
			if len(report.Problems) > 0 {
				t.Errorf("%s: %v", name, report.Problems)
			}
			check(t, f.Close())
		}
	}
}
