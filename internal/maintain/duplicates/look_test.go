package duplicates

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/change/changetest"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// rule is that of a crawl in which nobody is told.
func (w *world) rule(threshold float64) Rule {
	return Rule{
		CrawlID: w.Record.ID, Threshold: threshold,
		Rest: func(store.ContentRecord) time.Duration { return 100 * 24 * time.Hour },
		Tell: func(context.Context, []store.PageRecord) error { return nil },
	}
}

func (w *world) look(threshold float64) Looked {
	w.Helper()
	looked, err := Look(w.Context(), w.Store, w.rule(threshold))
	w.check(err)
	return looked
}

// lookAll looks until nothing is left.
func (w *world) lookAll(threshold float64) {
	w.Helper()
	for range 20 {
		if w.look(threshold).Pages == 0 {
			return
		}
	}
	w.Error("there is always something to look at")
}

// records are the duplicates by URL, "=" for the same content.
func (w *world) records() []string {
	w.Helper()
	all, err := w.Store.ListDuplicates(w.Context(), store.DuplicateFilter{CrawlID: w.Record.ID, Limit: 1000})
	w.check(err)
	texts := []string{}
	for _, d := range all {
		sign := "~"
		if d.Exact {
			sign = "="
		}
		if !d.Holds {
			w.Errorf("does not hold: %+v", d)
		}
		texts = append(texts, fmt.Sprintf("%s %s %s", d.Page.URL, sign, d.Of.URL))
	}
	slices.Sort(texts)
	return texts
}

// TestLookFindsWhatFindFinds, in any order of visits and looks, and Find changes nothing
// afterwards.
func TestLookFindsWhatFindFinds(t *testing.T) {
	t.Parallel()
	// Families of ten, each member 2 % further away from the first; some are copies.
	corpus := changetest.Corpus{Sites: 1, Shingles: 400, Family: 10, Edit: 0.02}
	var first []string
	for seed := range uint64(4) {
		w := newWorld(t)
		order := rand.New(rand.NewPCG(seed, 7)).Perm(40)
		for i, n := range order {
			w.add(fmt.Sprintf("https://a.test/%d", n), corpus.Content(n))
			if i%7 == 3 {
				w.look(0.9)
			}
		}
		w.lookAll(0.9)
		got := w.records()
		if first == nil {
			first = got
		}
		if !slices.Equal(got, first) || len(got) < 6 {
			t.Errorf("in order %d: %q, want %q", seed, got, first)
		}
		result, err := Find(t.Context(), w.Store, w.Record.ID, Options{Threshold: 0.9, Dir: t.TempDir()})
		w.check(err)
		if again := w.records(); result.Unset > 0 || !slices.Equal(again, got) {
			t.Errorf("Find set %d and unset %d: %q, not %q", result.Set, result.Unset, again, got)
		}
	}
}

// If more pages have a content than a key gives, all get one original, whichever page it
// is.
func TestLookAtLargeClusters(t *testing.T) {
	t.Parallel()
	const many = 2*store.LookalikeDepth + 20
	w := newWorld(t)
	content := changetest.Corpus{Sites: 1, Shingles: 400, Family: 4}.Content(4)
	var ids []int64
	for i := range many {
		ids = append(ids, w.add(fmt.Sprintf("https://a.test/%d?s=1", i), content))
	}
	w.lookAll(0.9)
	w.add("https://a.test/", content)
	w.lookAll(0.9)
	for _, id := range ids {
		d, err := w.Store.Duplicate(t.Context(), id)
		w.check(err)
		p, err := w.Store.Page(t.Context(), id)
		w.check(err)
		if d.Of.URL != "https://a.test/" || !d.Holds || p.State != crawl.Duplicate {
			t.Fatalf("%s is %s, the duplicate of %s, %v", p.URL, p.State, d.Of.URL, d.Holds)
		}
	}
}

// A look waits for its turn between batches, and stops when it is told to. The next goes on
// where it stopped.
func TestLookStopsBetweenBatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	corpus := changetest.Corpus{Sites: 1, Shingles: 400, Family: 4}
	for i := range 2*lookAtOnce + 10 {
		w.add(fmt.Sprintf("https://a.test/%d", i), corpus.Content(4+16*i))
	}
	rule := w.rule(0.9)
	look := func(turns int) int {
		t.Helper()
		rule.Next = func(context.Context) (bool, error) { turns--; return turns >= 0, nil }
		looked, err := Look(t.Context(), w.Store, rule)
		w.check(err)
		return looked.Pages
	}
	if got := []int{look(0), look(5), look(0)}; !slices.Equal(got, []int{lookAtOnce, lookAtOnce + 10, 0}) {
		t.Errorf("pages looked at: %v", got)
	}
	w.add("https://a.test/", corpus.Content(4))
	rule.Next = func(context.Context) (bool, error) { return true, errFailing }
	if looked, err := Look(t.Context(), w.Store, rule); !errors.Is(err, errFailing) || looked.Pages != 1 {
		t.Errorf("%+v, %v", looked, err)
	}
}

