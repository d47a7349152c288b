package activities_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/trap"
)

// link registers links of a page, as the visit of a number found them.
func (w *world) link(from crawl.PageRef, visit int, urls ...string) contract.RegisterOut {
	w.t.Helper()
	links := make([]store.Link, len(urls))
	for i, u := range urls {
		links[i].URL = u
	}
	w.linking(from, visit, links...)
	return run(w, contract.RegisterLinks, contract.RegisterIn{Page: from, Visit: visit})
}

func (w *world) traps() map[string]store.TrapRecord {
	w.t.Helper()
	traps := map[string]store.TrapRecord{}
	for _, t := range must[[]store.TrapRecord](w.t)(w.store.Traps(w.t.Context(), store.TrapFilter{CrawlID: w.crawl().ID})) {
		traps[t.Name] = t
	}
	return traps
}

func (w *world) states(urls ...string) string {
	w.t.Helper()
	states := make([]string, len(urls))
	for i, u := range urls {
		states[i] = w.page(u).State.String()
	}
	return strings.Join(states, " ")
}

// A URL that looks like a trap is held as soon as it is found; a session's first
// address is not.
func TestShapedLinksAreHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const id = "?sid=a81f3c5590b2e4d7"
	seeds := []string{"http://localhost/", "http://localhost/x/docs/docs/docs/seed"}
	page := w.living(seeds)[0]
	got := w.link(page, 1, "http://localhost/docs/docs/docs/a", "http://localhost/docs/docs/a", "http://localhost/s"+id+"1", "http://localhost/s"+id+"2", "http://localhost/"+id+"3")
	if got.New != 5 {
		t.Errorf("registered %+v", got)
	}
	if got := w.states("http://localhost/docs/docs/docs/a", "http://localhost/docs/docs/a", "http://localhost/"+id+"3", seeds[1]); got != "held known held active" {
		t.Errorf("states %s", got)
	}
	if n := w.status().Pages[crawl.Held]; n != 3 {
		t.Errorf("%d pages are held, want the loop, one of two sessions, and the seed's", n)
	}
	want := map[string]string{"localhost repeats": trap.ReasonRepeats, "localhost session": trap.ReasonSession}
	reasons := map[string]string{}
	for name, k := range w.traps() {
		reasons[name] = k.Reason
	}
	if !maps.Equal(reasons, want) {
		t.Errorf("traps %v, want %v", reasons, want)
	}
}

// Many ids on one page are no sessions: they choose pages. A site tells a visitor one.
func TestSessionsOfAConference(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	talk := func(n int) string { return fmt.Sprintf("http://localhost/talk?session=a81f3c5590b2e4d7%02d", n) }
	w.link(page, 1, talk(0), talk(1))
	var talks []string
	for n := range 40 {
		talks = append(talks, talk(n))
	}
	w.link(page, 2, talks...)
	if got := w.states(talk(0), talk(1), talk(2), talk(39)); got != "known held known known" {
		t.Errorf("states %s", got)
	}
}

// A maintenance pass finds a calendar. Its known pages are held, and so are later
// ones; pages that are released stay free.
func TestGuardHoldsAndReleases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	months := make([]string, 0, 12)
	for m := range 12 {
		months = append(months, fmt.Sprintf("http://localhost/cal/2150/%02d", m+1))
	}
	w.link(page, 1, append(months, "http://localhost/cal/", "http://localhost/2150/01")...)
	w.maintain(false)
	if got := w.states(months[0], months[11], "http://localhost/cal/", "http://localhost/2150/01"); got != "held held known known" {
		t.Errorf("states %s", got)
	}
	found := maps.Collect(maps.All(w.traps()))
	if len(found) != 1 {
		t.Fatalf("traps %v", found)
	}
	var it store.TrapRecord
	for _, it = range found {
	}
	if it.Reason != trap.ReasonDates || it.State != store.TrapHolding || it.Held != 12 {
		t.Errorf("trap %+v", it)
	}
	later := "http://localhost/cal/2151/01"
	w.link(page, 2, later)
	if got := w.states(later); got != "held" {
		t.Errorf("a later month is %s", got)
	}
	if _, more, err := w.store.ReleaseTrap(t.Context(), it.ID, 5); err != nil || !more {
		t.Fatal(more, err)
	}
	w.maintain(false) // ends a release that was cut off
	if n := w.status().Pages[crawl.Held]; n != 0 || w.traps()[it.Name].State != store.TrapReleased {
		t.Errorf("%d pages are held after the release", n)
	}
	w.link(page, 3, "http://localhost/cal/2152/01", "http://localhost/cal/2152/02")
	w.maintain(false)
	if n := w.status().Pages[crawl.Held]; n != 0 {
		t.Errorf("%d pages are held again", n)
	}
}

