package activities_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"recrawl/internal/crawl"
)

// TestHopsAreLinks: beyond the seeds' hosts a redirect is no link, and neither is being
// named as a feed.
func TestHopsAreLinks(t *testing.T) {
	t.Parallel()
	s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		switch {
		case strings.HasPrefix(r.Host, "seed."):
			other := strings.Replace(r.Host, "seed", "other", 1)
			fmt.Fprintf(rw, `<p>Links <a href="http://%s/old">a</a> <a href="http://%s/plain">b</a>`, other, other)
		case r.URL.Path == "/old":
			http.Redirect(rw, r, "/new", http.StatusMovedPermanently)
		case r.URL.Path == "/plain":
			fmt.Fprint(rw, `<link rel=alternate type="application/rss+xml" href="/feed"><p>plain <a href="/two">2</a>`)
		case r.URL.Path == "/feed":
			rw.Header().Set("Content-Type", "application/rss+xml")
			fmt.Fprint(rw, `<rss><channel><item><link>/three</link></item></channel></rss>`)
		default:
			fmt.Fprint(rw, `<p>page `+r.URL.Path+` <a href="/next">on</a>`)
		}
	})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	for hops, want := range map[int]string{1: "/new /old /plain", 2: "/new /next /old /plain /three /two"} {
		t.Run(fmt.Sprint(hops), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			seed := w.living([]string{"http://seed.localhost:" + port + "/"}, wholeMachine, func(spec *crawl.Spec) {
				spec.Scope.Type, spec.Scope.MaxHopsOffHost = "any", hops
			})[0]
			w.crawlAll(seed.CrawlID, 20, seed)
			var known []string
			for _, path := range strings.Fields("/new /next /old /plain /three /two") {
				if _, ok := w.find("http://other.localhost:" + port + path); ok {
					known = append(known, path)
				}
			}
			if got := strings.Join(known, " "); got != want {
				t.Errorf("known are %s, want %s", got, want)
			}
		})
	}
}
