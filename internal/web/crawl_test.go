package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/feed/reader"
	"recrawl/internal/store"
)

func TestCrawl(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	prices := w.page("https://example.com/prices", "example.com")
	w.finds(prices, "Prices", "<p>Welcome to all who come here.<p>A ticket costs 10 euros.<p>Children are free.")
	w.finds(prices, "New prices", "<p>Welcome to all who come here.<p>A ticket costs 12 euros.<p>Dogs are free.")
	gone := w.page("https://example.com/old", "example.com")
	w.visit(gone, store.VisitRecord{Outcome: crawl.OutcomeGone, State: crawl.Gone, Status: 404, Problem: "not found"})

	page := w.get("/crawls/news")
	w.has(page, "New prices", `<ins dir="auto">A ticket costs 12 euros.</ins>`, `<del dir="auto">Children are free.</del>`, "<ins>+2</ins>", "gone (404)",
		`href="/crawls/news/pages/`, "diff?from=1&amp;to=2", `action="/crawls/news/do/pause"`, `action="/crawls/news/url"`,
		`<input id="url" name="url" type="search"`) // of type url, it would refuse example.com/page
	// Lines in another order have the words that they had.
	steps := w.page("https://example.com/steps", "example.com")
	w.finds(steps, "Steps", "<ol><li>Close the valve.<li>Open the lid.<li>Fill in the oil.</ol>")
	w.finds(steps, "Steps", "<ol><li>Open the lid.<li>Close the valve.<li>Fill in the oil.</ol>")
	w.has(w.get("/crawls/news"), `<del dir="auto">`, `<ins dir="auto">Open the lid.</ins>`)
	if strings.Index(page, "gone (404)") > strings.Index(page, "New prices") {
		t.Error("the newest change is not the first")
	}
	changed := w.get("/crawls/news?kinds=" + url.QueryEscape("page.changed,page.back"))
	w.has(changed, "New prices", `aria-current="true">Changed`)
	if strings.Contains(changed, "gone (404)") {
		t.Error("a kind that was not asked for is shown")
	}
	if got := w.do(local(http.MethodGet, "/crawls/news?kinds=page.unheard", "")); got.Code != http.StatusBadRequest {
		t.Errorf("an unknown kind: %d", got.Code)
	}
	missing := w.do(local(http.MethodGet, "/crawls/olds", ""))
	if missing.Code != http.StatusNotFound {
		t.Errorf("a crawl that does not exist: %d", missing.Code)
	}
}

// What changed in the text of a page is not shown any more once the page is forgotten, though it
// was shown before.
func TestChangesOfForgottenPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := "https://example.com/neighbours"
	page := w.page(url, "example.com")
	w.finds(page, "Neighbours", "<p>Welcome to all who come here.<p>Ann lives in the street.")
	w.finds(page, "Neighbours", "<p>Welcome to all who come here.<p>Ann lives in the house.")
	changes := reader.New(w.s, w.files)
	last, err := changes.Last(t.Context(), reader.Query{CrawlID: w.crawl.ID}, feed.Cursor{}, 1)
	w.check(err)
	diff, err := changes.DiffOf(t.Context(), last.Events[0])
	w.check(err)
	w.server.diffs.put(diffKey{last.Events[0].ID, w.crawl.Generation}, diff) // as somebody's look does, if there is time
	paths := []string{"/crawls/news", "/crawls/news/changes"}
	for _, path := range paths {
		w.has(w.get(path), "Ann lives in the house.")
	}
	_, err = w.s.Forget(t.Context(), store.ForgetParams{Target: store.Target{URL: url}, Limit: 10})
	w.check(err)
	for _, path := range paths {
		if got := w.get(path); !strings.Contains(got, "forgotten since") || strings.Contains(got, "Ann lives") {
			t.Errorf("%s shows what was forgotten:\n%s", path, got)
		}
	}
}

