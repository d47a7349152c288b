package activities_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// A site that gives each visitor without a cookie a session, by a redirect to the same page
// with an id, as PHP and ASP.NET do, is crawled under the first id of each page.
func TestSessionsByRedirectAreFollowed(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(path string, n int) string{
		"in the query": func(path string, n int) string {
			return fmt.Sprintf("%s?PHPSESSID=a%02dbcd3efg4hij5klm6nop7q", path, n)
		},
		"in the path": func(path string, n int) string { return fmt.Sprintf("/(S(a%02dbcd3efg4hij5klm6nop7q))%s", n, path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sessions := 0
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if !strings.Contains(r.URL.String(), "bcd3efg4hij5klm6nop7q") {
					sessions++
					http.Redirect(rw, r, address(r.URL.Path, sessions), http.StatusFound)
					return
				}
				rw.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(rw, `<p>This is the page %s of our site. <a href="/one">1</a> <a href="/two">2</a>`, r.URL.Path)
			}))
			t.Cleanup(server.Close)
			w := newWorld(t)
			seed := w.living([]string{server.URL + "/"})[0]
			w.crawlAll(seed.CrawlID, 20, seed)
			if got := w.status().Pages; got[crawl.Active] != 3 || got[crawl.Redirect] != 3 || got[crawl.Held] != 0 {
				t.Errorf("pages %v, want three that redirect and three with content", got)
			}
			// The next visit gets another id, which is that of a known page.
			again := server.URL + address("/", 99)
			w.plan(seed, 2, contract.FetchOut{Outcome: crawl.OutcomeRedirected, Status: 302, Location: again})
			if got := w.states(again); got != "held" {
				t.Errorf("the page with another id is %s", got)
			}
		})
	}
}

// The rules of a crawl can take away what a redirect adds, such as a session id. The page
// then redirects to itself, and its visit says which rule does that.
func TestRedirectToItselfByTheURLRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		location string
		want     crawl.Outcome
	}{
		"only the parameter": {"/?PHPSESSID=a01bcd3efg4hij5klm6nop7q", crawl.OutcomeFailed},
		"another page":       {"/home?PHPSESSID=a01bcd3efg4hij5klm6nop7q", crawl.OutcomeRedirected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := serve(t, answering(302, "", "Location: "+c.location))
			page := w.living([]string{s.url + "/"}, func(spec *crawl.Spec) { spec.URLs.StripParams = []string{"PHPSESSID"} })[0]
			w.visit(page, 1)
			visit := w.recordedVisit(page, 1)
			if visit.Outcome != c.want {
				t.Errorf("outcome %s, want %s", visit.Outcome, c.want)
			}
			const says = "redirects to itself once the spec's urls rules are applied: removed the parameter PHPSESSID (strip_params PHPSESSID) from "
			if told := visit.Problem == says+s.url+c.location; told != (c.want == crawl.OutcomeFailed) {
				t.Errorf("the visit says %q", visit.Problem)
			}
		})
	}
}
