package fts_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/search"
	"recrawl/internal/search/fts"
	"recrawl/internal/search/searchtest"
)

func TestIndex(t *testing.T) {
	t.Parallel()
	searchtest.Run(t, func(t *testing.T) search.Index {
		t.Helper()
		x, err := fts.Open(t.Context(), filepath.Join(t.TempDir(), fts.Name), fts.Options{Store: "s1"})
		if err != nil {
			t.Fatal(err)
		}
		return x
	})
}

func open(t *testing.T, path string, o fts.Options) *fts.Index {
	t.Helper()
	x, err := fts.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

func put(t *testing.T, x search.Index, docs ...search.Document) {
	t.Helper()
	if err := x.Put(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
}

// Nothing is written to a file that is not ours.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ours := filepath.Join(dir, "ours.db")
	put(t, open(t, ours, fts.Options{Store: "s1"}), search.Document{Crawl: 1, Page: 1, Text: "kiwi"})
	text := filepath.Join(dir, "text.db")
	other := filepath.Join(dir, "other.db")
	db, err := sql.Open("sqlite", other)
	if err == nil {
		_, err = db.ExecContext(t.Context(), "CREATE TABLE notes (a); CREATE TABLE about (b)")
	}
	if err = errors.Join(err, db.Close(), os.WriteFile(text, bytes.Repeat([]byte("my notes, which are no database\n"), 100), 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{ours: "another store", text: "delete the file", other: "another program"} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, readOnly := range []bool{false, true} {
			x, err := fts.Open(t.Context(), path, fts.Options{Store: "s2", ReadOnly: readOnly})
			if !errors.Is(err, search.ErrForeign) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) || x != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s was written, %v", path, err)
		}
	}
	if _, err := fts.Open(t.Context(), filepath.Join(dir, "none.db"), fts.Options{ReadOnly: true}); !errors.Is(err, search.ErrNone) {
		t.Errorf("none: %v", err)
	}
}

// A file that was cut off before it had tables, by a kill or a full disk, is no index yet.
func TestUnfinishedFile(t *testing.T) {
	t.Parallel()
	for _, make := range []string{"", "PRAGMA journal_mode = WAL"} {
		path := filepath.Join(t.TempDir(), fts.Name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", path)
		if err == nil {
			_, err = db.ExecContext(t.Context(), make)
		}
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := fts.Open(t.Context(), path, fts.Options{Store: "s1", ReadOnly: true}); !errors.Is(err, search.ErrNone) {
			t.Errorf("after %q: %v", make, err)
		}
		put(t, open(t, path, fts.Options{Store: "s1"}), search.Document{Crawl: 1, Page: 1, Text: "kiwi"})
	}
}

// An index of an older format is begun anew, one of a newer one stays as it is.
func TestFormats(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), fts.Name)
	set := func(format int) {
		t.Helper()
		db, err := sql.Open("sqlite", path)
		if err == nil {
			_, err = db.ExecContext(t.Context(), "UPDATE about SET format = ?", format)
		}
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	x := open(t, path, fts.Options{Store: "s1"})
	put(t, x, search.Document{Crawl: 1, Page: 1, Text: "kiwi"}, search.Document{Crawl: 2, Page: 1, Text: "kiwi"})
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	set(0)
	if _, err := fts.Open(t.Context(), path, fts.Options{Store: "s1", ReadOnly: true}); !errors.Is(err, search.ErrNone) {
		t.Errorf("an older one is asked: %v", err)
	}
	x = open(t, path, fts.Options{Store: "s1"})
	if held, err := x.Crawls(t.Context()); err != nil || len(held) != 0 {
		t.Errorf("an older one holds %v, %v", held, err)
	}
	put(t, x, search.Document{Crawl: 1, Page: 1, Text: "lemon"})
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	set(99)
	for _, readOnly := range []bool{false, true} {
		if _, err := fts.Open(t.Context(), path, fts.Options{Store: "s1", ReadOnly: readOnly}); !errors.Is(err, search.ErrForeign) || !strings.Contains(err.Error(), "newer release") {
			t.Errorf("a newer one: %v", err)
		}
	}
}

// Forgotten and purged words are in no file any more.
func TestPurge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), fts.Name)
	x := open(t, path, fts.Options{Store: "s1"})
	var docs []search.Document
	for i := range 5000 {
		docs = append(docs, search.Document{Crawl: 1, Page: int64(i), URL: fmt.Sprintf("https://a.test/%d", i), Host: "a.test", Text: fmt.Sprintf("word%d and others", i)})
	}
	docs[77].URL, docs[77].Title, docs[77].Text = "https://a.test/unspeakable", "Mentionable", "unspoken things"
	for some := range slices.Chunk(docs, 100) { // many parts
		put(t, x, some...)
	}
	secret := func() (found []string) {
		for _, suffix := range []string{"", "-wal"} {
			content, err := os.ReadFile(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{"nspeakable", "entionable", "nspoken"} {
				if bytes.Contains(content, []byte(word)) {
					found = append(found, word+" in "+fts.Name+suffix)
				}
			}
		}
		return found
	}
	if len(secret()) == 0 {
		t.Fatal("what was put stands nowhere")
	}
	if n, err := x.Forget(t.Context(), search.Target{URL: "https://a.test/unspeakable"}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if err := x.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := secret(); len(found) > 0 {
		t.Errorf("still there: %v", found)
	}
	if r, err := x.Query(t.Context(), search.Query{Crawl: 1, Words: "word78"}); err != nil || len(r.Hits) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Queries do not wait for writers, and see the state before.
func TestAskedWhileWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), fts.Name)
	x := open(t, path, fts.Options{Store: "s1"})
	put(t, x, search.Document{Crawl: 1, Page: 1, Text: "kiwi"})
	asks := open(t, path, fts.Options{Store: "s1", ReadOnly: true})
	err := x.Together(t.Context(), 1, func(in search.Index) error {
		put(t, in, search.Document{Crawl: 1, Page: 2, Text: "kiwi tree"})
		r, err := asks.Query(t.Context(), search.Query{Crawl: 1, Words: "kiwi"})
		if len(r.Hits) != 1 {
			t.Errorf("%+v", r)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := asks.Query(t.Context(), search.Query{Crawl: 1, Words: "kiwi"}); err != nil || len(r.Hits) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if err := asks.Put(t.Context(), []search.Document{{Crawl: 1, Page: 3}}); err == nil {
		t.Error("an index that was opened for questions is written")
	}
}

// A file may be deleted at any time: nothing of its contents comes back from the log beside
// it.
func TestDeletedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), fts.Name)
	put(t, open(t, path, fts.Options{Store: "s1"}), search.Document{Crawl: 1, Page: 1, Text: "kiwi"})
	if _, err := os.Stat(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	x := open(t, path, fts.Options{Store: "s1"})
	if held, err := x.Crawls(t.Context()); err != nil || len(held) != 0 {
		t.Errorf("%v, %v", held, err)
	}
	put(t, x, search.Document{Crawl: 1, Page: 2, Text: "lemon"})
	for words, want := range map[string]int{"kiwi": 0, "lemon": 1} {
		if r, err := x.Query(t.Context(), search.Query{Crawl: 1, Words: words}); err != nil || len(r.Hits) != want {
			t.Errorf("%s: %+v, %v", words, r, err)
		}
	}
}
