package export_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
)

// end is after all visits of the tests' crawls.
var end = exporttest.Start.Add(10000 * time.Hour)

func options(f export.Format) export.Options {
	return export.Options{Format: f, Crawl: "news", At: end, Software: "recrawl/test", MaxFile: 20_000, SortMemory: 1000}
}

func mustExport(t testing.TB, src export.Source, out string, o export.Options) export.Result {
	t.Helper()
	result, err := export.Export(t.Context(), src, out, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// files reads a folder, by slashed names.
func files(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		all[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// same reports whether two folders hold the same, and says where they do not.
func same(t testing.TB, got, want map[string][]byte) bool {
	t.Helper()
	ok := len(got) == len(want)
	for name, text := range want {
		if have, there := got[name]; !there || !bytes.Equal(have, text) {
			t.Errorf("%s: there %v, %d bytes, want %d", name, there, len(have), len(text))
			ok = false
		}
	}
	for name := range got {
		if _, wanted := want[name]; !wanted {
			t.Errorf("%s should not be there", name)
			ok = false
		}
	}
	return ok
}

// exchangeOf is a visit that found a version, with a head.
func exchangeOf(src *exporttest.Memory, response, request string) export.Exchange {
	body := []byte("<html>")
	digest := src.Put(body)
	return export.Exchange{
		Page: 1, URL: "https://example.com/", Visit: 1, At: exporttest.Start, Outcome: crawl.OutcomeNew, Status: 200, Digest: digest,
		Request: []byte(request), Response: []byte(response),
		Version: export.Version{Seq: 1, Visit: 1, At: exporttest.Start, Digest: digest, Bytes: 6, ContentType: "text/html"},
	}
}

func TestMemoryConforms(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		exporttest.Conform(t, exporttest.Crawl(seed, exporttest.URLs(), 6))
	}
}

// The same source and options give the same bytes, wherever they are written.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	for _, f := range export.Formats() {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			src := exporttest.Crawl(1, exporttest.URLs(), 8)
			first, second := filepath.Join(t.TempDir(), "new", "folder"), t.TempDir()
			a := mustExport(t, src, first, options(f))
			b := mustExport(t, src, second, options(f))
			if a.Folder != filepath.Join(first, "2028-01-12T100338Z") || a.Counts != b.Counts || a.Already || b.Already {
				t.Errorf("%+v and %+v", a, b)
			}
			// Pages without a version are not in a tree.
			if pages := int64(len(exporttest.URLs())); a.Pages > pages || a.Pages < pages && (f == export.WARC || f == export.WACZ || f == export.JSONL) || a.Versions == 0 || a.Missing != 0 || a.Bytes == 0 {
				t.Errorf("counts %+v", a.Counts)
			}
			want := files(t, first)
			same(t, files(t, second), want)
			for name := range want {
				if strings.Contains(name, ".work") || strings.Contains(name, ".part") {
					t.Errorf("%s was left", name)
				}
			}
			again := mustExport(t, src, first, options(f))
			if !again.Already || again.Counts != a.Counts || again.Folder != a.Folder {
				t.Errorf("repeated: %+v", again)
			}
			same(t, files(t, first), want)
		})
	}
}

// Visits after the export's time are not in it, whenever it is made.
func TestAt(t *testing.T) {
	t.Parallel()
	whole := exporttest.Crawl(2, exporttest.URLs(), 8)
	until := exporttest.Start.Add(48 * time.Hour).Truncate(time.Second)
	then := &exporttest.Memory{Bodies: whole.Bodies}
	for _, x := range whole.Visits {
		if !x.At.After(until) {
			then.Visits = append(then.Visits, x)
		}
	}
	if len(then.Visits) == 0 || len(then.Visits) == len(whole.Visits) {
		t.Fatal("the time cuts nothing")
	}
	for _, f := range export.Formats() {
		o := options(f)
		o.At = until.Add(999 * time.Millisecond)
		was, is := t.TempDir(), t.TempDir()
		mustExport(t, then, was, o)
		result := mustExport(t, whole, is, o)
		if !result.At.Equal(until) {
			t.Errorf("%s: of %v, want %v", f, result.At, until)
		}
		same(t, files(t, is), files(t, was))
	}
}

