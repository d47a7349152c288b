package seeds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// world is a store with a crawl into which a list is imported.
type world struct {
	store.Store
	t       *testing.T
	crawl   int64
	refused memoryList
	batches int
	cut     int // the batch at which ImportSeeds fails, before or after it is done
	after   bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	c := crawltest.New(t, func(s *crawl.Spec) { s.Name, s.Seeds = "t", []string{"https://example.com/"} })
	return &world{Store: c.Store, t: t, crawl: c.Record.ID}
}

var errCut = errors.New("cut off")

func (w *world) ImportSeeds(ctx context.Context, p store.ImportParams) (store.ImportResult, error) {
	w.batches++
	if w.batches == w.cut && !w.after {
		return store.ImportResult{}, errCut
	}
	res, err := w.Store.ImportSeeds(ctx, p)
	if w.batches == w.cut {
		return store.ImportResult{}, errCut
	}
	return res, err
}

// run imports a list as one command does.
func (w *world) run(list string) (store.Import, error) {
	w.t.Helper()
	r, err := Open(strings.NewReader(list), Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	i := Importer{Store: w, CrawlID: w.crawl, Source: "list", Judge: Judge{Contact: true}, Refused: &w.refused}
	return i.Run(w.t.Context(), r)
}

// TestImportSpellings: an imported seed is asked for as its list spells it.
func TestImportSpellings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.run("https://example.com/it's\nhttps://example.com/~joe\nHTTPS://example.com/%7ejim\n"); err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"https://example.com/it%27s": "/it's", "https://example.com/~joe": "", "https://example.com/~jim": "/%7ejim",
	} {
		pages, err := w.FindPages(t.Context(), url, "t")
		if err != nil || len(pages) != 1 || pages[0].Respelling.Spelling != want {
			t.Errorf("%s: %+v, %v", url, pages, err)
		}
	}
}

// memoryList is a list of refused entries in memory.
type memoryList struct{ bytes.Buffer }

func (m *memoryList) Resume(size int64) error { m.Truncate(int(size)); return nil }
func (m *memoryList) Flush() error            { return nil }

// An import that is cut off at any batch, before or after the batch is in the store,
// goes on: in the end every number and every line is there once.
func TestImportGoesOn(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&list, "https://h%d.test/%d\n", i%7, i)
		if i%100 == 0 {
			fmt.Fprintf(&list, "nothing %d\n", i)
		}
	}
	list.WriteString("https://h0.test/0\n") // again
	for cut := range 4 {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(cut, after), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.cut, w.after = cut, after
				done, err := w.run(list.String())
				if cut > 0 {
					if !errors.Is(err, errCut) {
						t.Fatalf("the first run: %v", err)
					}
					w.cut = 0
					before := w.batches
					if done, err = w.run(list.String()); w.batches-before > 4-cut {
						t.Errorf("%d batches to go on after %d of 3", w.batches-before, cut)
					}
				}
				if err != nil {
					t.Fatal(err)
				}
				got := fmt.Sprint(done.Entries, done.New, done.Known, done.Refused[ReasonScheme].Entries, strings.Count(w.refused.String(), "\n"))
				if got != "2526 2500 1 25 25" {
					t.Errorf("entries, new, known, refused, listed: %s", got)
				}
				if examples := strings.Join(done.Refused[ReasonScheme].Examples, ","); examples != "nothing 0,nothing 100,nothing 200" {
					t.Errorf("examples %q", examples)
				}
				status, err := w.Status(t.Context(), w.crawl)
				if err != nil || status.Pages[crawl.Known] != 2500 {
					t.Errorf("%d pages, %v", status.Pages[crawl.Known], err)
				}
				if again, err := w.run(list.String()); err != nil || again.New != 0 || again.Known != 2501 {
					t.Errorf("run again: %+v, %v", again, err)
				}
			})
		}
	}
}

// Forgotten URLs stay out, and are listed as such; entries before a broken end are
// imported.
func TestImportOfForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.Forget(t.Context(), store.ForgetParams{Target: store.Target{Host: "b.test"}}); err != nil {
		t.Fatal(err)
	}
	done, err := w.run("https://a.test/\nhttps://b.test/1\nhttps://b.test/2\n")
	if err != nil || done.New != 1 || done.Forgotten != 2 || w.refused.String() != "forgotten\thttps://b.test/1\nforgotten\thttps://b.test/2\n" {
		t.Errorf("%+v, %v, %q", done, err, w.refused.String())
	}
	list := zipped(strings.Repeat("https://c.test/\n", 5000))
	done, err = w.run(list[:len(list)-4])
	if !errors.Is(err, io.ErrUnexpectedEOF) || done.New != 1 || !strings.Contains(err.Error(), "entries before it are imported") {
		t.Errorf("%+v, %v", done, err)
	}
}

// Memory does not grow with the list: only the examples of a batch stay allocated.
func TestImportKeepsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := Importer{Store: w, CrawlID: w.crawl, Judge: Judge{Contact: true}}
	r, err := Open(strings.NewReader(strings.Repeat("x\n", 30_000)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	done, err := i.Run(t.Context(), r)
	if err != nil || done.Refused[ReasonScheme].Entries != 30_000 || len(done.Refused[ReasonScheme].Examples) != examples || w.batches != 4 {
		t.Errorf("%+v in %d batches, %v", done, w.batches, err)
	}
}
