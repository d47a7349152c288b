package storetest

import (
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// visitTouching records a page's next visit, whose links made pages of the hosts known.
func (c *collection) visitTouching(pageID int64, hosts ...int64) store.RecordResult {
	c.Helper()
	page, err := c.s.Page(c.ctx, pageID)
	c.check(err)
	res, err := c.s.RecordVisit(c.ctx, store.RecordParams{
		Visit:   store.VisitRecord{PageID: pageID, Visit: page.Visits + 1, Outcome: crawl.OutcomeNew, State: crawl.Active},
		Touched: hosts,
	})
	c.check(err)
	return res
}

// A later visit is asked about room only if its links made pages known: it makes no room
// itself, but nobody else may be about to admit these pages. One visit is told at a time.
func refillTouched(c *collection) {
	c.with(4, 0)
	page := c.known(1, 1)[0]
	c.admit(page.PageID)
	want(c, "room where nothing is known", c.visitTouching(page.PageID).Room, false)
	others := c.known(2, 3)
	want(c, "room after a later visit", c.visitTouching(page.PageID).Room, false)
	want(c, "room after a later visit that found new pages", c.visitTouching(page.PageID, others[0].HostID).Room, true)
	c.admit(ids(others)...)
	want(c, "room is left", c.refilled(), false)
	want(c, "room when all is admitted", c.visitTouching(page.PageID, others[0].HostID).Room, false)
}

// The pages of a crawl that was stopped and started again come back one after the other: the next
// visit of one that has come back makes room as a first visit does.
func refillReturned(c *collection) {
	c.with(10, 0)
	pages := c.admitted(1, 6)
	for _, p := range pages {
		want(c, "room where nothing is known", c.visit(p.PageID, crawl.OutcomeNew, crawl.Active).Room, false)
	}
	_, err := c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlStopped)
	c.check(err)
	for _, p := range pages {
		c.setState(p.PageID, crawl.Stopped)
	}
	c.with(2, 0)
	for left := len(pages); left > 0; left -= 2 {
		back := c.refill(fair, 100)
		want(c, "pages that came back", len(back), 2)
		want(c, "room in a full window", c.refilled(), false)
		told := false
		for _, p := range back {
			told = c.visit(p.PageID, crawl.OutcomeUnchanged, crawl.Active).Room || told
		}
		want(c, "room for the others", told, left > 2)
		want(c, "room after one more visit", c.visit(back[0].PageID, crawl.OutcomeUnchanged, crawl.Active).Room, false)
	}
}

// The result of registering says where there are new pages, and whether it was done before.
func registerNewHosts(c *collection) {
	c.open()
	page := c.known(1, 1)[0]
	c.admit(page.PageID)
	id, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{
		Version: store.VersionRecord{PageID: page.PageID, Visit: 1, Digest: "d"}, Links: []store.Link{{URL: "https://x.test/"}},
	})
	c.check(err)
	known := c.known(2, 1)[0]
	p := store.RegisterParams{CrawlID: c.id, From: page.PageID, Version: id, URLs: append(c.urls(2, 1, 1), c.urls(3, 2, 1)...)}
	first, err := c.s.RegisterLinks(c.ctx, p)
	c.check(err)
	want(c, "hosts", len(first.Hosts), 2)
	want(c, "new hosts", len(first.NewHosts), 1)
	want(c, "the known page's host is new", first.NewHosts[0] == known.HostID, false)
	want(c, "done before", first.Again, false)
	again, err := c.s.RegisterLinks(c.ctx, p)
	c.check(err)
	want(c, "new hosts, done again", len(again.NewHosts), 0)
	want(c, "done before, done again", again.Again, true)
}