func TestSnapshotsLieBesideEachOther(t *testing.T) {
	t.Parallel()
	src, out := exporttest.Crawl(3, exporttest.URLs(), 8), t.TempDir()
	o := options(export.Dir)
	o.At, o.Now = time.Time{}, end
	first := mustExport(t, src, out, o)
	o.Now = end.Add(time.Minute)
	second := mustExport(t, src, out, o)
	if first.Folder == second.Folder || second.Already {
		t.Errorf("%+v and %+v", first, second)
	}
}

func TestEmptyCrawl(t *testing.T) {
	t.Parallel()
	for _, f := range export.Formats() {
		result := mustExport(t, &exporttest.Memory{}, t.TempDir(), options(f))
		if result.Counts != (export.Counts{}) {
			t.Errorf("%s: %+v", f, result)
		}
		names := []string{}
		for name := range files(t, result.Folder) {
			names = append(names, name)
		}
		slices.Sort(names)
		want := map[export.Format][]string{
			export.Dir:      {"export.json", "index.jsonl"},
			export.HTML:     {"export.json", "index.jsonl"},
			export.Text:     {"export.json", "index.jsonl"},
			export.Markdown: {"export.json", "index.jsonl"},
			export.Chunks:   {"export.json", "index.jsonl"},
			export.Mirror:   {"export.json", "index.jsonl"},
			export.WACZ:     {"export.json", "news-20280112100338.wacz"},
			export.WARC:     {"export.json", "index.cdxj", "news-20280112100338-00000.warc.gz"},
			export.JSONL:    {"export.json", "versions.jsonl", "visits.jsonl"},
		}[f]
		if !slices.Equal(names, want) {
			t.Errorf("%s: %v, want %v", f, names, want)
		}
	}
}

