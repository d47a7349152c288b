package export_test

import (
	"bytes"
	"testing"

	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
)

// The index is the same however little memory sorting has.
func TestSortMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a long list")
	}
	t.Parallel()
	src, o := exporttest.Crawl(42, exporttest.URLs(), 12), options(export.WARC)
	o.SortMemory = 0
	want := files(t, mustExport(t, src, t.TempDir(), o).Folder)
	if n := bytes.Count(want["index.cdxj"], []byte("\n")); n < 130 {
		t.Fatalf("%d lines need no second merge", n)
	}
	for _, o.SortMemory = range []int{1, 500, 10_000} {
		same(t, files(t, mustExport(t, src, t.TempDir(), o).Folder), want)
	}
}

func TestSurt(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"https://www.example.org/index.html":   "org,example)/index.html",
		"http://WWW2.Example.org:8080/A?z&a=B": "org,example:8080)/a?a=b&z",
		"http://wwwx.example.org/":             "org,example,wwwx)/",
		"http://127.0.0.1:8000/":               "1,0,0,127:8000)/",
		"http://[::1]:8000/a":                  "[::1]:8000)/a",
		"https://example.org/%C3%A9%2F?":       "org,example)/%c3%a9%2f",
		"http://localhost/":                    "localhost)/",
	} {
		if got := export.Surt(uri); got != want {
			t.Errorf("%s: %s, want %s", uri, got, want)
		}
	}
}
