package mcp_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func (w *world) tools() (names []string) {
	w.Helper()
	for tool, err := range w.client.Tools(w.Context(), nil) {
		w.check(err)
		names = append(names, tool.Name)
		if a := tool.Annotations; tool.Name != "request_visit" && (a == nil || !a.ReadOnlyHint) {
			w.Errorf("%s is not said to be read-only: %+v", tool.Name, a)
		}
	}
	slices.Sort(names)
	return names
}

func TestTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect()
	want := []string{"diff_page", "list_changes", "list_crawls", "page_history", "read_page", "search_pages"}
	if got := w.tools(); !slices.Equal(got, want) {
		t.Errorf("tools are %v, want %v", got, want)
	}
	if got := w.client.InitializeResult().Instructions; !strings.Contains(got, "never an instruction") {
		t.Errorf("instructions: %s", got)
	}
}

// Without permission to ask for visits there is no tool for it, not even one that refuses.
func TestRequestVisit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.page("/")
	var asked []string
	w.options.Visit = visits(func(p store.PageRecord) (string, error) {
		if asked = append(asked, p.URL); len(asked) > 1 {
			return "", errors.New("Temporal does not answer")
		}
		return "the page is visited as soon as its host allows", nil
	})
	w.connect()
	if !slices.Contains(w.tools(), "request_visit") {
		t.Error("there is no request_visit")
	}
	r := w.answers("request_visit", map[string]any{"page": page.PageID})
	r.quotes("visited as soon as its host allows")
	if r := w.call("request_visit", map[string]any{"url": page.URL}); !r.isError || !strings.Contains(r.text, "Temporal does not answer") {
		t.Errorf("a visit that cannot be asked for: %s", r.text)
	}
	if want := []string{page.URL, page.URL}; !slices.Equal(asked, want) {
		t.Errorf("asked for %v", asked)
	}
}

func TestListCrawls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finds(w.page("/").PageID, "Home", html("Home", "<p>Welcome.</p>"), days(1))
	for i := range 70 {
		w.opens(fmt.Sprintf("extra-%02d", i), fmt.Sprintf("https://e%d.test/", i))
	}
	w.connect()
	r := w.answers("list_crawls", nil)
	r.says("1: docs (running): 1 pages with a copy, 1 versions", "believed up to date now", "it began with https://docs.test/", "extra-30")
	if theirs := r.theirs(); theirs != "" {
		t.Errorf("the operator's own words are marked as a site's: %s", theirs)
	}
	rest := w.answers("list_crawls", map[string]any{"offset": r.number("next_offset")})
	rest.says("71: extra-69", "next_offset: none")
}

func (r result) number(name string) int {
	r.Helper()
	n, err := strconv.Atoi(r.fact(name))
	if err != nil {
		r.Fatal(err)
	}
	return n
}

func TestReadPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.page("/guide")
	w.finds(page.PageID, "Guide", html("Guide", "<p>Turn the handle to the left.</p>"), days(20))
	w.finds(page.PageID, "Guide", html("Guide", "<p>Turn the handle to the right.</p>"), days(5))
	w.visit(page.PageID, store.VisitRecord{At: days(0.125), Outcome: crawl.OutcomeUnchanged, State: crawl.Active, Status: 304})
	w.connect()
	now := w.answers("read_page", map[string]any{"url": page.URL})
	now.says("page: "+strconv.FormatInt(page.PageID, 10), "crawl: docs", "last_copy: seen 3h ago, ", " % likely unchanged", "version: 2, which the page has now", "next_offset: none", "says nothing of uses")
	now.quotes("url: "+page.URL, "title: Guide", "language: en", "Turn the handle to the right.")
	old := w.answers("read_page", map[string]any{"page": page.PageID, "at": days(10).Format(time.DateOnly)})
	old.says("version: 1, and not what the page has now, which is version 2")
	old.quotes("Turn the handle to the left.")
	numbered := w.answers("read_page", map[string]any{"page": page.PageID, "version": 1, "crawl": "docs"})
	numbered.quotes("Turn the handle to the left.")
}

func TestReadPageThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.page("/old")
	w.finds(page.PageID, "Old", html("Old", "<p>An offer.</p>"), days(9))
	w.visit(page.PageID, store.VisitRecord{At: days(2), Outcome: crawl.OutcomeGone, State: crawl.Gone, Status: 410})
	w.connect()
	w.answers("read_page", map[string]any{"page": page.PageID}).says("last_copy: the page is gone, as a visit found 2d ago: this is its last copy")
}

// long returns a page with chapters, each of a number of paragraphs of 100 characters.
func long(chapters, paragraphs int) string {
	var b strings.Builder
	for c := range chapters {
		fmt.Fprintf(&b, "<h2>Chapter %d</h2>", c+1)
		for p := range paragraphs {
			fmt.Fprintf(&b, "<p>%-99s.</p>", fmt.Sprintf("Chapter %d says in its paragraph %d 東京 %s", c+1, p+1, strings.Repeat("and so on ", 5)))
		}
	}
	return html("The long guide", b.String())
}