// A body that is gone is counted and does not end the export.
func TestMissingBodies(t *testing.T) {
	t.Parallel()
	for _, f := range export.Formats() {
		src := exporttest.Crawl(4, exporttest.URLs(), 8)
		n := mustExport(t, src, t.TempDir(), options(f)).Versions
		clear(src.Bodies)
		result := mustExport(t, src, t.TempDir(), options(f))
		if result.Versions != 0 || result.Missing != n {
			t.Errorf("%s: %+v, want %d missing", f, result.Counts, n)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	src, o := exporttest.Crawl(5, exporttest.URLs(), 3), options(export.JSONL)
	var seen []export.Counts
	o.Progress = func(c export.Counts) { seen = append(seen, c) }
	result := mustExport(t, src, t.TempDir(), o)
	if len(seen) != len(exporttest.URLs()) || seen[len(seen)-1] != result.Counts || seen[0].Pages != 1 {
		t.Errorf("%d calls, the last %+v of %+v", len(seen), seen[len(seen)-1], result.Counts)
	}
}

// A page with thousands of visits, and a mirror whose pages are only listed yet, are not silent.
func TestProgressWithinPages(t *testing.T) {
	t.Parallel()
	const visits = 2500
	for _, format := range []export.Format{export.JSONL, export.Mirror} {
		src, o := exporttest.Crawl(5, exporttest.URLs()[:1], visits), options(format)
		said, listed := 0, 0
		o.Progress = func(c export.Counts) {
			if c.Pages == 0 {
				said++
			}
		}
		o.Listing = func(int64) { listed++ }
		mustExport(t, src, t.TempDir(), o)
		if want := format == export.Mirror; said == 0 && format == export.JSONL || want != (listed > 0) {
			t.Errorf("%s: %d words in the page, %d while listing", format, said, listed)
		}
	}
}

// failing is a source that breaks after some visits.
type failing struct {
	*exporttest.Memory
	err error
}

func (f failing) Exchanges(ctx context.Context, q export.Query) iter.Seq2[export.Exchange, error] {
	return func(yield func(export.Exchange, error) bool) {
		n := 0
		for x, err := range f.Memory.Exchanges(ctx, q) {
			if n++; n == 5 {
				err = f.err
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// mustFail exports and returns the error, after which nothing has its final name.
func mustFail(t *testing.T, src export.Source) error {
	t.Helper()
	out := t.TempDir()
	_, err := export.Export(t.Context(), src, out, options(export.WARC))
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Fatalf("error %v", err)
	}
	for name := range files(t, out) {
		if !strings.Contains(name, ".part/") {
			t.Errorf("%s has its final name", name)
		}
	}
	return err
}

func TestSourceFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("the database broke")
	if err := mustFail(t, failing{exporttest.Crawl(6, exporttest.URLs(), 9), broken}); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// A body that is damaged is left out like one that is gone, in all formats, and the two are
// counted apart. Nothing of it is in the export.
func TestDamagedBodies(t *testing.T) {
	t.Parallel()
	for _, f := range export.Formats() {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			damaged, gone := exporttest.Crawl(6, exporttest.URLs(), 9), exporttest.Crawl(6, exporttest.URLs(), 9)
			some := slices.Sorted(maps.Keys(damaged.Bodies))
			for _, digest := range some[:len(some)/2] {
				damaged.Bodies[digest] = append(slices.Clone(damaged.Bodies[digest]), '!')
				delete(gone.Bodies, digest)
			}
			got, want := mustExport(t, damaged, t.TempDir(), options(f)), mustExport(t, gone, t.TempDir(), options(f))
			if got.Damaged != want.Missing || got.Damaged < 5 || got.Missing != 0 || got.Versions != want.Versions || got.Bytes != want.Bytes {
				t.Errorf("%+v, and without the bodies %+v", got.Counts, want.Counts)
			}
			have, wanted := files(t, got.Folder), files(t, want.Folder)
			if text := string(have["export.json"]); !strings.Contains(text, fmt.Sprintf(`"damaged": %d`, got.Damaged)) {
				t.Errorf("export.json is %s", text)
			}
			delete(have, "export.json")
			delete(wanted, "export.json")
			same(t, have, wanted)
			noEmptyFolders(t, got.Folder)
		})
	}
}

func noEmptyFolders(t *testing.T, folder string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		inside, err := os.ReadDir(path)
		if len(inside) == 0 {
			t.Errorf("%s is empty", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSourceContradictsItself(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(all []export.Exchange, x *export.Exchange){
		"pages go back":              func(_ []export.Exchange, x *export.Exchange) { x.Page-- },
		"visits go back":             func(_ []export.Exchange, x *export.Exchange) { x.Visit = 1 },
		"times go back":              func(_ []export.Exchange, x *export.Exchange) { x.At = x.At.Add(-10000 * time.Hour) },
		"a page changes its address": func(_ []export.Exchange, x *export.Exchange) { x.URL += "x" },
		"a visit without a number":   func(_ []export.Exchange, x *export.Exchange) { x.Visit = 0 },
		"a version of a later visit": func(_ []export.Exchange, x *export.Exchange) { x.Version.Visit = x.Visit + 1 },
		"versions of another size": func(all []export.Exchange, _ *export.Exchange) {
			for i := range all {
				all[i].Version.Bytes++
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := exporttest.Crawl(6, exporttest.URLs(), 9)
			i := slices.IndexFunc(src.Visits, func(x export.Exchange) bool { return x.Visit == 4 })
			change(src.Visits, &src.Visits[i])
			if err := mustFail(t, src); !errors.Is(err, export.ErrSource) {
				t.Error(err)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	src, o, out := exporttest.Crawl(7, exporttest.URLs(), 3), options(export.WARC), t.TempDir()
	o.Progress = func(c export.Counts) {
		if c.Pages == 5 {
			cancel()
		}
	}
	if _, err := export.Export(ctx, src, out, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	o.Progress = nil
	mustExport(t, src, out, o)
	want := t.TempDir()
	mustExport(t, src, want, o)
	same(t, files(t, out), files(t, want))
}
