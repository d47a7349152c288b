package storetest

import (
	"fmt"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func searchCases() []collectionCase {
	return []collectionCase{
		{"PagesByTextOfTheURL", searchByText},
		{"PagesByPrefix", searchByPrefix},
		{"PagesOfAHostInStates", searchHostAndStates},
		{"PagesStepByStep", searchSteps},
		{"HostsByText", searchHosts},
	}
}

// searchAll follows a search to its end, and checks that each part goes on where the one
// before ended.
func (c *collection) searchAll(q store.PageSearch) (urls []string, parts int) {
	c.Helper()
	q.CrawlID = c.id
	for {
		parts++
		found, err := c.s.SearchPages(c.ctx, q)
		c.check(err)
		for _, p := range found.Pages {
			if p.PageID <= q.After || p.CrawlID != c.id || found.More && p.PageID > found.Through {
				c.Fatalf("page %d of crawl %d, after %d through %d", p.PageID, p.CrawlID, q.After, found.Through)
			}
			urls = append(urls, p.URL)
		}
		if !found.More {
			return urls, parts
		}
		if found.Through <= q.After {
			c.Fatalf("through %d after %d", found.Through, q.After)
		}
		q.After = found.Through
	}
}

func (c *collection) urlOf(host int, path string) store.NewURL {
	return store.NewURL{URL: "https://" + c.host(host) + path, Host: c.host(host), Level: 1}
}

func searchByText(c *collection) {
	c.open()
	c.register(0, c.urlOf(1, "/News/a"), c.urlOf(1, "/b?q=100%25"), c.urlOf(2, "/b_c"), c.urlOf(2, "/bxc"), c.urlOf(2, "/it's!"))
	for text, number := range map[string]int{
		"news": 1, "NEWS/A": 1, c.host(2): 3, "https://": 5, "%25": 1, "%": 1, "b_c": 1, "b%c": 0, "it's!": 1, "!": 1, "absent": 0,
	} {
		urls, _ := c.searchAll(store.PageSearch{Text: text})
		want(c, "pages with "+text, len(urls), number)
	}
	urls, parts := c.searchAll(store.PageSearch{Text: "/b", Limit: 1})
	want(c, "pages with /b, one by one", len(urls), 3)
	if parts < 3 {
		c.Fatalf("%d parts of one page each", parts)
	}
	urls, _ = c.searchAll(store.PageSearch{Text: "/b", Host: c.host(2), States: []crawl.PageState{crawl.Known, crawl.Active}})
	want(c, "pages with /b on a host", len(urls), 2)
	urls, _ = c.searchAll(store.PageSearch{Text: "/b", States: []crawl.PageState{crawl.Gone}})
	want(c, "pages with /b that are gone", len(urls), 0)
}

func searchByPrefix(c *collection) {
	c.open()
	c.register(0, c.urlOf(1, "/docs/a"), c.urlOf(1, "/docs/ö"), c.urlOf(1, "/Docs/b"), c.urlOf(2, "/docs/a"))
	for prefix, number := range map[string]int{
		"https://" + c.host(1) + "/docs/":  2,
		"https://" + c.host(1) + "/docs/ö": 1,
		"https://" + c.host(1) + "/":       3,
		"https://h":                        4,
		"http://" + c.host(1) + "/":        0,
		"https://no.such.host/":            0,
		"docs":                             0,
	} {
		urls, _ := c.searchAll(store.PageSearch{Prefix: prefix})
		want(c, "pages below "+prefix, len(urls), number)
	}
	urls, _ := c.searchAll(store.PageSearch{Prefix: "https://h", Text: "Docs/A"})
	want(c, "pages by both", len(urls), 2)
}

func searchHostAndStates(c *collection) {
	c.with(100, 0)
	pages := c.admitted(1, 12)
	c.known(2, 5)
	c.setState(pages[3].PageID, crawl.Gone)
	c.setState(pages[7].PageID, crawl.Evicted)
	count := func(q store.PageSearch) int {
		urls, _ := c.searchAll(q)
		return len(urls)
	}
	want(c, "all", count(store.PageSearch{}), 17)
	want(c, "all, three at a time", count(store.PageSearch{Limit: 3}), 17)
	want(c, "of a host", count(store.PageSearch{Host: c.host(1)}), 12)
	want(c, "of a state", count(store.PageSearch{States: []crawl.PageState{crawl.Gone}}), 1)
	want(c, "of no host", count(store.PageSearch{Host: "a\x00.test"}), 0)
	want(c, "of a host and states", count(store.PageSearch{Host: c.host(1), States: []crawl.PageState{crawl.Gone, crawl.Evicted}}), 2)
	want(c, "of a host and a state, in parts", count(store.PageSearch{Host: c.host(1), States: []crawl.PageState{crawl.Active}, Limit: 3}), 10)
	want(c, "of no host", count(store.PageSearch{Host: "no.such.host"}), 0)
	want(c, "with a text without end", count(store.PageSearch{Text: strings.Repeat("%x", 100_000)}), 0)
}

// A crawl of more pages than a step is searched in steps, which together find each
// match once, even one at the end of a step.
func searchSteps(c *collection) {
	c.open()
	const pages, each = store.SearchStep + 500, 500
	for first := 0; first < pages; first += each {
		urls := make([]store.NewURL, each)
		for i := range urls {
			urls[i] = c.urlOf(1+i%2, fmt.Sprintf("/p/%06d", first+i))
		}
		c.register(0, urls...)
	}
	listed, err := c.s.ListPages(c.ctx, store.PageFilter{CrawlID: c.id, After: 0, Limit: pages})
	c.check(err)
	want(c, "pages", len(listed), pages)
	for _, i := range []int{0, store.SearchStep - 1, store.SearchStep, pages - 1} {
		text := listed[i].URL[strings.LastIndex(listed[i].URL, "/"):]
		urls, parts := c.searchAll(store.PageSearch{Text: text})
		want(c, "pages with "+text, fmt.Sprint(urls), fmt.Sprint([]string{listed[i].URL}))
		want(c, "steps", parts, 2)
	}
	urls, parts := c.searchAll(store.PageSearch{Host: c.host(1), Text: "/p/", Limit: pages})
	want(c, "pages of a host", len(urls), pages/2)
	want(c, "steps of a host", parts, 1)
	urls, parts = c.searchAll(store.PageSearch{Host: c.host(1), States: []crawl.PageState{crawl.Gone}})
	want(c, "gone pages of a host", len(urls), 0)
	want(c, "steps for a rare state", parts, 1)
}

func searchHosts(c *collection) {
	c.open()
	for _, n := range []int{3, 1, 10, 2} {
		c.register(0, c.urls(n, 1, 0)...)
	}
	search := func(q store.HostSearch) (names []string) {
		q.CrawlID = c.id
		for {
			found, err := c.s.SearchHosts(c.ctx, q)
			c.check(err)
			for _, h := range found.Hosts {
				names = append(names, h.Host)
			}
			if !found.More {
				return names
			}
			if found.Through <= q.After {
				c.Fatalf("through %q after %q", found.Through, q.After)
			}
			q.After = found.Through
		}
	}
	want(c, "all", fmt.Sprint(search(store.HostSearch{})), fmt.Sprint([]string{c.host(1), c.host(10), c.host(2), c.host(3)}))
	want(c, "all, one by one", len(search(store.HostSearch{Limit: 1})), 4)
	want(c, "h1", fmt.Sprint(search(store.HostSearch{Text: "H1"})), fmt.Sprint([]string{c.host(1), c.host(10)}))
	want(c, "a text without end", len(search(store.HostSearch{Text: strings.Repeat("ä", 100_000)})), 0)
	want(c, "h1, one by one", len(search(store.HostSearch{Text: "h1", Limit: 1})), 2)
	want(c, "one", fmt.Sprint(search(store.HostSearch{Host: c.host(2)})), fmt.Sprint([]string{c.host(2)}))
	want(c, "none", len(search(store.HostSearch{Host: "no.such.host"})), 0)
	want(c, "h_", len(search(store.HostSearch{Text: "h_"})), 0)
}