// A long page is read part by part, and the parts are the whole.
func TestReadPageInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.page("/long")
	w.finds(page.PageID, "Long", long(12, 60), days(1))
	w.connect()
	var whole strings.Builder
	first := w.answers("read_page", map[string]any{"page": page.PageID})
	first.says("part: characters 0 to ", "to_go_on: ask for the same again, with offset ", "version 1")
	calls, offset := 0, 0
	for r := first; ; calls++ {
		_, text, found := strings.Cut(r.theirs(), "\n\n") // after the lines on the page
		if !found || calls > 20 {
			t.Fatalf("part %d: %s", calls, r.text)
		}
		whole.WriteString(text)
		if r.fact("next_offset") == "none" {
			break
		}
		if whole.WriteByte('\n'); r.number("next_offset") <= offset {
			t.Fatalf("it does not go on after %d", offset)
		}
		offset = r.number("next_offset")
		r = w.answers("read_page", map[string]any{"page": page.PageID, "version": 1, "offset": offset})
	}
	if calls < 3 {
		t.Errorf("%d characters in %d parts", whole.Len(), calls+1)
	}
	at := 0
	for c := range 12 {
		for p := range 60 {
			want := fmt.Sprintf("Chapter %d says in its paragraph %d 東京", c+1, p+1)
			i := strings.Index(whole.String()[at:], want)
			if i < 0 {
				t.Fatalf("%q is missing, or not in its place", want)
			}
			at += i
		}
	}
	if got := strings.Count(whole.String(), "says in its paragraph"); got != 12*60 {
		t.Errorf("%d paragraphs", got)
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.page("/")
	w.finds(page.PageID, "Home", html("Home", "<p>Welcome.</p>"), days(1))
	other := w.opens("other", "https://docs.test/")
	w.pageOf(other, "/")
	empty := w.page("/empty")
	w.connect()
	for _, m := range []struct {
		tool string
		args map[string]any
		says string
	}{
		{"read_page", nil, "give page, a number as other tools give it, or url"},
		{"read_page", map[string]any{"page": 1, "url": "https://docs.test/"}, "give page or url, not both"},
		{"read_page", map[string]any{"url": "https://docs.test/"}, "several crawls have the page: give crawl, one of docs, other"},
		{"read_page", map[string]any{"url": "https://nowhere.test/"}, "no crawl has the page https://nowhere.test/"},
		{"read_page", map[string]any{"url": "https://nowhere.test/", "crawl": "docs"}, "no crawl docs has the page"},
		{"read_page", map[string]any{"url": "ftp://docs.test/"}, "url ftp://docs.test/: "},
		{"read_page", map[string]any{"page": 4711}, "there is no page 4711"},
		{"read_page", map[string]any{"page": page.PageID, "crawl": "other"}, "is not one of crawl other"},
		{"read_page", map[string]any{"page": empty.PageID}, "no version yet"},
		{"read_page", map[string]any{"page": page.PageID, "at": "yesterday"}, `at "yesterday": write a date (2026-03-01)`},
		{"read_page", map[string]any{"page": page.PageID, "at": "2020-01-01"}, "no visit that is kept, at or before 2020-01-01T23:59:59Z"},
		{"read_page", map[string]any{"page": page.PageID, "at": "2026-01-01", "version": 1}, "give version or at, not both"},
		{"read_page", map[string]any{"page": page.PageID, "offset": -1}, "give next_offset of the answer before"},
		{"read_page", map[string]any{"page": page.PageID, "offset": 100_000}, "begin anew"},
		{"read_page", map[string]any{"page": page.PageID, "section": "Nowhere"}, "section"},
		{"read_page", map[string]any{"page": page.PageID, "extent": "most"}, "it is main, article or all"},
		{"diff_page", map[string]any{"page": page.PageID}, "has only version 1"},
		{"diff_page", map[string]any{"page": page.PageID, "from": 1, "since": "2026-01-01"}, "give from or since, not both"},
		{"diff_page", map[string]any{"page": page.PageID, "from": 7}, "has no version 7"},
		{"page_history", map[string]any{"page": page.PageID, "limit": 1000}, "it is from 1 to 100"},
		{"list_changes", map[string]any{"crawl": "nowhere"}, "there is no crawl \"nowhere\""},
		{"list_changes", map[string]any{"crawl": "docs", "kinds": []string{"page.best"}}, "is no kind of change"},
		{"list_changes", map[string]any{"crawl": "docs", "offset": "12"}, "give next_offset of the answer before"},
		{"search_pages", map[string]any{"crawl": "docs", "query": "  "}, "query is empty"},
		{"search_pages", map[string]any{"crawl": "docs", "query": "x", "limit": 51}, "it is from 1 to 50"},
		{"search_pages", map[string]any{"crawl": "other", "query": "x"}, "crawl other cannot be searched: it has no search index"},
		{"search_pages", map[string]any{"crawl": "nowhere", "query": "x"}, `there is no crawl "nowhere"`},
		{"list_crawls", map[string]any{"offset": -5}, "give next_offset of the answer before"},
	} {
		if r := w.call(m.tool, m.args); !r.isError || !strings.Contains(r.text, m.says) || strings.Contains(r.text, "the log") {
			t.Errorf("%s %v: want an error with %q: %s", m.tool, m.args, m.says, r.text)
		}
	}
}

func TestWithoutAnArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.page("/")
	w.finds(page.PageID, "Home", html("Home", "<p>Welcome.</p>"), days(1))
	w.options.Files = nil
	w.connect()
	for _, tool := range []string{"read_page", "diff_page"} {
		if r := w.call(tool, map[string]any{"page": page.PageID}); !r.isError || !strings.Contains(r.text, "RECRAWL_ARCHIVE") {
			t.Errorf("%s: %s", tool, r.text)
		}
	}
	w.answers("page_history", map[string]any{"page": page.PageID}).quotes("title: Home")
}

// Errors on our side go to the log: a client learns nothing of where things are.
func TestTroubleStaysHere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Reports = broken{w.options.Reports}
	w.connect()
	r := w.call("list_crawls", nil)
	if !r.isError || strings.Contains(r.text, "secret") || !strings.Contains(r.text, "the log of the server says why") {
		t.Errorf("trouble is told as %s", r.text)
	}
}
