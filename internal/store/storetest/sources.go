package storetest

import (
	"fmt"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func sourceCases() []collectionCase {
	return []collectionCase{
		{"AreRegistered", sourcesRegistered},
		{"AreNoLinks", sourcesAreNoLinks},
		{"ComeEarly", sourcesComeEarly},
		{"PagesStayPages", sourcesPagesStay},
		{"BecomePages", sourcesBecomePages},
		{"LinksCarryDates", sourcesLinks},
		{"AreRead", sourcesAreRead},
		{"AreListed", sourcesListed},
		{"Outdated", sourcesOutdated},
		{"HintsAreJudged", sourcesJudged},
		{"RecordsForget", sourcesForget},
		{"OfManyURLs", sourcesOfManyURLs},
		{"AreForgotten", sourcesForgotten},
		{"AreKnown", sourcesKnown},
		{"CountWhatTheyBring", sourcesBring},
	}
}

// sourceURL is a URL of a host as a source.
func (c *collection) sourceURL(host, n, level int, kind crawl.PageKind) store.NewURL {
	u := c.url(host, n, level)
	u.Kind = kind
	return u
}

func (c *collection) sources(f store.SourceFilter) []store.SourceRecord {
	c.Helper()
	f.CrawlID, f.Limit = c.id, 100
	found, err := c.s.ListSources(c.ctx, f)
	c.check(err)
	return found
}

func (c *collection) source(id int64) store.SourceRecord {
	c.Helper()
	found := c.sources(store.SourceFilter{PageID: id})
	want(c, "sources of one page", len(found), 1)
	return found[0]
}

// registerSource is register of one source, with its page.
func (c *collection) registerSource(u store.NewURL) store.PageRecord {
	c.Helper()
	c.register(0, u)
	return c.find(u.URL)
}

func sourcesRegistered(c *collection) {
	c.open()
	u := c.sourceURL(1, 1, 2, crawl.KindSitemap)
	u.Nesting = 2
	// The same URL, found as a page at once: still a source.
	c.register(0, c.url(1, 1, 3), u, c.url(1, 1, 3), c.sourceURL(1, 2, 1, crawl.KindFeed), c.url(1, 3, 0))
	want(c, "kinds", fmt.Sprint(c.find(u.URL).Kind, c.find(c.url(1, 2, 0).URL).Kind, c.find(c.url(1, 3, 0).URL).Kind), "sitemap feed page")
	s := c.source(c.find(u.URL).PageID)
	want(c, "source", fmt.Sprintln(s.Kind, s.State, s.Nesting, s.Visits, s.Hinted, s.URL, s.Host), fmt.Sprintln("sitemap known 2 0 0", u.URL, u.Host))
	want(c, "read at", s.ReadAt.IsZero(), true)
	// Found again as another kind, it keeps its kind.
	c.register(0, c.sourceURL(1, 1, 2, crawl.KindFeed))
	want(c, "kind", c.find(u.URL).Kind, crawl.KindSitemap)
	want(c, "sources", len(c.sources(store.SourceFilter{})), 2)
	c.checkCounts()
}

// A list's entries are not links, and a link to a list is none.
func sourcesAreNoLinks(c *collection) {
	c.open()
	list := c.registerSource(c.sourceURL(1, 1, 0, crawl.KindSitemap))
	_, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: list.PageID, Listed: true, URLs: c.urls(2, 5, 1)})
	c.check(err)
	page := c.find(c.url(2, 0, 0).URL)
	c.register(page.PageID, c.url(2, 1, 0), c.sourceURL(1, 1, 0, crawl.KindSitemap), c.sourceURL(1, 2, 0, crawl.KindFeed))
	want(c, "links", c.status().Links, 1)
	for url, backlinks := range map[string]int{page.URL: 0, c.url(2, 1, 0).URL: 1, list.URL: 0, c.url(1, 2, 0).URL: 0} {
		want(c, "backlinks of "+url, c.find(url).Backlinks, backlinks)
	}
}

// What a list brings counts once: pages, and only those that the crawl did not know. The lists
// that it names are found by it, the newest first.
func sourcesBring(c *collection) {
	c.open()
	list := c.registerSource(c.sourceURL(1, 1, 0, crawl.KindSitemap))
	c.register(0, c.url(2, 1, 0))
	for range 2 {
		_, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: list.PageID, Listed: true, URLs: append(
			c.urls(2, 5, 1), c.sourceURL(1, 2, 1, crawl.KindSitemap),
		)})
		c.check(err)
	}
	_, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: list.PageID, Listed: true, URLs: []store.NewURL{c.sourceURL(1, 3, 1, crawl.KindSitemap)}})
	c.check(err)
	want(c, "brought", c.source(list.PageID).Brought, 4)
	named := c.sources(store.SourceFilter{Finder: list.PageID, Host: list.Host, Kind: crawl.KindSitemap, Newest: true, After: 1 << 40})
	want(c, "named lists", len(named), 2)
	want(c, "the newest", named[0].URL, c.url(1, 3, 0).URL)
	want(c, "found", named[0].FoundAt.IsZero() || named[0].Brought != 0, false)
	for _, other := range []store.SourceFilter{{Finder: list.PageID, Kind: crawl.KindFeed}, {Finder: named[0].PageID}} {
		want(c, "others", len(c.sources(other)), 0)
	}
}

