package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func registerCases() []collectionCase {
	return []collectionCase{
		{"NewURLsAreKnown", registerNew},
		{"AgainChangesNothing", registerAgain},
		{"SameURLTwiceCountsOnce", registerTwice},
		{"MoreThanOneTransaction", registerMany},
		{"LongURLs", registerLong},
		{"HostileURLs", registerHostile},
		{"URLsOfTwoCrawlsAreTwoPages", registerTwoCrawls},
		{"BacklinksCountOnce", registerBacklinks},
		{"LinkToItselfIsNoBacklink", registerSelf},
		{"NearerLevelCounts", registerNearer},
		{"FewerHopsCount", registerHops},
		{"PendingLinksSayWhereTheyStand", registerPending},
		{"UnknownOriginsAreNotFound", registerUnknown},
		{"EmptyURLsAreRefused", registerEmpty},
		{"NothingToRegister", registerNothing},
		{"AtOnceFromManySides", registerAtOnce},
		{"ManyHosts", registerManyHosts},
	}
}

func registerNew(c *collection) {
	c.open()
	res := c.register(0, c.url(1, 1, 0), c.url(1, 2, 3), c.url(2, 1, 0))
	want(c, "new", res.New, 3)
	want(c, "seen", res.Seen, 0)
	want(c, "hosts", len(res.Hosts), 2)
	p := c.find(c.url(1, 2, 0).URL)
	want(c, "state", p.State, crawl.Known)
	want(c, "level", p.Level, 3)
	want(c, "crawl", p.Crawl, c.name)
	want(c, "crawl id", p.CrawlID, c.id)
	want(c, "host", p.Host, c.host(1))
	want(c, "visits", p.Visits, 0)
	want(c, "last version", p.Last, store.VersionRecord{})
	if !p.NextAt.IsZero() || !p.LastAt.IsZero() || p.Belief != nil {
		c.Fatalf("a known page has times %v, %v or a belief %s", p.NextAt, p.LastAt, p.Belief)
	}
	if !slices.Contains(res.Hosts, p.HostID) {
		c.Fatalf("host %d is not among %v", p.HostID, res.Hosts)
	}
	c.checkCounts()
}

func registerAgain(c *collection) {
	c.open()
	urls := c.urls(1, 20, 1)
	from := c.known(2, 1)[0].PageID
	want(c, "new", c.register(from, urls...).New, 20)
	before, pages := c.status(), c.list(store.PageFilter{CrawlID: c.id})
	res := c.register(from, urls...)
	want(c, "new the second time", res.New, 0)
	want(c, "seen the second time", res.Seen, 20)
	want(c, "status", fmt.Sprint(c.status()), fmt.Sprint(before))
	want(c, "pages", fmt.Sprint(c.list(store.PageFilter{CrawlID: c.id})), fmt.Sprint(pages))
}

func registerTwice(c *collection) {
	c.open()
	res := c.register(0, c.url(1, 1, 4), c.url(1, 1, 2), c.url(1, 1, 3))
	want(c, "new", res.New, 1)
	want(c, "seen", res.Seen, 0)
	want(c, "level", c.find(c.url(1, 1, 0).URL).Level, 2)
}

func registerMany(c *collection) {
	const n = 5500
	c.open()
	from := c.known(2, 1)[0].PageID
	want(c, "new", c.register(from, c.urls(1, n/2, 1)...).New, n/2)
	version, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{
		Version: store.VersionRecord{PageID: from, Visit: 1}, Links: []store.Link{{URL: "https://x.test/"}},
	})
	c.check(err)
	res, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: from, Version: version, URLs: c.urls(1, n, 1)})
	c.check(err)
	want(c, "new", res.New, n-n/2)
	want(c, "seen", res.Seen, n/2)
	st := c.status()
	want(c, "known pages", st.Pages[crawl.Known], n+1)
	want(c, "links", st.Links, n)
	pending, err := c.s.PendingLinks(c.ctx, from, 1)
	c.check(err)
	if pending != nil {
		c.Fatal("the version's links are still pending")
	}
}

