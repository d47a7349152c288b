package export_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
)

// unfinished leaves an export that was killed.
func unfinished(t *testing.T, src export.Source, out string, o export.Options) {
	t.Helper()
	if _, err := export.ExportWith(t.Context(), src, out, o, 3, killer(40)); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
}

// Anything else in a folder is left alone, and reported in one line.
func TestForeignFolders(t *testing.T) {
	t.Parallel()
	src := exporttest.Crawl(30, exporttest.URLs(), 3)
	write := func(t *testing.T, parts ...string) {
		t.Helper()
		path := filepath.Join(parts...)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("mine"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	const name = "2028-01-12T100338Z"
	for want, prepare := range map[string]func(t *testing.T, out string){
		`holds "notes.txt", which is no export`:  func(t *testing.T, out string) { write(t, out, "notes.txt") },
		`holds "2026", which is no export`:       func(t *testing.T, out string) { write(t, out, "2026", "a") },
		"not a directory":                        func(t *testing.T, out string) { write(t, out) },
		"holds " + name + ", which is no export": func(t *testing.T, out string) { write(t, out, name, "a") },
		"holds " + name + ".part, which is no export": func(t *testing.T, out string) {
			write(t, out, name+".part", "a")
		},
		`holds "` + name + `", which is no export`: func(t *testing.T, out string) { write(t, out, name) },
		"a jsonl export of crawl news": func(t *testing.T, out string) {
			mustExport(t, src, out, options(export.JSONL))
		},
		"a markdown export of the articles of crawl news": func(t *testing.T, out string) {
			o := options(export.Markdown)
			o.Article = true
			mustExport(t, src, out, o)
		},
		"a warc export of crawl other": func(t *testing.T, out string) {
			o := options(export.WARC)
			o.Crawl = "other"
			unfinished(t, src, out, o)
		},
		"holds the unfinished 2028-01-12T100138Z.part": func(t *testing.T, out string) {
			o := options(export.WARC)
			o.At = end.Add(-2 * time.Minute)
			unfinished(t, src, out, o)
		},
		"with files of 7 bytes": func(t *testing.T, out string) {
			o := options(export.WARC)
			o.MaxFile = 7
			mustExport(t, src, out, o)
		},
		"with files of 8 bytes": func(t *testing.T, out string) {
			o := options(export.WARC)
			o.MaxFile = 8
			unfinished(t, src, out, o)
		},
		"holds two unfinished exports": func(t *testing.T, out string) {
			o := options(export.WARC)
			unfinished(t, src, out, o)
			o.At = end.Add(time.Hour)
			elsewhere := filepath.Join(t.TempDir())
			unfinished(t, src, elsewhere, o)
			const other = "2028-01-12T110338Z.part"
			if err := os.Rename(filepath.Join(elsewhere, other), filepath.Join(out, other)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out")
			prepare(t, out)
			before := map[string][]byte{}
			if info, err := os.Stat(out); err == nil && info.IsDir() {
				before = files(t, out)
			}
			_, err := export.Export(t.Context(), src, out, options(export.WARC))
			if !errors.Is(err, export.ErrForeign) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
			if len(before) > 0 {
				same(t, files(t, out), before)
			}
		})
	}
}

// A folder of documents is of articles alone or of main texts.
func TestArticlesApart(t *testing.T) {
	t.Parallel()
	src, out := exporttest.Crawl(32, exporttest.URLs(), 3), t.TempDir()
	mustExport(t, src, out, options(export.Markdown))
	o := options(export.Markdown)
	o.Article = true
	if _, err := export.Export(t.Context(), src, out, o); !errors.Is(err, export.ErrForeign) || !strings.Contains(err.Error(), "a markdown export of crawl news") {
		t.Errorf("%v", err)
	}
	o.Format = export.Text
	if _, err := export.Export(t.Context(), src, t.TempDir(), o); err == nil || !strings.Contains(err.Error(), "markdown and chunks") {
		t.Errorf("an article as text: %v", err)
	}
}

// An unfinished export is continued with its own time unless another is named.
func TestContinuesWithItsTime(t *testing.T) {
	t.Parallel()
	src, out := exporttest.Crawl(31, exporttest.URLs(), 6), t.TempDir()
	o := options(export.JSONL)
	unfinished(t, src, out, o)
	o.At, o.Now, o.Software = time.Time{}, end.Add(time.Hour), "recrawl/later"
	if result := mustExport(t, src, out, o); !result.At.Equal(end.Truncate(time.Second)) {
		t.Errorf("continued with the time %v", result.At)
	}
	whole := t.TempDir()
	mustExport(t, src, whole, options(export.JSONL))
	same(t, files(t, out), files(t, whole))
}

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	src, out, o := exporttest.Crawl(32, exporttest.URLs(), 3), t.TempDir(), options(export.JSONL)
	tried := false
	o.Progress = func(export.Counts) {
		if tried {
			return
		}
		tried = true
		if _, err := export.Export(t.Context(), src, out, options(export.JSONL)); !errors.Is(err, export.ErrBusy) {
			t.Errorf("a second export at the same time: %v", err)
		}
	}
	mustExport(t, src, out, o)
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	src, out, o := exporttest.Crawl(33, exporttest.URLs(), 6), t.TempDir(), options(export.JSONL)
	if _, err := export.ExportWith(t.Context(), src, out, o, 1, killer(60)); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	visits := filepath.Join(out, "2028-01-12T100338Z.part", "visits.jsonl")
	if err := os.Truncate(visits, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := export.Export(t.Context(), src, out, o); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("%v", err)
	}
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*export.Options){
		"no format": func(o *export.Options) { o.Format = "zip" },
		"no crawl":  func(o *export.Options) { o.Crawl = "" },
		"a path":    func(o *export.Options) { o.Crawl = "../news" },
		"no time":   func(o *export.Options) { o.At = time.Time{} },
		"no year":   func(o *export.Options) { o.At = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		o := options(export.JSONL)
		change(&o)
		out := t.TempDir()
		if _, err := export.Export(t.Context(), exporttest.Crawl(34, exporttest.URLs(), 3), out, o); err == nil || len(files(t, out)) > 0 {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// An export that ended before its first manifest leaves nothing for ever.
func TestNeverBegunIsRemoved(t *testing.T) {
	t.Parallel()
	src, out, o := exporttest.Crawl(35, exporttest.URLs(), 3), t.TempDir(), options(export.JSONL)
	const empty, cut = "2028-01-11T000000Z.part", "2028-01-11T000001Z.part"
	if err := errors.Join(os.Mkdir(filepath.Join(out, empty), 0o755), os.MkdirAll(filepath.Join(out, cut, ".work"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, cut, ".work", "export.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := export.Export(t.Context(), src, out, o); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{empty, cut} {
		if _, err := os.Stat(filepath.Join(out, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}