// The JSON of a crawl is that of `starter status --output json`.
func TestCrawlJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finds(w.page("https://example.com/", "example.com"), "Home", "<p>Hello to you all.")
	ownTime := regexp.MustCompile(`"(now|lag|ends|takes)":"[^"]*"`)
	var want bytes.Buffer
	r := w.server.Report
	r.Out = &want
	w.check(r.Status(t.Context(), "news"))
	for _, path := range []string{"/crawls/news.json", "/crawls/news"} {
		ask := local(http.MethodGet, path, "")
		ask.Header.Set("Accept", "application/json")
		got := w.do(ask)
		if a, b := ownTime.ReplaceAllString(got.Body.String(), ""), ownTime.ReplaceAllString(want.String(), ""); a != b {
			t.Errorf("%s:\n%s\nwant\n%s", path, a, b)
		}
		if got.Header().Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("%s: %v", path, got.Header())
		}
	}
	ask := local(http.MethodGet, "/crawls/olds.json", "")
	if got := w.do(ask); got.Code != http.StatusNotFound || !strings.HasPrefix(got.Body.String(), `{"error":`) {
		t.Errorf("a crawl that does not exist: %d %s", got.Code, got.Body)
	}
}

// A page's title is text, whatever it contains, and cannot turn the line around.
func TestHostileTitle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	title := `</bdi><script>alert(1)</script><img src=x onerror=alert(2)>` + "\u202egnp.exe\u0000\u001b[31m" + strings.Repeat("long ", 2000)
	w.finds(w.page("https://example.com/?q=%3Cscript%3E&x='\"", "example.com"), title, "<p><script>alert(3)</script>One line.<p>Two.")
	w.finds(w.page("https://example.com/?q=%3Cscript%3E&x='\"", "example.com"), title, "<p>&lt;script&gt;alert(4)&lt;/script&gt; is said here.<p>Three.")
	page := w.get("/crawls/news")
	w.has(page, "&lt;script&gt;alert(1)")
	for _, never := range []string{"<script>alert", "<img src", "\u202e", "\u001b", "\u0000", strings.Repeat("long ", 40)} {
		if strings.Contains(page, never) {
			t.Errorf("%q stands in the page", never)
		}
	}
}

// Commands that take long are shown with how far they have come, and the page learns of it.
func TestLongCommandsAreShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	marks := map[string]bool{}
	for _, doing := range [][]string{nil, {"the repair of news is under way"}, {"the repair of news is under way: 500 of 2000 pages <looked> at"}} {
		w.commands.doing = doing
		mark, err := w.server.mark(t.Context(), "news")
		w.check(err)
		marks[mark] = true
	}
	if len(marks) != 3 {
		t.Errorf("marks %v", marks)
	}
	w.has(w.get("/crawls/news"), "The repair of news is under way: 500 of 2000 pages &lt;looked&gt; at</bdi>.")
}

// inline matches what the Content-Security-Policy would stop from working.
var inline = regexp.MustCompile(`(?i)\sstyle\s*=|<style|<script(?:\s[^>]*)?>[^<]|\son[a-z]+\s*=|javascript:`)

func TestNothingInline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finds(w.page("https://example.com/", "example.com"), "Home", "<p>Hello to you all.")
	for _, path := range []string{"/", "/crawls/news"} {
		if found := inline.FindString(w.get(path)); found != "" {
			t.Errorf("%s has %q", path, found)
		}
	}
}

// Each button does what the command does, and the page from which it was pressed shows what
// was understood.
func TestButtons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path   string
		fields url.Values
		call   string
	}{
		{"/crawls/news/do/pause", nil, "pause news"},
		{"/crawls/news/do/repair", nil, "repair news"},
		{"/crawls/news/retry", nil, `retry news ""`},
		{"/crawls/news/retry", url.Values{"host": {"example.com:8080"}}, `retry news "example.com:8080"`},
		{"/crawls/news/sinks/team/resume", nil, `sink resume news team ""`},
		{"/crawls/news/sinks/team/replay", url.Values{"after": {"c1.ab.7"}}, `sink replay news team "c1.ab.7"`},
		{"/crawls/news/sinks/team/replay", url.Values{"failed": {"1"}}, "replay what team of news could not deliver"},
		{"/crawls/news/hosts/example.com:8080/block", nil, "block example.com:8080 true"},
		{"/crawls/news/retry", url.Values{"host": {"B\u00fccher.Example"}}, `retry news "xn--bcher-kva.example"`},
		{"/crawls/news/hosts/EXAMPLE.Com:80/block", nil, "block example.com true"},
		{"/crawls/news/hosts/https:%2F%2Fexample.org%2F/block", nil, "block example.org true"},
		{"/crawls/news/hosts/example.com/unblock", nil, "block example.com false"},
		{"/crawls/news/traps/example.com%2Fprint%2F%23/release", nil, "release news example.com/print/#"},
	} {
		w := newWorld(t)
		fields := url.Values{"back": {"/crawls/news"}}
		for k, v := range c.fields {
			fields[k] = v
		}
		answer, next := w.press(c.path, fields)
		if !slices.Equal(w.commands.calls, []string{c.call}) || answer.Header().Get("Location") != "/crawls/news" {
			t.Errorf("%s: %d to %q, calls %v", c.path, answer.Code, answer.Header().Get("Location"), w.commands.calls)
		}
		w.has(next, `role="status">did: `)
		if again := w.get("/crawls/news"); strings.Contains(again, "did: ") {
			t.Error("what was done is said for ever")
		}
	}
	for _, path := range []string{"/crawls/news/do/delete", "/crawls/news/sinks/team/erase", "/crawls/news/hosts/example.com/praise"} {
		w := newWorld(t)
		if got, _ := w.press(path, nil); got.Code != http.StatusConflict && got.Code != http.StatusBadRequest || len(w.commands.calls) > 0 {
			t.Errorf("%s: %d, %v", path, got.Code, w.commands.calls)
		}
	}
}