// Sources that are named come before the pages of their level; those of an index
// ten for each level, so that an index of thousands keeps no page waiting.
func sourcesComeEarly(c *collection) {
	c.with(1000, 0)
	var urls []store.NewURL
	for n := range 30 {
		u := c.sourceURL(1, n, 0, crawl.KindSitemap)
		u.Place = n + 1
		urls = append(urls, u)
	}
	urls = append(urls, c.url(1, 100, 0), c.url(1, 101, 1), c.url(1, 102, 2), c.sourceURL(1, 103, 1, crawl.KindFeed))
	c.register(0, urls...)
	before := map[string]int{}
	for i, p := range c.candidates(1000) {
		before[p.URL] = i
	}
	for n, want := range map[int]int{100: 5, 103: 11, 101: 18, 102: 29} { // with those of equal priority, about
		if got := before[c.url(1, n, 0).URL]; got < want-2 || got > want+2 {
			c.Fatalf("%d candidates come before %d, want about %d", got, n, want)
		}
	}
}

// A page with content does not become a list because somebody calls it one. One that was tried
// as a page is read as a list at once.
func sourcesPagesStay(c *collection) {
	c.open()
	pages := c.admitted(1, 3)
	c.save(version(pages[0].PageID, 1))
	c.visit(pages[0].PageID, crawl.OutcomeNew, crawl.Active)
	c.visit(pages[1].PageID, crawl.OutcomeUnsupported, crawl.Active)
	for i := range pages {
		c.register(0, c.sourceURL(1, i, 0, crawl.KindSitemap))
	}
	want(c, "kinds", fmt.Sprint(c.page(pages[0].PageID).Kind, c.page(pages[1].PageID).Kind, c.page(pages[2].PageID).Kind), "page sitemap sitemap")
	want(c, "sources", len(c.sources(store.SourceFilter{})), 2)
	now, err := c.s.Now(c.ctx)
	c.check(err)
	want(c, "due", fmt.Sprint(!c.page(pages[0].PageID).NextAt.After(now), !c.page(pages[1].PageID).NextAt.After(now)), "false true")
	c.checkCounts()
}

func sourcesBecomePages(c *collection) {
	c.open()
	list := c.registerSource(c.sourceURL(1, 1, 1, crawl.KindFeed))
	c.check(c.s.BecomePage(c.ctx, list.PageID))
	want(c, "kind", c.page(list.PageID).Kind, crawl.KindPage)
	want(c, "sources", len(c.sources(store.SourceFilter{})), 0)
	c.check(c.s.BecomePage(c.ctx, 1<<40))
}

func sourcesLinks(c *collection) {
	c.open()
	u := c.sourceURL(1, 1, 3, crawl.KindSitemap)
	u.Nesting, u.Hops = 1, 2
	list := c.registerSource(u)
	links := []store.Link{{URL: "https://x.test/", Modified: 1767225600}, {URL: "https://x.test/s.xml", Kind: crawl.KindSitemap}}
	c.save(version(list.PageID, 1), links...)
	pending, err := c.s.PendingLinks(c.ctx, list.PageID, 1)
	c.check(err)
	want(c, "pending", fmt.Sprint(pending.Kind, pending.Nesting, pending.Level, pending.Hops, pending.Links), fmt.Sprint("sitemap 1 3 2 ", links))
}

func sourcesAreRead(c *collection) {
	c.open()
	list := c.registerSource(c.sourceURL(1, 1, 0, crawl.KindSitemap))
	for _, text := range append(hostile(), "RSS") {
		r := store.Reading{Format: text, Entries: 7, Dated: 3, Dropped: map[string]int{"repeated": 2, "x": 1}, Problem: text}
		c.check(c.s.SaveReading(c.ctx, list.PageID, r))
		c.check(c.s.SaveSkipped(c.ctx, list.PageID, map[string]int{"due soon anyway": 4}))
	}
	s := c.source(list.PageID)
	want(c, "reading", fmt.Sprintln(s.Format, s.Entries, s.Dated, s.Dropped, s.Problem, s.Skipped), "RSS 7 3 map[repeated:2 x:1] RSS map[due soon anyway:4]\n")
	if s.ReadAt.IsZero() {
		c.Fatal("never read")
	}
	c.check(c.s.SaveReading(c.ctx, list.PageID, store.Reading{}))
	c.check(c.s.SaveSkipped(c.ctx, list.PageID, nil))
	s = c.source(list.PageID)
	want(c, "counts", len(s.Dropped)+len(s.Skipped), 0)
	c.check(c.s.SaveReading(c.ctx, 1<<40, store.Reading{}))
}

