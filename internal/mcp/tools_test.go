package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func TestDiffPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.page("/prices")
	for i, price := range []string{"8", "9", "12"} {
		w.finds(page.PageID, "Prices", html("Prices", "<p>A ticket costs "+price+" euros.</p><p>Dogs stay outside.</p>"), days(30-10*float64(i)))
	}
	w.connect()
	last := w.answers("diff_page", map[string]any{"page": page.PageID})
	last.says("from: version 2, found ", "to: version 3, found ", "next_offset: none")
	last.quotes("-A ticket costs 9 euros.", "+A ticket costs 12 euros.")
	since := w.answers("diff_page", map[string]any{"url": page.URL, "since": days(25).Format(time.RFC3339)})
	since.says("from: version 1")
	since.quotes("-A ticket costs 8 euros.", "+A ticket costs 12 euros.")
	w.answers("diff_page", map[string]any{"page": page.PageID, "from": 3, "to": 3}).says("difference: none: it is the same version")
}

// Whatever shows words of a page also says what its site reserves, and what it reserved of a
// version before. Where it says so is not ours to say.
func TestAnswersAreReserved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.page("/prices")
	w.finds(page.PageID, "Prices", html("Prices", "<p>Eight euros.</p>"), days(9))
	w.reserved = []crawl.Reservation{
		{Use: crawl.UseSearch, Allowed: true, Source: "robots.txt: Content-Signal: search=yes"}, {Use: crawl.UseAITrain, Source: "meta robots: noai"},
	}
	w.finds(page.PageID, "Prices", html("Prices", "<p>Nine euros.</p>"), days(4))
	w.indexes(page.PageID)
	w.connect()
	const words = "the site allows search, the site refuses ai-train"
	number := map[string]any{"page": page.PageID}
	for tool, args := range map[string]map[string]any{"read_page": number, "page_history": number, "diff_page": number} {
		r := w.answers(tool, args)
		if got := r.fact("reserved"); got != words || strings.Contains(r.ours(), "noai") {
			t.Errorf("%s: %s in\n%s", tool, got, r.text)
		}
	}
	w.answers("diff_page", number).says("reserved_before: the site says nothing of uses of the page")
	w.answers("search_pages", map[string]any{"crawl": "docs", "query": "nine euros"}).says("1: page ", ", version 2, "+words+", seen ")
}

func TestPageHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.page("/prices")
	w.finds(page.PageID, "Old prices", html("Prices", "<p>Eight euros.</p>"), days(9))
	w.finds(page.PageID, "New prices", html("Prices", "<p>Nine euros.</p>"), days(4))
	w.visit(page.PageID, store.VisitRecord{At: days(1), Outcome: crawl.OutcomeUnchanged, State: crawl.Active, Status: 304})
	w.connect()
	r := w.answers("page_history", map[string]any{"page": page.PageID})
	r.says("visits: 3, the last ", "(1d ago); 1 of them found a change", "2: found ", "1: found ", "next_offset: none")
	r.quotes("2: title: New prices", "1: title: Old prices", "1 of its last 2 comparisons found a change")
	first := w.answers("page_history", map[string]any{"page": page.PageID, "limit": 1})
	first.says("next_offset: 2")
	w.answers("page_history", map[string]any{"page": page.PageID, "offset": 2}).quotes("Old prices")
}

// Of a page that was not visited, nobody is told that it is not visited any more.
func TestHistoryWithoutACopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.page("/later")
	w.connect()
	w.answers("page_history", map[string]any{"page": page.PageID}).says("last_copy: there is none: no visit has found a body", "versions: 0 in this answer")
}

func TestListChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.page("/a"), w.page("/b")
	w.finds(a.PageID, "First", html("First", "<p>One.</p>"), days(9))
	w.finds(b.PageID, "Second", html("Second", "<p>Two.</p>"), days(8))
	w.finds(a.PageID, "First again", html("First", "<p>Three.</p>"), days(1))
	w.visit(b.PageID, store.VisitRecord{At: days(0.5), Outcome: crawl.OutcomeGone, State: crawl.Gone, Status: 410})
	w.connect()
	r := w.answers("list_changes", map[string]any{"crawl": "docs"})
	r.says("1: page 2, gone (410), ", "2: page 1, changed, ", ", version 2 after 1", "4: page 1, new, ", "changes: 4 in this answer")
	fresh := w.answers("list_crawls", nil).ours()
	if got := r.fact("freshness"); got == "" || !strings.Contains(fresh, "; "+got+"; it began with ") {
		t.Errorf("the list of changes says %q of how fresh the crawl is, and that of crawls\n%s", got, fresh)
	}
	r.quotes("1: https://docs.test/b | Second", "2: https://docs.test/a | First again")
	some := w.answers("list_changes", map[string]any{"crawl": "docs", "kinds": []string{"page.new"}, "limit": 1})
	some.quotes("1: https://docs.test/b | Second")
	rest := w.answers("list_changes", map[string]any{"crawl": "docs", "kinds": []string{"page.new"}, "offset": some.fact("next_offset")})
	rest.says("changes: 1 in this answer", "next_offset: none")
	if strings.Contains(rest.theirs(), "docs.test/b") {
		t.Errorf("the rest begins anew:\n%s", rest.text)
	}
	none := w.answers("list_changes", map[string]any{"crawl": "docs", "host": "Elsewhere.test"})
	none.says("changes: 0 in this answer", "next_offset: none")
	w.answers("list_changes", map[string]any{"crawl": "docs", "since": "2020-01-01"}).says("changes: 4 in this answer")
	w.answers("list_changes", map[string]any{"crawl": "docs", "since": days(-2).Format(time.DateOnly)}).says("changes: 0 in this answer", "next_offset: none")
}

func TestSearchPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 30 {
		page := w.page(fmt.Sprintf("/%d", i))
		w.finds(page.PageID, fmt.Sprintf("Town %d", i), html("Town", fmt.Sprintf("<p>The town %d is in 東京都, and has a river.</p>", i)), days(1))
		w.indexes(page.PageID)
	}
	w.connect()
	r := w.answers("search_pages", map[string]any{"crawl": "docs", "query": "東京 river"})
	r.says("pages: 10 in this answer", "next_offset: 10", "1: page ", ", version 1, seen 1d ago, ", " % likely unchanged")
	r.quotes("1: https://docs.test/", " | Town ", "is in 東京都, and has a river.")
	last := w.answers("search_pages", map[string]any{"crawl": "docs", "query": "東京 river", "limit": 20, "offset": 20})
	last.says("21: page ", "pages: 10 in this answer", "next_offset: none")
	one := w.answers("search_pages", map[string]any{"crawl": "docs", "query": "river", "prefix": "https://docs.test/17"})
	one.says("pages: 1 in this answer")
	w.answers("search_pages", map[string]any{"crawl": "docs", "query": "mountain"}).says("pages: 0 in this answer", "next_offset: none")
}

// An agent finds a page, reads it, and asks what changed in it.
func TestWalk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.page("/handbook")
	w.finds(page.PageID, "Handbook", html("Handbook", "<h2>Engine</h2><p>Fill in two litres of oil.</p><h2>Brakes</h2><p>Check them each spring.</p>"), days(30))
	w.finds(page.PageID, "Handbook", html("Handbook", "<h2>Engine</h2><p>Fill in three litres of oil.</p><h2>Brakes</h2><p>Check them each spring.</p>"), days(2))
	w.indexes(page.PageID)
	w.connect()
	hit := regexp.MustCompile(`1: page (\d+), version 2`).FindStringSubmatch(w.answers("search_pages", map[string]any{"crawl": "docs", "query": "litres of oil"}).ours())
	if hit == nil {
		t.Fatal("the page is not found")
	}
	number, err := strconv.Atoi(hit[1])
	w.check(err)
	w.answers("read_page", map[string]any{"page": number}).quotes("Fill in three litres of oil.", "Check them each spring.")
	w.answers("diff_page", map[string]any{"page": number, "since": days(10).Format(time.DateOnly)}).quotes("-Fill in two litres of oil.", "+Fill in three litres of oil.")
}

// A crawl that was stopped still has its copies.
func TestStoppedCrawlHasCopies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	has, other := w.page("/has"), w.page("/none")
	w.finds(has.PageID, "First", html("First", "<p>One.</p>"), days(9))
	for _, page := range []store.PageRecord{has, other} {
		w.visit(page.PageID, store.VisitRecord{At: days(1), Outcome: crawl.OutcomeFailed, State: crawl.Stopped})
	}
	_, err := w.s.SetCrawlState(w.Context(), "docs", crawl.CrawlStopped)
	w.check(err)
	w.connect()
	w.answers("list_crawls", nil).says("docs (stopped): 1 pages with a copy, 1 versions, ", "; its copies are not kept fresh; it began with ")
}

// A name that no crawl can have is not there, whatever the store would make of it.
func TestNamesThatNoCrawlCanHave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Crawl = func(context.Context, string) (store.CrawlRecord, error) {
		return store.CrawlRecord{}, errors.New("invalid byte sequence for encoding")
	}
	w.connect()
	for tool, args := range map[string]map[string]any{
		"list_changes": {"crawl": "a\x00b"}, "search_pages": {"crawl": "a b", "query": "x"}, "read_page": {"crawl": "a\x00b", "url": "https://docs.test/"},
	} {
		if r := w.call(tool, args); !r.isError || !strings.Contains(r.text, "there is no crawl") {
			t.Errorf("%s %v: %s", tool, args, r.text)
		}
	}
}
