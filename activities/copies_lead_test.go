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
)

// equalLists answers the pages of a part of a site, which all say the same and lead to others,
// and anything else with a page of its own. It notes what was fetched.
type equalLists struct {
	lists map[string][]string // their links

	mu      sync.Mutex
	fetched map[string]bool
}

func (e *equalLists) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	address := r.URL.RequestURI()
	e.mu.Lock()
	e.fetched[address] = true
	e.mu.Unlock()
	links, list := e.lists[address]
	text := sentences(40, 5)
	if !list {
		text = address + " " + sentences(40, uint64(len(address)), uint64(address[len(address)-1]))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><title>A site</title><main><p>%s</p>", text)
	for _, link := range links {
		fmt.Fprintf(w, `<p><a href="%s">Read more</a></p>`, link)
	}
	fmt.Fprint(w, "</main>")
}

// TestEqualListsAreFollowed: pages that say the same may lead to different pages, as those of a
// gallery, of a blog and of a manual in versions do. Copies that lead to copies are not
// followed.
func TestEqualListsAreFollowed(t *testing.T) {
	t.Parallel()
	const pages, each = 6, 4
	for name, site := range map[string]struct {
		entry string
		list  func(page int) string
		item  func(page, item int) string
		lost  int // pages that are not visited
	}{
		"gallery": {
			"/gallery?page=1", func(page int) string { return fmt.Sprintf("/gallery?page=%d", page) },
			func(page, item int) string { return fmt.Sprintf("/photo/%d-%d", page, item) }, 0,
		},
		"blog": {
			"/page/1/", func(page int) string { return fmt.Sprintf("/page/%d/", page) },
			func(page, item int) string { return fmt.Sprintf("/post/%s-%d", strings.Repeat("w", page), item) }, 0,
		},
		"versions": {
			"/v1/", func(page int) string { return fmt.Sprintf("/v%d/", page) },
			func(page, item int) string { return fmt.Sprintf("/v%d/part-%d.html", page, item) }, 0,
		},
		"a folder that contains itself": {
			"/a/", func(page int) string { return "/a/" + strings.Repeat("self/", min(page-1, 2)) },
			func(page, item int) string {
				return fmt.Sprintf("/a/%spart-%d.html", strings.Repeat("self/", min(page-1, 2)), item)
			}, 2*each + 1,
		},
		"sessions": {
			"/list?v=9f86d081884c7d01", func(page int) string { return fmt.Sprintf("/list?v=9f86d081884c7d%02d", page) },
			func(page, item int) string { return fmt.Sprintf("/item?id=%d&v=9f86d081884c7d%02d", item, page) }, (pages-2)*(each+1) + each,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := &equalLists{lists: map[string][]string{}, fetched: map[string]bool{}}
			all := map[string]bool{}
			for page := range pages {
				list := site.list(page + 1)
				all[list] = true
				links := []string{site.list(min(page+2, pages))}
				for item := range each {
					links = append(links, site.item(page+1, item))
					all[site.item(page+1, item)] = true
				}
				web.lists[list] = links
			}
			server := httptest.NewServer(web)
			t.Cleanup(server.Close)
			w := newWorld(t)
			seed := w.living([]string{server.URL + site.entry})[0]
			w.crawlAll(seed.CrawlID, 100, seed)
			for address := range web.fetched {
				delete(all, address)
			}
			if len(all) != site.lost {
				t.Errorf("%d pages are not visited, want %d: %v", len(all), site.lost, all)
			}
			if held := w.status().Pages[crawl.Held]; held > 0 {
				t.Errorf("%d pages are held by %v", held, w.traps())
			}
		})
	}
}

// plannedLinks is planned, with the links registered.
func (w *world) plannedLinks(page crawl.PageRef, visit int, body string) {
	w.t.Helper()
	w.planned(page, visit, body)
	run(w, contract.RegisterLinks, contract.RegisterIn{Page: page, Visit: visit})
}