func sourcesListed(c *collection) {
	c.open()
	c.register(0, c.sourceURL(1, 1, 0, crawl.KindSitemap), c.sourceURL(1, 2, 0, crawl.KindFeed), c.sourceURL(2, 3, 0, crawl.KindFeed), c.url(2, 4, 0))
	for _, tc := range []struct {
		f    store.SourceFilter
		want int
	}{
		{store.SourceFilter{}, 3},
		{store.SourceFilter{Host: c.host(1)}, 2},
		{store.SourceFilter{Host: c.host(1), Kind: crawl.KindFeed}, 1},
		{store.SourceFilter{Kind: crawl.KindFeed}, 2},
		{store.SourceFilter{Host: "nobody.test"}, 0},
		{store.SourceFilter{PageID: c.find(c.url(2, 4, 0).URL).PageID}, 0},
	} {
		want(c, fmt.Sprintf("%+v", tc.f), len(c.sources(tc.f)), tc.want)
	}
	last := int64(0)
	for range 3 {
		found, err := c.s.ListSources(c.ctx, store.SourceFilter{CrawlID: c.id, After: last, Limit: 1})
		c.check(err)
		want(c, "sources in a batch", len(found), 1)
		if found[0].PageID <= last {
			c.Fatal("not in order")
		}
		last = found[0].PageID
	}
	want(c, "after the last", len(c.sources(store.SourceFilter{After: last})), 0)
}

func (c *collection) outdated(dates ...store.URLDate) []store.OutdatedPage {
	c.Helper()
	found, err := c.s.Outdated(c.ctx, c.id, dates)
	c.check(err)
	return found
}

func sourcesOutdated(c *collection) {
	c.open()
	pages := c.admitted(1, 4)
	c.visit(pages[0].PageID, crawl.OutcomeNew, crawl.Active)
	c.visit(pages[1].PageID, crawl.OutcomeNew, crawl.Active)
	c.visit(pages[2].PageID, crawl.OutcomeFailed, crawl.Failing)
	known := c.known(2, 1)[0]
	last := c.page(pages[0].PageID)
	found := c.outdated(
		store.URLDate{URL: pages[0].URL, Modified: last.LastAt.Add(time.Second)},
		store.URLDate{URL: pages[1].URL, Modified: c.page(pages[1].PageID).LastAt},
		store.URLDate{URL: pages[2].URL, Modified: last.LastAt.Add(time.Hour)},
		store.URLDate{URL: pages[3].URL, Modified: last.LastAt.Add(time.Hour)},
		store.URLDate{URL: known.URL, Modified: last.LastAt.Add(time.Hour)},
		store.URLDate{URL: "https://nobody.test/", Modified: last.LastAt.Add(time.Hour)},
	)
	want(c, "outdated pages", fmt.Sprint(found), fmt.Sprint([]store.OutdatedPage{{
		PageID: last.PageID, URL: last.URL, Visit: 1, LastAt: last.LastAt, NextAt: last.NextAt, Modified: last.LastAt.Add(time.Second),
	}}))
	want(c, "outdated of nothing", len(c.outdated()), 0)
	// A page that is due only by a source's hint is still listed.
	list := c.registerSource(c.sourceURL(3, 1, 0, crawl.KindSitemap))
	want(c, "moved", c.hint(last.PageID, list.PageID, 0), 1)
	found = c.outdated(store.URLDate{URL: last.URL, Modified: last.LastAt.Add(time.Second)})
	want(c, "outdated and due", fmt.Sprint(len(found), found[0].HintedBy), fmt.Sprint(1, list.PageID))
}

// hint moves a page's next visit because of a source.
func (c *collection) hint(page, source int64, in time.Duration) int {
	c.Helper()
	p := c.page(page)
	moved, err := c.s.Reschedule(c.ctx, []store.Move{{PageID: page, Visit: p.Visits, NextAt: p.LastAt.Add(in), HintedBy: source}})
	c.check(err)
	return len(moved)
}

