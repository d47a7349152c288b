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

// One of the first visits that empty a window says that it is to be filled, not each of them;
// and the last, should nothing have come of it.
func refillOnce(c *collection) {
	c.with(4, 0)
	pages := c.known(1, 9)
	c.admit(ids(pages)...)
	for i, room := range []bool{false, true, false, true} {
		want(c, "room after a first visit", c.visitTouching(pages[i].PageID).Room, room)
	}
	want(c, "room after a later visit", c.visitTouching(pages[0].PageID).Room, true)
	want(c, "admitted", len(c.admit(pages[4].PageID)), 1)
	want(c, "room after a later visit, with a page on its way", c.visitTouching(pages[0].PageID).Room, false)
	want(c, "room after a later visit that found new pages", c.visitTouching(pages[0].PageID, pages[0].HostID).Room, true)
	want(c, "admitted", len(c.admit(ids(pages)...)), 3)
	want(c, "room for new pages in a full window", c.visitTouching(pages[0].PageID, pages[0].HostID).Room, false)
}

// A visit that found pages of other hosts says so if they can be admitted now.
func refillTouched(c *collection) {
	c.with(2, 5)
	page, others, more := c.known(1, 1)[0], c.known(2, 3), c.known(3, 2)
	c.admit(page.PageID)
	want(c, "room where nothing was found", c.visitTouching(page.PageID).Room, false)
	want(c, "room at a host that was touched", c.visitTouching(page.PageID, more[0].HostID, others[0].HostID).Room, true)
	c.admit(ids(others)...)
	want(c, "room in a full window", c.visitTouching(page.PageID, others[0].HostID).Room, false)
	want(c, "room at one host of two", c.visitTouching(page.PageID, others[0].HostID, more[0].HostID).Room, true)
	c.admit(ids(more)...)
	want(c, "living", c.status().Pages[crawl.Active], 5)
	want(c, "room at max_pages", c.visitTouching(others[0].PageID, others[0].HostID).Room, false)
	want(c, "room at a host that nobody knows", c.visitTouching(page.PageID, 1<<40).Room, false)
}

// A visit's answer may be lost: whoever asks again is told of the room that there is.
func refillAgain(c *collection) {
	c.with(4, 0)
	pages := c.known(1, 3)
	other := c.known(2, 1)[0]
	c.admit(pages[0].PageID)
	first := c.visitTouching(pages[0].PageID)
	want(c, "room", first.Room, true)
	again := func(hosts ...int64) bool {
		res, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: first.Visit, Touched: hosts})
		c.check(err)
		want(c, "recorded already", res.Already, true)
		return res.Room
	}
	want(c, "room, asked again", again(), true)
	c.admit(ids(pages)...)
	want(c, "room, asked again when nothing is left", again(), false)
	want(c, "room at a host that was touched, asked again", again(other.HostID), true)
}

// Registering tells where there are pages that nobody knew, and whether it was done before.
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