// A registration that does not know of a trap yet does not slip through.
func TestGuardHoldsStragglers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	w.link(page, 1, "http://localhost/a")
	w.maintain(false)
	must[[]store.TrapRecord](t)(w.store.SetTraps(t.Context(), page.CrawlID, []store.NewTrap{{
		Site: "localhost", Host: "localhost", Name: "localhost/t", Pattern: []byte(`{"kind":"prefix","host":"localhost","path":["t"]}`), Reason: trap.ReasonCopies, After: -1,
	}}))
	must[store.RegisterResult](t)(w.store.RegisterLinks(t.Context(), store.RegisterParams{
		CrawlID: page.CrawlID, From: page.PageID, URLs: []store.NewURL{{URL: "http://localhost/t/1", Host: "localhost"}, {URL: "http://localhost/u", Host: "localhost"}},
	}))
	w.maintain(false)
	if got := w.states("http://localhost/t/1", "http://localhost/u"); got != "held known" {
		t.Errorf("states %s", got)
	}
}

// Pages beyond a budget are held in the order in which they were found.
func TestGuardKeepsBudgets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) { spec.Traps.MaxHostPages, spec.Traps.MaxPrefixPages = 20, 7 })[0]
	held := func(want int) {
		t.Helper()
		w.maintain(false)
		if n := w.status().Pages[crawl.Held]; n != want {
			t.Errorf("%d pages are held, want %d: %v", n, want, w.traps())
		}
	}
	batch := func(visit, n int, format string) {
		var urls []string
		for i := range n {
			urls = append(urls, fmt.Sprintf(format, visit, i))
		}
		w.link(page, visit, urls...)
	}
	batch(1, 5, "http://localhost/wiki/%d-%d")
	held(0)
	batch(2, 5, "http://localhost/wiki/%d-%d")
	held(3)
	batch(3, 5, "http://localhost/wiki/%d-%d")
	held(8)
	batch(4, 7, "http://localhost/p%dx%d") // the seed, 15 of the wiki, and these
	held(8 + 3)
	if got := w.traps(); got["localhost/"].Reason != trap.ReasonBudget || got["localhost/wiki"].Reason != trap.ReasonBudget || len(got) != 2 {
		t.Errorf("traps %v", got)
	}
}

func TestGuardCanBeOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) { spec.Traps.Guard = false })[0]
	w.link(page, 1, "http://localhost/docs/docs/docs/a", "http://localhost/?sid=a81f3c5590b2e4d7")
	w.maintain(false)
	if n := w.status().Pages[crawl.Held]; n != 0 || len(w.traps()) != 0 {
		t.Errorf("%d pages are held", n)
	}
}

// Combined parameters that were released are not held again from another number on: what is
// known of the path by then may ask for more.
func TestReleasedParametersStayFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	names := []string{"colour", "size", "brand", "price"}
	var filters, products []string
	for set := 1; set < 1<<len(names); set++ {
		for value := range 12 {
			query := ""
			for i, name := range names {
				if set>>i&1 == 1 {
					query += fmt.Sprintf("&%s=%d", name, (value+i*value/4)%4)
				}
			}
			filters = append(filters, "http://localhost/shop?"+query[1:])
		}
	}
	w.link(page, 1, filters...)
	w.maintain(false)
	it, ok := w.traps()["localhost/shop?3+"]
	if !ok {
		t.Fatalf("traps %v", w.traps())
	}
	must[int](t)(released(w, it.ID))
	for n := range 40 {
		for order := range 10 {
			products = append(products, fmt.Sprintf("http://localhost/shop?colour=%d&size=%d&item=%d&sort=%d", n%4, n%3, n, order))
		}
	}
	w.link(page, 2, products...)
	w.maintain(false)
	if n := w.status().Pages[crawl.Held]; n != 0 || len(w.traps()) != 1 {
		t.Errorf("%d pages are held, traps %v", n, slices.Sorted(maps.Keys(w.traps())))
	}
}

func released(w *world, id int64) (int, error) {
	n, _, err := w.store.ReleaseTrap(w.t.Context(), id, 1000)
	return n, err
}