// asked counts a look's calls of a store.
type asked struct {
	store.Store
	lookalikes, writes int
}

func (a *asked) Lookalikes(ctx context.Context, p store.LookalikeParams) ([]store.ContentRecord, error) {
	a.lookalikes++
	return a.Store.Lookalikes(ctx, p)
}

func (a *asked) UpdateDuplicates(ctx context.Context, p store.UpdateDuplicatesParams) error {
	a.writes++
	return a.Store.UpdateDuplicates(ctx, p)
}

// A crawl at rest costs two queries. Of changed pages only those are compared that share a
// key with another.
func TestLookComparesWhatSharesAKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	corpus := changetest.Corpus{Sites: 1, Shingles: 400, Family: 4}
	var ids []int64
	for i := range lookAtOnce + 10 {
		ids = append(ids, w.add(fmt.Sprintf("https://a.test/%d", i), corpus.Content(4+16*i)))
	}
	other := func(i int) change.Content { return corpus.Content(4 + 16*(1000+i)) }
	for _, step := range []struct {
		what                       string
		do                         func()
		pages, lookalikes, batches int
	}{
		{"new pages without relatives", func() {}, len(ids), 0, 2},
		{"nothing", func() {}, 0, 0, 0},
		{"a new content that shares no key", func() { w.visit(ids[1], other(1)) }, 1, 0, 1},
		{"the content of another page", func() { w.visit(ids[1], corpus.Content(4)) }, 1, 1, 1},
		{"the other page has changed", func() { w.visit(ids[0], other(0)) }, 2, 1, 2},
	} {
		step.do()
		s := &asked{Store: w.Store}
		looked, err := Look(t.Context(), s, w.rule(0.9))
		w.check(err)
		if looked.Pages != step.pages || s.lookalikes != step.lookalikes || looked.Compared != step.lookalikes || s.writes != step.batches {
			t.Errorf("%s: %+v, %d lookalikes, %d batches", step.what, looked, s.lookalikes, s.writes)
		}
	}
	if got := w.records(); len(got) > 0 {
		t.Errorf("duplicates at the end: %q", got)
	}
}

// A page that is woken learns of it, though the first attempt to tell it fails.
func TestWokenIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	corpus := changetest.Corpus{Sites: 1, Shingles: 400, Family: 4}
	original, other := w.add("https://a.test/", corpus.Content(4)), w.add("https://a.test/other", corpus.Content(4))
	w.lookAll(0.9)
	w.visit(original, corpus.Content(20))
	rule := w.rule(0.9)
	rule.Tell = func(context.Context, []store.PageRecord) error { return errFailing }
	if _, err := Look(t.Context(), w.Store, rule); !errors.Is(err, errFailing) {
		t.Fatalf("told: %v", err)
	}
	var told []int64
	rule.Tell = func(_ context.Context, pages []store.PageRecord) error {
		for _, p := range pages {
			told = append(told, p.PageID)
		}
		return nil
	}
	for range 2 {
		_, err := Look(t.Context(), w.Store, rule)
		w.check(err)
	}
	if !slices.Equal(told, []int64{other}) {
		t.Errorf("told are %v, want once %d", told, other)
	}
}

// Finding while a first visit is being recorded does not undo that visit's findings.
func TestFindLeavesWhatIsBeingRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := changetest.Corpus{Sites: 1, Shingles: 400, Family: 4}.Content(4)
	original := w.add("https://a.test/", content)
	version, err := w.Store.Page(t.Context(), original)
	w.check(err)
	p := w.admit("https://a.test/b")
	_, err = w.Store.SaveVersion(t.Context(), store.SaveVersionParams{
		Version: store.VersionRecord{PageID: p, Visit: 1}, Content: content,
		Duplicate: &store.DuplicateOf{PageVersion: store.PageVersion{PageID: original, Version: version.Last.ID}, Exact: true, Resemblance: 1},
	})
	w.check(err)
	w.lookAll(0.9)
	_, err = Find(t.Context(), w.Store, w.Record.ID, Options{Dir: t.TempDir()})
	w.check(err)
	if d, err := w.Store.Duplicate(t.Context(), p); err != nil || d.Of.PageID != original {
		t.Errorf("%+v, %v", d, err)
	}
}

// admit adds a page by its URL.
func (w *world) admit(url string) int64 {
	w.Helper()
	return w.Page(store.NewURL{URL: url, Host: "a.test"}).PageID
}

// add is admit with a first visit.
func (w *world) add(url string, content change.Content) int64 {
	w.Helper()
	id := w.admit(url)
	w.visit(id, content)
	return id
}
