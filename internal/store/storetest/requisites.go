package storetest

import (
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func requisiteCases() []collectionCase {
	return []collectionCase{
		{"AreRegistered", requisitesRegistered},
		{"ComeLast", requisitesComeLast},
		{"TakeNoPlaceOfAPage", requisitesTakeNoPlace},
		{"OfAStoppedCrawl", requisitesOfStopped},
		{"RestUntilTheirTimeIsOver", requisitesRest},
		{"BecomePages", requisitesBecomePages},
		{"ArePagesThatGaveNothing", requisitesOfPages},
		{"AreNotRanked", requisitesNotRanked},
		{"LoseALateRank", requisitesRankedLate},
		{"AreForgotten", requisitesForgotten},
	}
}

// requisiteURL is a URL of a host as a requisite of a page of level 1. Looks says that its
// address shows it.
func (c *collection) requisiteURL(host, n int, looks bool) store.NewURL {
	u := c.url(host, n, 1)
	u.Kind, u.Looks, u.Hops = crawl.KindRequisite, looks, 1
	return u
}

// openForRequisites opens a crawl that keeps requisites, with at most the given number
// of pages, and returns a page of it that was visited.
func (c *collection) openForRequisites(maxPages int) int64 {
	c.Helper()
	c.spec.Documents.Requisites = true
	c.with(4, maxPages)
	page := c.admitted(1, 1)[0].PageID
	c.visit(page, crawl.OutcomeNew, crawl.Active)
	return page
}

// keep admits a requisite and records a visit of it that brings nothing. It rests for the
// given time.
func (c *collection) keep(page int64, rests time.Duration) {
	c.Helper()
	want(c, "admitted requisites", len(c.admit(page)), 1)
	_, err := c.s.RecordVisit(c.ctx, store.RecordParams{
		Visit:    store.VisitRecord{PageID: page, Visit: c.page(page).Visits + 1, Outcome: crawl.OutcomeGone, State: crawl.Kept},
		Interval: rests,
	})
	c.check(err)
	want(c, "state of a requisite that was visited", c.page(page).State, crawl.Kept)
}

func requisitesRegistered(c *collection) {
	page := c.openForRequisites(0)
	u := c.requisiteURL(2, 1, true)
	res := c.register(page, u, u)
	want(c, "new", res.New, 1)
	found := c.find(u.URL)
	want(c, "kind", found.Kind, crawl.KindRequisite)
	want(c, "state", found.State, crawl.Known)
	want(c, "steps", found.Hops, 1)
	want(c, "backlinks", found.Backlinks, 0)
	want(c, "links", c.status().Links, 0)
	want(c, "sources", len(c.sources(store.SourceFilter{})), 0)
	want(c, "new again", c.register(page, u).New, 0)
	want(c, "state of one that waits", c.find(u.URL).State, crawl.Known)
}

func requisitesComeLast(c *collection) {
	page := c.openForRequisites(0)
	u := c.requisiteURL(1, 7, true)
	c.register(page, u)
	c.register(page, c.url(1, 8, 900))
	candidates := c.candidates(10)
	want(c, "candidates", len(candidates), 2)
	want(c, "the last", candidates[1].URL, u.URL)
	want(c, "the first, alone", c.candidates(1)[0].URL, c.url(1, 8, 0).URL)
}

func requisitesTakeNoPlace(c *collection) {
	page := c.openForRequisites(2)
	first, second := c.requisiteURL(2, 1, true), c.requisiteURL(3, 1, true)
	c.register(page, first, second)
	want(c, "admitted", len(c.admit(c.find(first.URL).PageID)), 1)
	// The other place of the collection still belongs to a page.
	other := c.url(1, 9, 1)
	c.register(page, other, c.url(1, 10, 1))
	want(c, "a page", len(c.admit(c.find(other.URL).PageID)), 1)
	collection, err := c.s.Collection(c.ctx, c.id)
	c.check(err)
	want(c, "pages of the collection", collection.Living, 2)
	candidates := c.candidates(10)
	want(c, "candidates of a full collection", len(candidates), 1)
	want(c, "its candidate", candidates[0].URL, second.URL)
	want(c, "more pages", len(c.admit(c.find(c.url(1, 10, 1).URL).PageID)), 0)
	c.keep(candidates[0].PageID, time.Hour)
	want(c, "candidates when none waits", len(c.candidates(10)), 0)
}

func requisitesOfStopped(c *collection) {
	page := c.openForRequisites(0)
	u := c.requisiteURL(2, 1, true)
	c.register(page, u)
	_, err := c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlStopped)
	c.check(err)
	want(c, "candidates", len(c.candidates(10)), 0)
	want(c, "admitted", len(c.admit(c.find(u.URL).PageID)), 0)
}

