package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

// has checks that a page shows what it must.
func has(t *testing.T, page string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

func TestPageIsExplained(t *testing.T) {
	t.Parallel()
	w := newPageWorld(t)
	w.shop()
	page := w.get(w.at("/", ""))
	has(t, page, "<bdi>Prices &amp; tickets</bdi>", "4 of its last 23 comparisons found a change", "about every", "The next visit is in ",
		`href="http://127.0.0.1:8233/namespaces/default/workflows/page%2Fshop%2Fhttps:%2F%2Fshop.test%2F"`,
		"The mathematics of it", "<dt>Belief</dt>", "<dt>Robots</dt>", "<dt>Host</dt>", `href="/crawls/shop/hosts/shop.test"`,
		"nobody is there", "About us", "What changed", "All visits", `<a href="https://shop.test/" rel="noopener noreferrer nofollow">`)
	// Wide and narrow drawings, each with a mark for each visit, and the belief.
	for kind, n := range map[string]int{"change": 4, "fail": 2, "new": 1, "same": 19} {
		if got := strings.Count(page, `class="visit `+kind+`"><title>`); got != 2*n {
			t.Errorf("%d marks %s in both drawings, want %d", got, kind, 2*n)
		}
	}
	if got := strings.Count(page, `<path class="line" d="M46 `); got != 2 {
		t.Errorf("%d drawings have a belief, want 2", got)
	}
	known := w.get(w.at("/not-yet", ""))
	has(t, known, "it has no place in the collection yet", "once the collection has a place for it", "None yet")
	if strings.Contains(known, "Visit now") {
		t.Error("a page without a place is offered a visit")
	}
	has(t, w.get(w.at("/gone", "")), "It is gone: its last visit, 2d ago, was answered with status 410.")
}

// Programs get the objects of `starter explain` and `starter history`.
func TestPageAsJSON(t *testing.T) {
	t.Parallel()
	w := newPageWorld(t)
	w.shop()
	var out bytes.Buffer
	r := w.server.Report
	r.Out = &out
	page := w.pages["/not-yet"] // whose next visit does not depend on the moment
	w.check(r.Explain(w.Context(), page, report.Live{Problem: "nobody is there"}))
	free := regexp.MustCompile(`"next_free":"[^"]*"`) // which is now
	same := func(a, b string) bool { return free.ReplaceAllString(a, "") == free.ReplaceAllString(b, "") }
	if got := w.get(w.at("/not-yet", ".json")); !same(got, out.String()) {
		t.Errorf("%s\nwant\n%s", got, out.String())
	}
	byAccept := w.ask(http.MethodGet, w.at("/not-yet", ""), nil, http.Header{"Accept": {"application/json"}})
	if !same(byAccept.Body.String(), out.String()) {
		t.Errorf("by Accept: %s", byAccept.Body)
	}

	for view, ask := range map[string]func() error{
		"/visits.json":   func() error { return r.History(w.Context(), report.HistoryQuery{URL: "https://shop.test/"}) },
		"/versions.json": func() error { return r.Versions(w.Context(), report.HistoryQuery{URL: "https://shop.test/"}) },
	} {
		out.Reset()
		w.check(ask())
		lines := ""
		for _, item := range w.all(w.at("/", view) + "?limit=3") {
			lines += string(item) + "\n"
		}
		if lines != out.String() {
			t.Errorf("%s:\n%s\nwant\n%s", view, lines, out.String())
		}
	}
}

// all returns the items of a list, read part by part.
func (w *pageWorld) all(address string) []json.RawMessage {
	w.Helper()
	var all []json.RawMessage
	for range 100 {
		var part struct {
			V     int               `json:"v"`
			Items []json.RawMessage `json:"items"`
			Next  *string           `json:"next"`
		}
		w.check(json.Unmarshal([]byte(w.get(address)), &part))
		if part.V != 1 || part.Items == nil {
			w.Fatalf("%s: %+v", address, part)
		}
		all = append(all, part.Items...)
		if part.Next == nil {
			return all
		}
		address = *part.Next
	}
	w.Fatalf("%s has no end", address)
	return nil
}

func TestListsOfAPage(t *testing.T) {
	t.Parallel()
	w := newPageWorld(t)
	w.shop()
	for i := range 12 {
		path := fmt.Sprintf("/copy/%d", i)
		w.page(path, "/")
		w.known("/about", path)
	}
	about := w.read("/about")
	if links := w.all(w.at("/about", "/backlinks.json") + "?limit=5"); len(links) != 13 || about.Backlinks != 13 {
		t.Errorf("%d back-links, %d are counted", len(links), about.Backlinks)
	}
	has(t, w.get(w.at("/about", "/backlinks")), "https://shop.test/copy/0", "https://shop.test/copy/11", "Prices &amp; tickets")
	first := w.get(w.at("/about", "/backlinks?limit=5"))
	next := regexp.MustCompile(`<a href="([^"]+)" rel="next">`).FindStringSubmatch(first)
	if next == nil {
		t.Fatalf("no next part in\n%s", first)
	}
	has(t, w.get(strings.ReplaceAll(next[1], "&amp;", "&")), "/copy/")

	copies := []store.NewDuplicate{}
	original := w.read("/")
	for i := range 2 {
		path := fmt.Sprintf("/copy/%d", i)
		w.finds(path, "Copy", htmlType, prices("8", "copy"), days(1))
		page := w.read(path)
		copies = append(copies, store.NewDuplicate{
			PageVersion: store.PageVersion{PageID: page.PageID, Version: page.Last.ID},
			Of:          store.DuplicateOf{PageVersion: store.PageVersion{PageID: original.PageID, Version: original.Last.ID}, Exact: i == 0, Resemblance: 0.97},
		})
	}
	w.check(w.s.UpdateDuplicates(w.Context(), store.UpdateDuplicatesParams{CrawlID: w.crawl.ID, Set: copies}))
	if got := w.all(w.at("/", "/duplicates.json") + "?limit=1"); len(got) != 2 || !strings.Contains(string(got[0]), `"of":"https://shop.test/"`) {
		t.Errorf("duplicates: %s", got)
	}
	has(t, w.get(w.at("/", "/duplicates")), "https://shop.test/copy/0", "exact", "https://shop.test/copy/1", "0.970")
	has(t, w.get(w.at("/copy/1", "")), "Duplicate of", w.at("/", ""))
	has(t, w.get(w.at("/", "/visits?before=12&limit=5")), "connect: connection refused", `rel="next"`)
	has(t, w.get(w.at("/", "/versions")), "What changed")
}

func TestAddressesOfNothing(t *testing.T) {
	t.Parallel()
	w := newPageWorld(t)
	w.shop()
	for address, c := range map[string]struct {
		status int
		words  string
	}{
		"/crawls/shop/pages/999":                          {404, "page 999 of crawl shop"},
		"/crawls/other/pages/1":                           {404, "page 1 of crawl other"},
		"/crawls/shop/pages/one":                          {400, "is a number as in the lists"},
		w.at("/", "/visits?before=x"):                     {400, "before=x"},
		w.at("/", "/visits?limit=501"):                    {400, "it is at most 500"},
		w.at("/", "/versions/99"):                         {404, "has no version 99"},
		w.at("/", "/visits.json?before=2147483648"):       {400, "it is at most 2147483647"},
		w.at("/", "/versions?before=9223372036854775807"): {400, "it is at most 2147483647"},
		w.at("/", "/versions/0"):                          {400, "numbered from 1"},
		w.at("/", "/versions/1?view=source"):              {400, "text, all, body or head"},
		w.at("/", "/versions/1/body.json"):                {404, "not found"},
		w.at("/", "/versions/99/body"):                    {404, "has no version 99"},
		w.at("/not-yet", "/diff"):                         {404, "has no version yet"},
		w.at("/about", "/diff"):                           {404, "nothing to compare it with"},
		w.at("/", "/diff?from=x"):                         {400, "numbered from 1"},
		w.at("/", "/diff?from=1&to=2&view=source"):        {400, "text, all, body or head"},
	} {
		got := w.ask(http.MethodGet, address, nil, nil)
		if got.Code != c.status || !strings.Contains(got.Body.String(), c.words) {
			t.Errorf("%s: %d, want %d with %q:\n%s", address, got.Code, c.status, c.words, got.Body)
		}
	}
	w.server.Files = nil
	if got := w.ask(http.MethodGet, w.at("/", "/versions/1"), nil, nil); got.Code != 404 || !strings.Contains(got.Body.String(), "has no archive") {
		t.Errorf("without an archive: %d %s", got.Code, got.Body)
	}
}

func TestPageButtons(t *testing.T) {
	t.Parallel()
	w := newPageWorld(t)
	w.shop()
	has(t, w.get(w.at("/", "")), "Visit now", "For 30 days", "As its policy plans", "Visit it no more", `action="`+w.at("/", "/set-interval")+`"`)
	for _, c := range []struct {
		change, time string
		status       int
	}{
		{"visit-now", "", 303},
		{"snooze", "7d", 303},
		{"set-interval", "0", 303},
		{"set-interval", "36h", 303},
		{"stop", "", 303},
		{"set-interval", "soon", 400},
		{"snooze", "", 400},
		{"forget", "", 400},
	} {
		fields := url.Values{"back": {w.at("/", "")}}
		if c.time != "" {
			fields.Set("for", c.time)
		}
		got := w.ask(http.MethodPost, w.at("/", "/"+c.change), fields, nil)
		if got.Code != c.status || c.status == 303 && got.Header().Get("Location") != w.at("/", "") {
			t.Errorf("%s %s: %d to %q: %s", c.change, c.time, got.Code, got.Header().Get("Location"), got.Body)
		}
	}
	const home = "https://shop.test/ "
	if got, want := strings.Join(w.asked.asked, "\n"), home+"visit-now \n"+home+"snooze 7d\n"+home+"set-interval 0s\n"+home+"set-interval 1d12h\n"+home+"stop "; got != want {
		t.Errorf("asked for\n%s\nwant\n%s", got, want)
	}
	w.server.Commands = nil
	if page := w.get(w.at("/", "")); strings.Count(page, "<button") != strings.Count(page, " disabled>") {
		t.Errorf("a button can be pressed on a page to look at:\n%s", page)
	}
}

// A stopped page can only be brought back.
func TestStoppedPageComesBack(t *testing.T) {
	t.Parallel()
	got := buttonsOf(store.PageRecord{State: crawl.Stopped})
	if got.Visit == nil || got.Visit.Label != "Bring it back" || got.Snooze != nil || got.Custom != "" || got.Stop != nil {
		t.Errorf("%+v", got)
	}
}

// A workflow that does not answer holds its page up for a moment only.
func TestSilentWorkflow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		silent := &askedCommands{live: func(ctx context.Context) (report.Live, error) {
			<-ctx.Done()
			return report.Live{}, ctx.Err()
		}}
		began := time.Now()
		live := (&Server{Options: Options{Commands: silent}}).askLive(t.Context(), store.PageRecord{})
		if time.Since(began) != liveLimit || !strings.Contains(live.Problem, "within 0.3 s, because") || !strings.Contains(live.Problem, "Load this page again") {
			t.Errorf("after %s: %+v", time.Since(began), live)
		}
	})
}

