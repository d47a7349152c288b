package activities_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"recrawl/internal/store"
)

// A page whose first visit falls into trouble of its whole site is looked at again after a day. A
// dead link among pages rests, and so does a page of a site that has had none.
func TestFirstVisitsInTroubleOfTheHost(t *testing.T) {
	t.Parallel()
	moved := func(status int, to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to+r.URL.Query().Get("to"), status) }
	}
	content := pageOf("<p>hello")
	for _, c := range []struct {
		name    string
		answers []http.HandlerFunc // of one page after the other
		soon    string             // which of them come soon, by + and -
	}{
		{"not found", []http.HandlerFunc{content, answering(404, ""), answering(404, ""), answering(404, "")}, " -++"},
		{"a login", []http.HandlerFunc{content, moved(302, "/login"), moved(302, "/login")}, " -+"},
		{"trouble of other kinds between", []http.HandlerFunc{content, answering(404, ""), answering(500, ""), answering(404, "")}, " - +"},
		{"a dead link", []http.HandlerFunc{content, answering(404, ""), content, answering(404, "")}, " - -"},
		{"it is over", []http.HandlerFunc{content, answering(404, ""), answering(404, ""), content, answering(404, "")}, " -+ -"},
		{"redirects to several places", []http.HandlerFunc{content, moved(302, "/a"), moved(302, "/b")}, " --"},
		{"for good", []http.HandlerFunc{content, answering(410, ""), answering(410, ""), moved(301, "/"), moved(301, "/")}, " ----"},
		{"nothing there", []http.HandlerFunc{answering(404, ""), answering(404, ""), answering(404, "")}, "---"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
				var n int
				fmt.Sscanf(r.URL.Path, "/%d", &n)
				c.answers[n](rw, r)
			})
			var urls []string
			for n := range c.answers {
				urls = append(urls, fmt.Sprintf("%s/%d", s.url, n))
			}
			seed := w.living([]string{s.url + "/"})[0]
			host := strings.TrimPrefix(s.url, "http://")
			var list []store.NewURL
			for _, url := range urls {
				list = append(list, store.NewURL{URL: url, Host: host, Level: 1})
			}
			must[store.RegisterResult](t)(w.store.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: seed.CrawlID, From: seed.PageID, URLs: list}))
			for n, url := range urls {
				page := w.admitted(url)
				plan := w.visit(page, 1)
				rest := plan.NextAt.Sub(plan.At)
				switch c.soon[n] {
				case '+':
					if !near(rest, day, 0.1) {
						t.Errorf("page %d comes again after %s, want a day", n, rest)
					}
				case '-':
					if rest < 100*day {
						t.Errorf("page %d comes again after %s, want it to rest", n, rest)
					}
				}
			}
		})
	}
}
