package export_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/document"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
)

// The formats of documents have a file for each page that stands and has text: its front
// matter and Markdown, or its chunks.
func TestDocuments(t *testing.T) {
	t.Parallel()
	src := exporttest.Crawl(40, exporttest.URLs(), 10)
	newest := map[string]export.Exchange{}
	for _, x := range src.Visits {
		if x.Found() && x.Stands {
			newest[x.URL] = x
		}
	}
	for _, f := range []export.Format{export.Markdown, export.Chunks} {
		all := files(t, mustExport(t, src, t.TempDir(), options(f)).Folder)
		lines := jsonLines[indexedPage](t, all["index.jsonl"])
		if len(lines) != len(newest) || len(lines) < 10 {
			t.Errorf("%s: %d pages, want %d", f, len(lines), len(newest))
		}
		for _, line := range lines {
			x := newest[line.URL]
			if x.Version.Digest == "" {
				continue
			}
			d, err := src.Read(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			if line.Path == nil {
				t.Errorf("%s: %s has no file", f, line.URL)
				continue
			}
			file := string(all[*line.Path])
			delete(all, *line.Path)
			if f == export.Markdown {
				if file != d.File() || !strings.HasSuffix(*line.Path, ".md") || !strings.Contains(file, "\nversion: ") {
					t.Errorf("%s: %.200s", *line.Path, file)
				}
				continue
			}
			chunks := d.Chunks()
			got := jsonLines[document.Chunk](t, []byte(file))
			if len(got) != len(chunks) || len(got) == 0 || got[0].ID != chunks[0].ID || got[0].Text != chunks[0].Text || !slices.Equal(got[0].Reserved, chunks[0].Reserved) || len(got[0].Reserved) != len(x.Reserved) || !strings.HasSuffix(*line.Path, ".jsonl") {
				t.Errorf("%s: %.200s", *line.Path, file)
			}
		}
		if len(all) != 2 { // the index and the manifest
			t.Errorf("%s: %d files besides", f, len(all)-2)
		}
	}
}

// A signature changes whenever the file does.
func TestSignature(t *testing.T) {
	t.Parallel()
	src := &exporttest.Memory{}
	x := exchangeOf(src, "", "")
	x.Version.Fetched, x.TextAt = x.At, x.At
	markdown, chunks, text := export.Signature(export.Markdown, x), export.Signature(export.Chunks, x), export.Signature(export.Text, x)
	for name, change := range map[string]func(*export.Exchange){
		"fetched":  func(y *export.Exchange) { y.Version.Fetched = y.At.Add(time.Second) },
		"changed":  func(y *export.Exchange) { y.TextAt = y.At.Add(time.Second) },
		"version":  func(y *export.Exchange) { y.Version.Seq++ },
		"title":    func(y *export.Exchange) { y.Version.Title = "another" },
		"language": func(y *export.Exchange) { y.Version.Language = "fr" },
	} {
		y := x
		change(&y)
		if export.Signature(export.Markdown, y) == markdown || export.Signature(export.Text, y) != text {
			t.Errorf("%s: the signature of Markdown stays, or that of a text does not", name)
		}
		if (export.Signature(export.Chunks, y) == chunks) != (name != "version") { // with which reservations may come
			t.Errorf("%s: the signature of chunks", name)
		}
	}
	y := x
	y.Version.Digest = src.Put([]byte("<html>another"))
	y.Visit++ // one that found the same says nothing new
	if export.Signature(export.Markdown, y) == markdown || export.Signature(export.Chunks, y) == chunks || export.Signature(export.Text, y) == text {
		t.Error("another body, and the same signature")
	}
	y.Version.Digest = x.Version.Digest
	y.Reserved = []crawl.Reservation{{Use: crawl.UseSearch}} // as follows from the version's number
	if export.Signature(export.Markdown, y) != markdown || export.Signature(export.Chunks, y) != chunks {
		t.Error("another visit that found nothing new, and another signature")
	}
}
