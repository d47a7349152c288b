package reader_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/feed/reader"
	"recrawl/internal/store"
)

// Read backwards in parts of any size, the feed has the same events as forwards, whatever
// is selected.
func TestLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := []int64{w.page(w.crawl, "https://example.com/a", "example.com"), w.page(w.crawl, "https://other.test/b", "other.test"), w.page(w.open("olds"), "https://example.com/c", "example.com")}
	for i := range 60 {
		id := pages[i%3]
		if i%5 == 0 {
			w.visit(id, store.VisitRecord{Outcome: crawl.OutcomeGone, State: crawl.Gone, Status: 404}, store.Retention{})
			continue
		}
		w.finds(id, "A page", fmt.Sprintf("<p>Something that is said %d times.", i))
	}
	for name, q := range map[string]reader.Query{
		"everything":     {},
		"a crawl":        {CrawlID: w.crawl.ID},
		"a kind":         {CrawlID: w.crawl.ID, Kinds: []feed.Kind{feed.PageGone}},
		"a host":         {CrawlID: w.crawl.ID, Hosts: []string{"other.test"}},
		"nothing at all": {Hosts: []string{"nowhere.test"}},
	} {
		want := w.events(q)
		slices.Reverse(want)
		for _, n := range []int{1, 2, 7, 1000} {
			var got []feed.Event
			part := reader.Backwards{More: true}
			for part.More {
				var err error
				part, err = reader.New(w.s, nil).Last(w.ctx, q, part.Before, n)
				w.check(err)
				if len(part.Events) > n {
					t.Fatalf("%s: %d events, at most %d were asked for", name, len(part.Events), n)
				}
				got = append(got, part.Events...)
			}
			if !slices.EqualFunc(got, want, func(a, b feed.Event) bool { return a.ID == b.ID }) {
				t.Errorf("%s, %d at a time: %v, want %v", name, n, kinds(got), kinds(want))
			}
		}
	}
	if _, err := reader.New(w.s, nil).Last(w.ctx, reader.Query{}, feed.Cursor{Epoch: "before", ID: 3}, 1); err == nil {
		t.Error("a cursor of another store is taken")
	}
}

// The difference is the same if it is asked for later, for one event.
func TestDiffOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.page(w.crawl, "https://example.com/prices", "example.com")
	w.finds(id, "Prices", "<p>Welcome to all who come here.<p>A ticket costs 10 euros.")
	w.finds(id, "Prices", "<p>Welcome to all who come here.<p>A ticket costs 12 euros.")
	r := reader.New(w.s, w.files)
	last, err := r.Last(w.ctx, reader.Query{Kinds: []feed.Kind{feed.PageNew, feed.PageChanged}}, feed.Cursor{}, 2)
	w.check(err)
	diff, err := r.DiffOf(w.ctx, last.Events[0])
	w.check(err)
	if diff == nil || !slices.Equal(diff.Added, []string{"A ticket costs 12 euros."}) || !slices.Equal(diff.Removed, []string{"A ticket costs 10 euros."}) {
		t.Errorf("changed: %+v", diff)
	}
	if diff, err := r.DiffOf(w.ctx, last.Events[1]); err != nil || diff != nil {
		t.Errorf("the first content of a page: %+v, %v", diff, err)
	}
}

// What changed is shown wherever it is: beside the words, in the title while noise differs too, and
// far behind in a long line.
func TestDiffShowsTheChange(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Salt and timber came from the north. ", 100)
	for name, c := range map[string]struct{ title, body, newTitle, newBody, removed, added string }{
		"a button": {"A", "<p>Ticket<input type=submit value='10 €'>", "A", "<p>Ticket<input type=submit value='12 €'>", "[button] 10 €", "[button] 12 €"},
		"beside noise": {
			"A", "<p>9 views<p>Ticket<input type=submit value='10 €'>", "A", "<p>12 views<p>Ticket<input type=submit value='12 €'>",
			"9 views|[button] 10 €", "12 views|[button] 12 €",
		},
		"the title beside noise": {"Gate 1", "<p>9 views", "Gate 2", "<p>12 views", "Gate 1|9 views", "Gate 2|12 views"},
		"an edit alone":          {"A", "<p>Ticket 1<s>x</s>", "A", "<p>Ticket 2 <s>y</s>", "Ticket 1x", "Ticket 2 y"},
		"a long line":            {"A", "<p>" + long + "It costs 10 €.", "A", "<p>" + long + "It costs 12 €.", "It costs 10 €.", "It costs 12 €."},
		"one before a long line": {
			"A", "<p>" + long + "It costs 10 €.", "A", "<p>Dogs pay too.<p>" + long + "It costs 12 €.", "It costs 10 €.", "It costs 12 €.",
		},
	} {
		w := newWorld(t)
		id := w.page(w.crawl, "https://example.com/prices", "example.com")
		w.finds(id, c.title, c.body)
		w.finds(id, c.newTitle, c.newBody)
		r := reader.New(w.s, w.files)
		last, err := r.Last(w.ctx, reader.Query{Kinds: []feed.Kind{feed.PageChanged}}, feed.Cursor{}, 1)
		w.check(err)
		diff, err := r.DiffOf(w.ctx, last.Events[0])
		w.check(err)
		removed, added := strings.Join(diff.Removed, "|"), strings.Join(diff.Added, "|")
		if !strings.HasSuffix(removed, c.removed) || !strings.HasSuffix(added, c.added) || len(added) > 500 || diff.Cut != strings.HasSuffix(name, "long line") {
			t.Errorf("%s: removed %q, added %q, cut %v", name, removed, added, diff.Cut)
		}
	}
}
