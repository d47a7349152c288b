package folder

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/sink"
)

// stopped checks that an error pauses the sink, with one line.
func stopped(t *testing.T, err error, code, want string) {
	t.Helper()
	var stop *sink.Stop
	if !errors.As(err, &stop) || stop.Code != code || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want %s: %s", err, code, want)
	}
}

// A folder that is not ours is left as it is.
func TestForeign(t *testing.T) {
	t.Parallel()
	write := func(t *testing.T, name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		prepare    func(t *testing.T, root string, w *world)
		code, want string
	}{
		"a file":    {func(t *testing.T, root string, _ *world) { write(t, root+"/news/notes.txt", "mine") }, CodeForeign, `holds "notes.txt", which is not ours`},
		"a marker":  {func(t *testing.T, root string, _ *world) { write(t, root+"/news/"+markerName, "{}") }, CodeForeign, "does not read"},
		"no marker": {func(t *testing.T, root string, _ *world) { write(t, root+"/news/"+shardName(0), "") }, CodeForeign, "has lost its marker"},
		"another crawl": {func(t *testing.T, root string, w *world) {
			s := w.sender(t, root, export.HTML, nil)
			s.want.Crawl = "other"
			if err := fill(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}, CodeForeign, "is kept for crawl other"},
		"another format": {func(t *testing.T, root string, w *world) {
			if err := fill(t.Context(), w.sender(t, root, export.Text, nil)); err != nil {
				t.Fatal(err)
			}
		}, CodeForeign, "is kept for crawl news as text"},
		"a damaged index": {func(t *testing.T, root string, w *world) {
			if err := fill(t.Context(), w.sender(t, root, export.HTML, nil)); err != nil {
				t.Fatal(err)
			}
			write(t, root+"/news/"+shardName(shardOf(w.last)), "{\"page\":")
		}, CodeDamaged, "empty it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, root := newWorld(), t.TempDir()
			w.register("https://example.com/a", rand.New(rand.NewPCG(1, 1)))
			c.prepare(t, root, w)
			before := files(t, root)
			if c.code == CodeForeign {
				stopped(t, w.sender(t, root, export.HTML, nil).Check(t.Context()), c.code, c.want)
			}
			stopped(t, w.sender(t, root, export.HTML, nil).Send(t.Context(), w.feed[0]), c.code, c.want)
			after := files(t, root)
			for name, text := range before {
				if after[name] != text {
					t.Errorf("%s is %q, was %q", name, after[name], text)
				}
			}
			if len(after) != len(before) {
				t.Errorf("%d files, were %d", len(after), len(before))
			}
		})
	}
}

// Nothing is written or removed through a symbolic link, wherever it leads.
func TestSymbolicLinks(t *testing.T) {
	t.Parallel()
	for _, inside := range []bool{true, false} {
		w, root, elsewhere := newWorld(), t.TempDir(), t.TempDir()
		page := w.register("https://example.com/a/b", rand.New(rand.NewPCG(2, 2)))
		s := w.sender(t, root, export.HTML, nil)
		if err := fill(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if inside {
			elsewhere = filepath.Join(root, "news", "elsewhere")
		}
		kept := filepath.Join(root, "news", "example.com")
		if err := errors.Join(os.RemoveAll(elsewhere), os.Rename(kept, elsewhere), os.Symlink(elsewhere, kept)); err != nil {
			t.Fatal(err)
		}
		before := files(t, elsewhere)
		w.change(page, rand.New(rand.NewPCG(3, 3)))
		stopped(t, s.Send(t.Context(), w.feed[1]), CodeForeign, "holds example.com, which is no folder")
		w.forget(page)
		if err := s.Send(t.Context(), w.feed[2]); err != nil {
			t.Errorf("%v", err)
		}
		for name, text := range files(t, elsewhere) {
			if before[name] != text {
				t.Errorf("%s was written", name)
			}
		}
		if len(files(t, elsewhere)) != len(before) {
			t.Error("something was removed, or added")
		}
	}
	w, root, outside := newWorld(), t.TempDir(), t.TempDir()
	w.register("https://example.com/a", rand.New(rand.NewPCG(4, 4)))
	if err := os.Symlink(outside, filepath.Join(root, "news")); err != nil {
		t.Fatal(err)
	}
	stopped(t, w.sender(t, root, export.HTML, nil).Send(t.Context(), w.feed[0]), CodeForeign, "holds news, which is no folder")
	if got := files(t, outside); len(got) > 0 {
		t.Errorf("written outside: %q", got)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	folders := map[string]string{"docs": t.TempDir()}
	for to, want := range map[string]string{
		"other": `there is no folder "other"`, "": "there is no folder", "docs/..": "no folder below", "docs//a": "no folder below", "docs/a/../b": "no folder below",
		"docs/.recrawl": "no folder below", "/etc": "there is no folder", "docs/": "no folder below", `docs/a\b`: "no folder below",
	} {
		_, err := New(crawl.SinkSpec{To: to}, folders, Collection{})
		stopped(t, err, CodeUnknown, want)
	}
	_, err := New(crawl.SinkSpec{To: "docs", Format: "warc"}, folders, Collection{})
	stopped(t, err, CodeFormat, `"warc" is no format of a folder: write one of [html text markdown chunks mirror]`)
	w := newWorld()
	w.register("https://example.com/a", rand.New(rand.NewPCG(4, 4)))
	s, err := New(crawl.SinkSpec{To: "docs/a/b.c"}, map[string]string{"docs": filepath.Join(t.TempDir(), "gone")}, Collection{Source: w, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(t.Context(), w.feed[0]); err == nil || errors.As(err, new(*sink.Stop)) {
		t.Errorf("the operator's folder is not there: %v", err)
	}
}