func sourcesJudged(c *collection) {
	c.open()
	list := c.registerSource(c.sourceURL(2, 1, 0, crawl.KindSitemap))
	page := c.admitted(1, 1)[0].PageID
	c.visit(page, crawl.OutcomeNew, crawl.Active)
	for _, outcome := range []crawl.Outcome{
		crawl.OutcomeChanged, crawl.OutcomeUnchanged, crawl.OutcomeCosmetic, crawl.OutcomeFailed, crawl.OutcomeChanged,
	} {
		c.setState(page, crawl.Active)
		// Back to sleep.
		c.visit(page, crawl.OutcomeUnchanged, crawl.Active)
		want(c, "moved", c.hint(page, list.PageID, time.Minute), 1)
		want(c, "hinted by", c.page(page).HintedBy, list.PageID)
		want(c, "in the entries", c.entries(false)[0].Hinted, true)
		// Maintenance does not undo the hint. If it moves the page even nearer, the hint stands.
		want(c, "moved back", c.hint(page, 0, 2*time.Minute), 0)
		want(c, "moved nearer", c.hint(page, 0, 50*time.Second), 1)
		want(c, "still hinted by", c.page(page).HintedBy, list.PageID)
		c.visit(page, outcome, crawl.Active)
		want(c, "hinted by, afterwards", c.page(page).HintedBy, 0)
		want(c, "in the entries, afterwards", c.entries(false)[0].Hinted, false)
	}
	c.visit(page, crawl.OutcomeChanged, crawl.Active) // nobody's merit
	s := c.source(list.PageID)
	want(c, "record", fmt.Sprint(s.Hinted, s.Hits, s.Misses), "5 2 2")
}

func sourcesForget(c *collection) {
	c.open()
	list := c.registerSource(c.sourceURL(2, 1, 0, crawl.KindSitemap))
	page := c.admitted(1, 1)[0].PageID
	c.visit(page, crawl.OutcomeNew, crawl.Active)
	for range store.HintMemory + 1 {
		want(c, "moved", c.hint(page, list.PageID, time.Minute), 1)
		c.visit(page, crawl.OutcomeUnchanged, crawl.Active)
	}
	s := c.source(list.PageID)
	want(c, "record", fmt.Sprint(s.Hinted, s.Hits, s.Misses), fmt.Sprint(store.HintMemory+1, 0, (store.HintMemory+1)/2))
}

// A list of many thousand URLs, all of them known, is gone through in chunks.
func sourcesOfManyURLs(c *collection) {
	const n = 2500 // more than one chunk
	c.open()
	list := c.registerSource(c.sourceURL(2, 1, 0, crawl.KindSitemap))
	for range 2 {
		res, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: list.PageID, Listed: true, URLs: c.urls(1, n, 1)})
		c.check(err)
		want(c, "URLs", res.New+res.Seen, n)
	}
	want(c, "links", c.status().Links, 0)
	var dates []store.URLDate
	for _, u := range c.urls(1, n, 1) {
		dates = append(dates, store.URLDate{URL: u.URL, Modified: c.soon()})
	}
	want(c, "outdated among pages never visited", len(c.outdated(dates...)), 0)
}

func sourcesForgotten(c *collection) {
	c.open()
	list := c.registerSource(c.sourceURL(2, 1, 0, crawl.KindSitemap))
	page := c.admitted(1, 1)[0].PageID
	c.visit(page, crawl.OutcomeNew, crawl.Active)
	want(c, "moved", c.hint(page, list.PageID, time.Minute), 1)
	_, err := c.s.Forget(c.ctx, store.ForgetParams{Target: store.Target{URL: list.URL}, Limit: 10})
	c.check(err)
	want(c, "sources", len(c.sources(store.SourceFilter{})), 0)
	c.visit(page, crawl.OutcomeChanged, crawl.Active)
	want(c, "sources", len(c.sources(store.SourceFilter{})), 0)
}

// Of many URLs those are known that are pages of this crawl, whatever their kind and state.
func sourcesKnown(c *collection) {
	c.open()
	const many = 2500
	c.register(0, c.url(1, 1, 0), c.sourceURL(1, many, 0, crawl.KindSitemap))
	var urls []string
	for n := range many {
		urls = append(urls, c.url(1, n+1, 0).URL)
	}
	known, err := c.s.KnownURLs(c.ctx, c.id, urls)
	c.check(err)
	want(c, "known URLs", len(known), 2)
	want(c, "the page is known", known[urls[0]], true)
	want(c, "the sitemap is known", known[urls[many-1]], true)
	known, err = c.s.KnownURLs(c.ctx, c.id+1, urls[:1])
	c.check(err)
	want(c, "known URLs of another crawl", len(known), 0)
	known, err = c.s.KnownURLs(c.ctx, c.id, nil)
	c.check(err)
	want(c, "known URLs of none", len(known), 0)
}