// A command that fails says why, in the starter's words.
func TestFailedCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commands.err = errors.New("cannot reach Temporal at 127.0.0.1:1: is it running?")
	got, _ := w.press("/crawls/news/do/pause", nil)
	if got.Code != http.StatusConflict {
		t.Errorf("%d", got.Code)
	}
	w.has(got.Body.String(), "cannot reach Temporal at 127.0.0.1:1: is it running?")
}

// endless is a feed that does not know where it ends.
type endless struct{ Feed }

func (endless) FeedEnds(context.Context) (store.FeedEnds, error) {
	return store.FeedEnds{}, fmt.Errorf("ends of the feed: %w", store.ErrUnavailable)
}

// While the store does not know the newest change, the page shows all else.
func TestCrawlWithoutItsChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.Feed = endless{w.server.Feed}
	w.has(w.get("/crawls/news"), "What has changed lately cannot be read now.", "The last thirty days")
}

// As long as pages wait for their first visit, the page says how far that is.
func TestFirstPass(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finds(w.page("https://example.com/", "example.com"), "Home", "<p>Hello to you all.")
	if strings.Contains(w.get("/crawls/news"), "<progress") {
		t.Error("a bar, though all pages were visited")
	}
	w.page("https://example.com/next", "example.com")
	w.has(w.get("/crawls/news"), `<progress max="2" value="1" aria-label="First pass">`, "1 of 2 pages visited; 1 to go", "1 not visited yet")
	w.has(w.get("/"), `<progress max="2" value="1" aria-label="First pass">`)
}

// A crawl that was stopped has its copies, and does not run.
func TestStoppedCrawl(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.page("https://example.com/", "example.com")
	w.finds(page, "Home", "<p>One.</p>")
	w.visit(page, store.VisitRecord{Outcome: crawl.OutcomeFailed, State: crawl.Stopped})
	_, err := w.s.SetCrawlState(w.Context(), "news", crawl.CrawlStopped)
	w.check(err)
	shown := w.get("/crawls/news")
	w.has(shown, "stopped; its copies are not kept fresh", "Nothing. It is stopped.")
	if strings.Contains(shown, "no copies yet") || strings.Contains(shown, "It runs by itself") {
		t.Errorf("it has a copy and does not run:\n%s", shown)
	}
}

// Feeds of the same crawl are one to a reader if they have the same changes, and one without
// entries does not change.
func TestAtomFeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.get("/crawls/news/changes.atom")
	w.has(first, `<link rel="self" href="http://localhost:8234/crawls/news/changes.atom"`)
	if again := w.get("/crawls/news/changes.atom"); again != first {
		t.Errorf("an empty feed changes:\n%s\n%s", first, again)
	}
	id := func(query string) string {
		return regexp.MustCompile("<id>(.*?)</id>").FindStringSubmatch(w.get("/crawls/news/changes.atom" + query))[1]
	}
	for _, same := range [][2]string{{"", "?limit=7"}, {"?kinds=page.gone,page.new", "?kinds=page.new,page.gone&diff=1"}, {"?host=A.test", "?host=a.test"}} {
		if a, b := id(same[0]), id(same[1]); a != b {
			t.Errorf("%v are two feeds", same)
		}
	}
	if ids := []string{id(""), id("?kinds=page.gone"), id("?kinds=page.new"), id("?host=a.test")}; len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 4 {
		t.Errorf("other changes, the same feed: %v", ids)
	}
}
