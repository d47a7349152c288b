package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestReadView(t *testing.T) {
	t.Parallel()
	w := newPageWorld(t)
	w.shop()
	page := w.get(w.at("/", "/read"))
	has(t, page, `<article class="card text" dir="auto" lang="en"`, "A ticket costs 13 euros.", "likely unchanged", `placeholder="`+time.Now().UTC().Format("2006"), `aria-current="true">Main text`, "All versions")
	old := w.get(w.at("/", "/read?version=2"))
	has(t, old, "A ticket costs 10 euros.", "The page has version 5 now", w.at("/", "/read"))
	has(t, w.get(w.at("/", "/read?extent=all")), `aria-current="true">All of it`, `type="hidden" name="extent" value="all"`)
	var got struct {
		Version                  int
		Markdown, Freshness, URL string
	}
	w.check(json.Unmarshal([]byte(w.get(w.at("/", "/read.json?at="+days(30).Format("2006-01-02")))), &got))
	if got.Version != 3 || !strings.Contains(got.Markdown, "A ticket costs 11 euros.") || got.URL != "https://shop.test/" {
		t.Errorf("%+v", got)
	}
	has(t, w.get(w.at("/", "")), w.at("/", "/read"))
	has(t, w.get(w.at("/", "/versions/2")), w.at("/", "/read?version=2"))
}

func TestReadViewMistakes(t *testing.T) {
	t.Parallel()
	w := newPageWorld(t)
	w.shop()
	for address, want := range map[string]int{
		w.at("/", "/read?extent=most"): http.StatusBadRequest, w.at("/", "/read?at=yesterday"): http.StatusBadRequest, w.at("/", "/read?version=0"): http.StatusBadRequest,
		w.at("/", "/read?version=99"): http.StatusNotFound, w.at("/", "/read?at=2001-01-01"): http.StatusNotFound, w.at("/not-yet", "/read"): http.StatusNotFound,
		w.at("/", "/read?version=1&at=2030-01-01"): http.StatusBadRequest,
	} {
		if got := w.ask(http.MethodGet, address, nil, nil); got.Code != want {
			t.Errorf("%s: %d, want %d\n%s", address, got.Code, want, got.Body)
		}
	}
}

// The text of a page stays text in its document too, and leads nowhere here.
func TestReadHostilePage(t *testing.T) {
	t.Parallel()
	w := newPageWorld(t)
	w.shop()
	w.page("/evil", "/about")
	w.finds("/evil", hostileTitle, htmlType, `<main><h1>&lt;img src=x onerror=alert(1)></h1><p><a href="javascript:alert(1)">a</a> <a href="/crawls/shop/do/stop">b</a> <img src="https://evil.test/pixel.gif" alt="&quot;><script>alert(1)</script>"> &lt;script>alert(1)&lt;/script> [x](javascript:alert(1))`+"\u202E"+`now</p></main>`, days(1))
	page := w.get(w.at("/evil", "/read"))
	for _, never := range []string{"<script>alert", "<img", "javascript:alert(1)\"", `href="/crawls/shop/do/`, "\u202E"} {
		if strings.Contains(page, never) {
			t.Errorf("%q is on the page:\n%s", never, page)
		}
	}
}

// A missing archive is reported in a line, and so are bytes that a site asks not to keep.
func TestReadWithoutBytes(t *testing.T) {
	t.Parallel()
	w := newPageWorld(t)
	w.shop()
	w.server.Files = nil
	if got := w.ask(http.MethodGet, w.at("/", "/read"), nil, nil); got.Code != http.StatusNotFound || !strings.Contains(got.Body.String(), "RECRAWL_ARCHIVE") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}