func registerLong(c *collection) {
	c.open()
	// Only their ends differ: PostgreSQL's indexes could not hold them.
	long := "https://" + c.host(1) + "/" + strings.Repeat("x", 3000)
	want(c, "new", c.register(0,
		store.NewURL{URL: long + "1", Host: c.host(1)}, store.NewURL{URL: long + "2", Host: c.host(1)}).New, 2)
	want(c, "found URL", c.find(long+"2").URL, long+"2")
	want(c, "new again", c.register(0, store.NewURL{URL: long + "2", Host: c.host(1)}).New, 0)
}

func registerHostile(c *collection) {
	c.open()
	urls := make([]store.NewURL, 0, len(hostile()))
	for _, text := range hostile() {
		urls = append(urls, store.NewURL{URL: "https://" + c.host(1) + "/" + text, Host: c.host(1)})
	}
	want(c, "new", c.register(0, urls...).New, len(urls))
	want(c, "new again", c.register(0, urls...).New, 0)
	for _, u := range urls {
		want(c, "level", c.find(u.URL).Level, 0)
	}
	want(c, "URL", c.find(urls[0].URL).URL, urls[0].URL)
}

func registerTwoCrawls(c *collection) {
	c.open()
	u := c.url(1, 1, 0)
	c.register(0, u)
	first := c.find(u.URL)
	name := c.name
	c.name += "-2"
	c.spec.Name = c.name
	c.open()
	want(c, "new in the second crawl", c.register(0, u).New, 1)
	second := c.find(u.URL)
	if first.PageID == second.PageID || first.HostID != second.HostID {
		c.Fatalf("pages %d and %d on hosts %d and %d: want two pages on one host",
			first.PageID, second.PageID, first.HostID, second.HostID)
	}
	all, err := c.s.FindPages(c.ctx, u.URL, "")
	c.check(err)
	want(c, "pages in all crawls", len(all), 2)
	want(c, "pages of the first crawl", c.mustFind(u.URL, name), 1)
	want(c, "pages of an unknown crawl", c.mustFind(u.URL, "no-such-crawl"), 0)
	want(c, "pages of an unknown URL", c.mustFind(u.URL+"x", ""), 0)
}

func (c *collection) mustFind(url, crawlName string) int {
	c.Helper()
	pages, err := c.s.FindPages(c.ctx, url, crawlName)
	c.check(err)
	return len(pages)
}

func registerBacklinks(c *collection) {
	c.open()
	from := c.known(2, 3)
	for range 2 {
		for _, f := range from {
			c.register(f.PageID, c.url(1, 1, 1))
		}
		c.register(from[0].PageID, c.url(1, 2, 1))
	}
	want(c, "backlinks", c.find(c.url(1, 1, 0).URL).Backlinks, 3)
	want(c, "backlinks", c.find(c.url(1, 2, 0).URL).Backlinks, 1)
	want(c, "links", c.status().Links, 4)
}

func registerSelf(c *collection) {
	c.open()
	p := c.known(1, 2)
	c.register(p[0].PageID, c.url(1, 0, 1), c.url(1, 1, 1))
	want(c, "backlinks of the page itself", c.page(p[0].PageID).Backlinks, 0)
	want(c, "backlinks of the other", c.page(p[1].PageID).Backlinks, 1)
}

func registerNearer(c *collection) {
	c.open()
	c.register(0, c.url(1, 1, 5), c.url(1, 2, 3))
	c.register(0, c.url(1, 1, 1), c.url(1, 2, 4))
	want(c, "level of the page found nearer", c.find(c.url(1, 1, 0).URL).Level, 1)
	want(c, "level of the page found farther", c.find(c.url(1, 2, 0).URL).Level, 3)
	want(c, "best candidate", c.candidates(1)[0].URL, c.url(1, 1, 0).URL)
}

