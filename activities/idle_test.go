package activities_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/trap"
)

// campaigns is a site whose pages are named, and say the same whatever their query is, except
// for what ?lang=de is asked. Each page links to the next ones with a note of where the reader
// comes from, and to its own print view.
type campaigns struct {
	pages int

	mu      sync.Mutex
	fetched map[string]bool
}

func (c *campaigns) path(n int) string {
	return fmt.Sprintf("/%c%c-story/", 'a'+n%26, 'a'+n/26)
}

func (c *campaigns) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.fetched[r.URL.RequestURI()] = true
	c.mu.Unlock()
	at := -1
	for n := range c.pages {
		if c.path(n) == r.URL.Path {
			at = n
		}
	}
	language := len(r.URL.Query()["lang"])
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><title>A story</title><main><p>%s</p>", r.URL.Path+" "+sentences(40, uint64(at+1+1000*language)))
	if at < 0 {
		for n := range 3 {
			fmt.Fprintf(w, `<p><a href="%s">a story</a></p>`, c.path(n))
		}
		return
	}
	for _, next := range []int{(2*at + 3) % c.pages, (2*at + 4) % c.pages, (at * 7) % c.pages} {
		fmt.Fprintf(w, `<p><a href="%s?utm_source=site&amp;utm_content=from%d">related</a></p>`, c.path(next), at)
	}
	for _, own := range []string{"?print=1", "?lang=de"} {
		fmt.Fprintf(w, `<p><a href="%s%s">view</a></p>`, c.path(at), own)
	}
	fmt.Fprintf(w, `<p><a href="%s">next</a></p>`, c.path((at+1)%c.pages))
}

// Parameters that choose nothing are found by what pages on many paths say. From then on, addresses
// with them are held. No page is lost, whichever address is linked first, nor are pages that a
// parameter does choose.
func TestIdleParametersAreHeld(t *testing.T) {
	t.Parallel()
	const pages = 60
	web := &campaigns{pages: pages, fetched: map[string]bool{}}
	server := httptest.NewServer(web)
	t.Cleanup(server.Close)
	w := newWorld(t)
	seed := w.living([]string{server.URL + "/"})[0]
	visits := w.firstPass(seed, func(visits int) bool { return visits%30 == 0 })
	views := map[string]int{}
	for n := range pages {
		said := false
		for _, query := range []string{"", "?"} {
			for address := range web.fetched {
				said = said || strings.HasPrefix(address, web.path(n)+query) && !strings.Contains(address, "lang")
			}
		}
		if !said {
			t.Errorf("nobody read %s", web.path(n))
		}
		if !web.fetched[web.path(n)+"?lang=de"] {
			t.Errorf("nobody read %s in German", web.path(n))
		}
	}
	for address := range web.fetched {
		_, query, _ := strings.Cut(address, "?")
		name, _, _ := strings.Cut(query, "=")
		views[name]++
	}
	t.Logf("%d visits: %v", visits, views)
	for _, name := range []string{"/?print=1", "/?utm_source=site", "/?utm_content=*"} {
		if it := w.traps()[strings.TrimPrefix(server.URL, "http://")+name]; it.Reason != trap.ReasonIdle {
			t.Errorf("trap %s: %+v", name, it)
		}
	}
	if views["print"] == pages || views["utm_source"] == 3*pages {
		t.Errorf("all copies were visited: %v", views)
	}
}

// A page that redirects to an address with an idle parameter has its content there. It is visited
// even if it was held before anybody knew.
func TestRedirectToAnIdleParameter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living([]string{"http://localhost/", "http://localhost/a"})
	must[[]store.TrapRecord](t)(w.store.SetTraps(t.Context(), pages[0].CrawlID, []store.NewTrap{{
		Site: "localhost", Host: "localhost", Name: "localhost/?view=full", Pattern: []byte(`{"kind":"idle","host":"localhost","param":"view=full"}`), Reason: trap.ReasonIdle, After: -1,
	}}))
	urls := []string{"http://localhost/a?view=full", "http://localhost/b?view=full", "http://localhost/a?view=full&x=1", "http://localhost/c?view=full"}
	w.link(pages[0], 1, append(urls, "http://localhost/b")...)
	if got := w.states(urls...); got != "held held known known" {
		t.Errorf("states %s", got)
	}
	w.plan(pages[1], 1, contract.FetchOut{Outcome: crawl.OutcomeRedirected, Status: 302, Location: urls[0]})
	if got := w.states(urls...); got != "known held known known" {
		t.Errorf("after the redirect %s", got)
	}
	if it := w.traps()["localhost/?view=full"]; it.Held != 1 {
		t.Errorf("trap %+v", it)
	}
}
