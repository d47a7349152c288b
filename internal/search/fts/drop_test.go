package fts

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"recrawl/internal/search"
)

// A large index is dropped in steps. Between any two of them others write, and wherever it is cut
// off, the crawl is there with an index that must be filled, and the next drop goes on.
func TestDropInSteps(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), Name)
	open := func() *Index {
		x, err := Open(t.Context(), path, Options{Store: "s1"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = x.Close() })
		return x
	}
	x, other := open(), open()
	doc := func(crawl, page int64) search.Document {
		return search.Document{Crawl: crawl, Page: page, Text: fmt.Sprintf("kiwi lemon w%d", page)}
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for page := range int64(40) {
		check(x.Put(t.Context(), []search.Document{doc(1, page)}))
	}
	check(x.SetCursor(t.Context(), 1, "filled"))
	cut := errors.New("cut off")
	cuts := 0
	for done := false; !done; cuts++ {
		if cuts > 200 {
			t.Fatal("it never ends")
		}
		taken := 0
		err := x.drop(t.Context(), 1, steps{docs: 10, parts: 2, between: func() error {
			check(other.Put(t.Context(), []search.Document{doc(2, int64(cuts))}))
			if taken++; taken > 1 {
				return cut
			}
			return nil
		}})
		if done = err == nil; !done && !errors.Is(err, cut) {
			t.Fatal(err)
		}
		if crawls, err := other.Crawls(t.Context()); err != nil || slices.Contains(crawls, 1) == done {
			t.Fatalf("after %d cuts there are %v, %v", cuts, crawls, err)
		}
		if cursor, err := other.Cursor(t.Context(), 1); err != nil || cursor != "" {
			t.Fatalf("after %d cuts it is filled up to %q, %v", cuts, cursor, err)
		}
		if _, err := other.Query(t.Context(), search.Query{Crawl: 1, Words: "kiwi lemon"}); err != nil {
			t.Fatalf("after %d cuts: %v", cuts, err)
		}
		check(other.Purge(t.Context()))
	}
	if cuts < 3 {
		t.Errorf("only %d steps", cuts)
	}
}

// A crawl whose drop was cut off is filled again as if it had ended.
func TestDropThatWasCutOffIsFilled(t *testing.T) {
	t.Parallel()
	for after := range 8 {
		x, err := Open(t.Context(), filepath.Join(t.TempDir(), Name), Options{Store: "s1"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = x.Close() })
		put := func(pages ...int64) {
			t.Helper()
			for _, page := range pages {
				if err := x.Put(t.Context(), []search.Document{{Crawl: 1, Page: page, Text: "kiwi"}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		finds := func() (n int) {
			t.Helper()
			r, err := x.Query(t.Context(), search.Query{Crawl: 1, Words: "kiwi"})
			if err != nil {
				t.Fatal(err)
			}
			return len(r.Hits)
		}
		put(1, 2, 3, 4, 5)
		cut := errors.New("cut off")
		taken := 0
		err = x.drop(t.Context(), 1, steps{docs: 2, parts: 1, between: func() error {
			if taken++; taken > after {
				return cut
			}
			return nil
		}})
		if !errors.Is(err, cut) {
			t.Fatalf("after %d steps: %v", after, err)
		}
		held, err := x.Held(t.Context(), 1, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		for page := range int64(5) { // as the sink does
			if _, is := held[page+1]; !is {
				put(page + 1)
			}
		}
		if err := x.SetCursor(t.Context(), 1, "filled"); err != nil {
			t.Fatal(err)
		}
		if n := finds(); n != 5 {
			t.Errorf("cut off after %d steps and filled, it finds %d pages", after, n)
		}
		if err := x.Drop(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if crawls, err := x.Crawls(t.Context()); err != nil || len(crawls) != 0 || finds() != 0 {
			t.Errorf("after %d steps it cannot be dropped: %v, %v", after, crawls, err)
		}
	}
}