// The text of a page is shown, and does nothing.
func TestHostilePageIsInert(t *testing.T) {
	t.Parallel()
	w := newPageWorld(t)
	w.shop()
	w.finds("/hostile", hostileTitle, "text/html", "<title>x</title><script>alert(2)</script><p>Sell \u202Enow</p>", days(0.5))
	for _, view := range []string{"", "/versions", "/visits", "/versions/1", "/versions/1?view=body", "/versions/1?view=all", "/diff", "/diff?view=body"} {
		page := w.get(w.at("/hostile", view))
		for _, bad := range []string{"<script>alert", "<iframe", "\u202E", "\x1b", strings.Repeat("Title ", 60)} {
			if strings.Contains(page, bad) {
				t.Errorf("%s has %q:\n%s", view, bad, page)
			}
		}
		if view != "/visits" && !strings.Contains(page, "alert") && !strings.Contains(page, "&lt;script") && !strings.Contains(page, "now") {
			t.Errorf("%s shows nothing of it:\n%s", view, page)
		}
		if strings.Contains(page, " style=") || strings.Contains(page, " onclick=") {
			t.Errorf("%s has a style or script of its own, which the policy forbids", view)
		}
	}
	body := w.ask(http.MethodGet, w.at("/hostile", "/versions/1/body"), nil, nil)
	if got := body.Header().Get("Content-Type"); got != "text/plain; charset=utf-8" {
		t.Errorf("sent as %q", got)
	}
}
