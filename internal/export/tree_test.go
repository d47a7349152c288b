package export_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
)

type indexedPage struct {
	URL         string              `json:"url"`
	Path        *string             `json:"path"`
	At          string              `json:"at"`
	Version     int                 `json:"version"`
	Digest      *string             `json:"digest"`
	Bytes       int64               `json:"bytes"`
	ContentType *string             `json:"content_type"`
	Title       *string             `json:"title"`
	Reserved    []crawl.Reservation `json:"reserved"`
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
	withheld, reserved := 0, 0
	for _, line := range jsonLines[indexedPage](t, all["index.jsonl"]) {
		x, ok := newest[line.URL]
		if !ok {
			t.Errorf("%s is listed and has no version, or is twice", line.URL)
			continue
		}
		delete(newest, line.URL)
		if line.Version != x.Version.Seq || line.At != x.At.Format("2006-01-02T15:04:05.000000000Z") || line.Bytes != x.Version.Bytes || !slices.Equal(line.Reserved, x.Reserved) {
			t.Errorf("%+v of %+v", line, x)
		}
		reserved += len(x.Reserved)
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
	if len(newest) > 0 || withheld == 0 || reserved == 0 {
		t.Errorf("not listed: %d; withheld: %d; reservations: %d", len(newest), withheld, reserved)
	}
	delete(all, "index.jsonl")
	delete(all, "export.json")
	for name := range all {
		t.Errorf("%s is not listed", name)
	}
}

// The formats for standing pages hold the newest version of only those, as body or as text,
// under the names of the tree.
func TestStanding(t *testing.T) {
	t.Parallel()
	src := exporttest.Crawl(40, exporttest.URLs(), 10)
	all := files(t, mustExport(t, src, t.TempDir(), options(export.Dir)).Folder)
	standing, lines := map[string]bool{}, 0
	for _, x := range src.Visits {
		standing[x.URL] = x.Stands
	}
	bodies := files(t, mustExport(t, src, t.TempDir(), options(export.HTML)).Folder)
	texts := files(t, mustExport(t, src, t.TempDir(), options(export.Text)).Folder)
	for _, line := range jsonLines[indexedPage](t, all["index.jsonl"]) {
		if !standing[line.URL] || line.Path == nil {
			continue
		}
		lines++
		text := strings.TrimSuffix(*line.Path, ".html") + ".txt"
		if !bytes.Equal(bodies[*line.Path], all[*line.Path]) || string(texts[text]) != strings.ToUpper(string(all[*line.Path])) {
			t.Errorf("%s: %d bytes, %d of text", line.URL, len(bodies[*line.Path]), len(texts[text]))
		}
		delete(bodies, *line.Path)
		delete(texts, text)
	}
	if lines < 10 || len(bodies) != 2 || len(texts) != 2 { // the index and the manifest are left
		t.Errorf("%d pages, and besides %d and %d files", lines, len(bodies)-2, len(texts)-2)
	}
	for name, text := range map[string][]byte{"html": bodies["index.jsonl"], "text": texts["index.jsonl"]} {
		for _, line := range jsonLines[indexedPage](t, text) {
			if !standing[line.URL] {
				t.Errorf("%s lists %s", name, line.URL)
			}
		}
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