func requisitesRest(c *collection) {
	page := c.openForRequisites(0)
	resting, over := c.requisiteURL(2, 1, true), c.requisiteURL(2, 2, true)
	c.register(page, resting, over)
	c.keep(c.find(resting.URL).PageID, time.Hour)
	c.keep(c.find(over.URL).PageID, 0)
	want(c, "candidates among requisites that rest", len(c.candidates(10)), 0)
	due, err := c.s.DuePages(c.ctx, store.DueParams{CrawlID: c.id, Before: time.Now().Add(time.Hour * 24), Limit: 10})
	c.check(err)
	want(c, "pages that are due", len(due), 1)
	res := c.register(page, resting, over)
	want(c, "one that rests", c.find(resting.URL).State, crawl.Kept)
	want(c, "one whose time is over", c.find(over.URL).State, crawl.Known)
	want(c, "hosts to admit at", len(res.NewHosts), 1)
	c.keep(c.find(over.URL).PageID, time.Hour)
	want(c, "visits", c.find(over.URL).Visits, 2)
}

func requisitesBecomePages(c *collection) {
	page := c.openForRequisites(0)
	shown, looks, waits := c.requisiteURL(2, 1, false), c.requisiteURL(2, 2, true), c.requisiteURL(2, 3, false)
	c.register(page, shown, looks, waits)
	c.keep(c.find(shown.URL).PageID, time.Hour)
	c.keep(c.find(looks.URL).PageID, time.Hour)
	linked := c.url(2, 1, 3)
	linkedLooks := c.url(2, 2, 3)
	linkedLooks.Looks = true
	c.register(page, linked, linkedLooks, c.url(2, 3, 3))
	found := c.find(shown.URL)
	want(c, "a page that somebody showed", found.Kind, crawl.KindPage)
	want(c, "its state", found.State, crawl.Known)
	want(c, "its level", found.Level, 3)
	want(c, "its backlinks", found.Backlinks, 1)
	want(c, "one that waited", c.find(waits.URL).Kind, crawl.KindPage)
	want(c, "a picture that is linked to", c.find(looks.URL).Kind, crawl.KindRequisite)
	want(c, "its state", c.find(looks.URL).State, crawl.Kept)
}

func requisitesOfPages(c *collection) {
	page := c.openForRequisites(0)
	urls := c.urls(2, 4, 2)
	c.register(page, urls...)
	content := c.admit(c.find(urls[1].URL).PageID)[0]
	_, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{Version: store.VersionRecord{PageID: content.PageID, Visit: 1}})
	c.check(err)
	c.visit(content.PageID, crawl.OutcomeNew, crawl.Active)
	tried := c.admit(c.find(urls[2].URL).PageID)[0]
	c.visit(tried.PageID, crawl.OutcomeUnsupported, crawl.Active)
	c.register(page, c.requisiteURL(2, 0, true), c.requisiteURL(2, 1, true), c.requisiteURL(2, 2, true), c.requisiteURL(2, 3, false), c.requisiteURL(1, 0, true))
	want(c, "a known page", c.find(urls[0].URL).Kind, crawl.KindRequisite)
	want(c, "a page with content", c.find(urls[1].URL).Kind, crawl.KindPage)
	want(c, "a page that gave nothing", c.find(urls[2].URL).Kind, crawl.KindRequisite)
	want(c, "a page by its address", c.find(urls[3].URL).Kind, crawl.KindPage)
	candidates := c.candidates(10)
	want(c, "the last candidate", candidates[len(candidates)-1].URL, urls[0].URL)
}

func requisitesNotRanked(c *collection) {
	page := c.openForRequisites(0)
	kept, known := c.requisiteURL(2, 1, true), c.requisiteURL(2, 2, true)
	c.register(page, kept, known)
	c.keep(c.find(kept.URL).PageID, time.Hour)
	ranked, err := c.s.RankedPages(c.ctx, c.id, 0, 10)
	c.check(err)
	for _, p := range ranked {
		if p.ID != page && !p.Source {
			c.Errorf("requisite %d is ranked", p.ID)
		}
	}
	for _, p := range c.growth(10, 2).Pages {
		want(c, "is a requisite", p.Requisite, p.PageID != page)
	}
}

// requisitesRankedLate: what was read as a page for a ranking is a requisite by the time that its
// rank is saved.
func requisitesRankedLate(c *collection) {
	page := c.openForRequisites(0)
	c.register(page, c.url(2, 0, 2))
	shown := c.find(c.url(2, 0, 2).URL)
	c.register(page, c.requisiteURL(2, 0, true))
	c.rank([]store.PageRecord{shown}, 2)
	found := c.find(shown.URL)
	want(c, "kind", found.Kind, crawl.KindRequisite)
	want(c, "weight", found.Weight, 0.0)
	for _, p := range c.growth(10, 2).Pages {
		want(c, "is a requisite", p.Requisite, p.PageID != page)
	}
}

func requisitesForgotten(c *collection) {
	page := c.openForRequisites(0)
	u := c.requisiteURL(2, 1, true)
	c.register(page, u)
	c.keep(c.find(u.URL).PageID, 0)
	_, err := c.s.Forget(c.ctx, store.ForgetParams{Target: store.Target{URL: u.URL}, Limit: 10})
	c.check(err)
	res := c.register(page, u)
	want(c, "forgotten", res.Forgotten, 1)
	want(c, "pages in state kept", c.status().Pages[crawl.Kept], 0)
}
