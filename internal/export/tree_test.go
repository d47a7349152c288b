package export_test

import (
	"bytes"
	"testing"

	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
)

type indexedPage struct {
	URL         string  `json:"url"`
	Path        *string `json:"path"`
	At          string  `json:"at"`
	Version     int     `json:"version"`
	Digest      *string `json:"digest"`
	Bytes       int64   `json:"bytes"`
	ContentType *string `json:"content_type"`
	Title       *string `json:"title"`
}

// The tree holds the newest version of each page and nothing else, and the index
// says where.
func TestTree(t *testing.T) {
	t.Parallel()
	src := exporttest.Crawl(40, exporttest.URLs(), 10)
	newest := map[string]export.Exchange{}
	for _, x := range src.Visits {
		if x.Found() {
			newest[x.URL] = x
		}
	}
	result := mustExport(t, src, t.TempDir(), options(export.Dir))
	all := files(t, result.Folder)
	withheld := 0
	for _, line := range jsonLines[indexedPage](t, all["index.jsonl"]) {
		x, ok := newest[line.URL]
		if !ok {
			t.Errorf("%s is listed and has no version, or is twice", line.URL)
			continue
		}
		delete(newest, line.URL)
		if line.Version != x.Version.Seq || line.At != x.At.Format("2006-01-02T15:04:05.000000000Z") || line.Bytes != x.Version.Bytes {
			t.Errorf("%+v of %+v", line, x)
		}
		if x.Version.Digest == "" {
			withheld++
			if line.Path != nil || line.Digest != nil || line.Title != nil {
				t.Errorf("%s may not be kept: %+v", line.URL, line)
			}
			continue
		}
		if line.Path == nil || !bytes.Equal(all[*line.Path], src.Bodies[x.Version.Digest]) || *line.Digest != x.Version.Digest {
			t.Errorf("%s: %+v", line.URL, line)
			continue
		}
		delete(all, *line.Path)
	}
	if len(newest) > 0 || withheld == 0 {
		t.Errorf("not listed: %d; withheld: %d", len(newest), withheld)
	}
	delete(all, "index.jsonl")
	delete(all, "export.json")
	for name := range all {
		t.Errorf("%s is not listed", name)
	}
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	for media, want := range map[string]string{
		"text/html; charset=utf-8": ".html", "Application/XHTML+XML": ".xhtml", "text/plain": ".txt", "": ".bin", "nonsense": ".bin", "application/pdf": ".pdf",
	} {
		src := &exporttest.Memory{}
		x := exchangeOf(src, "", "")
		x.Version.ContentType = media
		src.Visits = []export.Exchange{x}
		all := files(t, mustExport(t, src, t.TempDir(), options(export.Dir)).Folder)
		if _, ok := all["example.com/@index"+want]; !ok {
			t.Errorf("%q is not %s", media, want)
		}
	}
}
