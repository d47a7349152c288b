package activities_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// A robots.txt that names other sitemaps each day, for the same pages, does not fill the crawl.
// One whose sitemaps bring news does not lose any, however it calls them.
func TestSitemapsThatARobotsRenames(t *testing.T) {
	t.Parallel()
	const days, lists = 30, 3
	for _, c := range []struct {
		name string
		list func(day, n int) string // its path
		page func(day, n int) string // what it lists
		want int
	}{
		{
			"the same pages under new names", func(d, n int) string { return fmt.Sprintf("/%d/%d.xml", d, n) },
			func(_, n int) string { return fmt.Sprintf("/page-%d", n) }, 5*lists + 2,
		},
		{
			"news under new names", func(d, n int) string { return fmt.Sprintf("/%d/%d.xml", d, n) },
			func(d, n int) string { return fmt.Sprintf("/page-%d-%d", d, n) }, days * lists,
		},
		{
			"a new one each day beside old ones", func(d, n int) string { return fmt.Sprintf("/0/%d.xml", min(n, 1)*d*10+n) },
			func(int, int) string { return "/" }, days*2 + 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found, day := map[string]int{}, 0
			var file atomic.Value
			s := serve(t, func(w http.ResponseWriter, r *http.Request) { answering(200, file.Load().(string))(w, r) })
			w := newWorld(t, func(p *parts) {
				p.store = agedStore{p.store, func(url string) time.Duration { return time.Duration(day-found[url]) * 24 * time.Hour }}
			})
			w.open([]string{s.url + "/"}, func(spec *crawl.Spec) { spec.Limits.Window = 1000 })
			seed := w.admitted(s.url + "/")
			for day = 1; day <= days; day++ {
				var text strings.Builder
				for url := range found { // the old ones of the last case
					if strings.Contains(url, "/0/") {
						fmt.Fprintf(&text, "Sitemap: %s\n", url)
					}
				}
				pages := map[string]string{}
				for n := range lists {
					if url := s.url + c.list(day, n); found[url] == 0 {
						found[url], pages[url] = day, s.url+c.page(day, n)
						fmt.Fprintf(&text, "Sitemap: %s\n", url)
					}
				}
				file.Store(text.String())
				w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsUnreachable}) // a day is over
				w.refreshed(seed)
				for url, page := range pages {
					if _, known := w.find(url); known {
						w.read(w.page(url).PageRef, "application/xml", urlset(page))
					}
				}
			}
			if n := len(w.sources()); n != c.want {
				t.Errorf("%d lists, want %d", n, c.want)
			}
			if refused := w.rejected("renamed lists"); (refused > 0) != (c.want < 2*days) {
				t.Errorf("%d lists are rejected", refused)
			}
		})
	}
}