// Hops and level fall independently: the nearest way from a seed may leave its host
// more often than a longer one.
func registerHops(c *collection) {
	c.open()
	at := func(level, hops int) store.NewURL {
		u := c.url(1, 1, level)
		u.Hops = hops
		return u
	}
	for _, step := range []struct{ level, hops, wantLevel, wantHops int }{{5, 2, 5, 2}, {3, 4, 3, 2}, {4, 1, 3, 1}, {9, 9, 3, 1}} {
		c.register(0, at(step.level, step.hops))
		p := c.find(c.url(1, 1, 0).URL)
		want(c, "level", p.Level, step.wantLevel)
		want(c, "hops", p.Hops, step.wantHops)
	}
	c.register(0, at(2, 7), at(8, 0))
	p := c.find(c.url(1, 1, 0).URL)
	want(c, "level of two at once", p.Level, 2)
	want(c, "hops of two at once", p.Hops, 0)
}

func registerPending(c *collection) {
	c.open()
	u := c.url(1, 1, 4)
	u.Hops = 2
	c.register(0, u)
	page := c.find(u.URL)
	_, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{
		Version: store.VersionRecord{PageID: page.PageID, Visit: 1, Language: "de-AT"}, Links: []store.Link{{URL: "https://x.test/"}},
	})
	c.check(err)
	pending, err := c.s.PendingLinks(c.ctx, page.PageID, 1)
	c.check(err)
	want(c, "level", pending.Level, 4)
	want(c, "hops", pending.Hops, 2)
	want(c, "language", pending.Language, "de-AT")
	unfinished, err := c.s.UnfinishedLinks(c.ctx, c.id, 0, 10)
	c.check(err)
	pending.Links = []store.Link{} // which may be many
	want(c, "unfinished", fmt.Sprint(unfinished), fmt.Sprint([]store.PendingLinks{*pending}))
}

func registerUnknown(c *collection) {
	c.open()
	_, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id + 1000, URLs: c.urls(1, 1, 0)})
	c.wantError(err, store.ErrNotFound)
	_, err = c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: 1 << 40, URLs: c.urls(1, 1, 0)})
	c.wantError(err, store.ErrNotFound)
}

func registerEmpty(c *collection) {
	c.open()
	for _, u := range []store.NewURL{{URL: "", Host: "h"}, {URL: "https://h/", Host: ""}} {
		if _, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, URLs: []store.NewURL{u}}); err == nil {
			c.Fatalf("%+v was registered", u)
		}
	}
}

func registerNothing(c *collection) {
	c.open()
	res := c.register(0)
	want(c, "result", res.New+res.Seen+len(res.Hosts), 0)
}

func registerAtOnce(c *collection) {
	const workers, n = 6, 300
	c.open()
	from := c.known(9, workers)
	var mu sync.Mutex
	added := 0
	c.together(workers, func(i int) error {
		urls := append(c.urls(1, n, 1), c.urls(2+i%3, n/3, 1)...)
		if i%2 == 1 {
			slices.Reverse(urls)
		}
		res, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: from[i].PageID, URLs: urls})
		mu.Lock()
		defer mu.Unlock()
		added += res.New
		return err
	})
	want(c, "new in all", added, n+3*(n/3))
	want(c, "backlinks", c.find(c.url(1, 7, 0).URL).Backlinks, workers)
	want(c, "links", c.status().Links, workers*(n+n/3))
	c.checkCounts()
}

func registerManyHosts(c *collection) {
	const n = 1200
	c.open()
	urls := make([]store.NewURL, n)
	for i := range urls {
		urls[i] = c.url(i, 0, 0)
	}
	res := c.register(0, urls...)
	want(c, "new", res.New, n)
	want(c, "hosts", len(res.Hosts), n)
	want(c, "counted hosts", c.status().Hosts, n)
	want(c, "candidates", len(c.candidates(n)), n)
}
