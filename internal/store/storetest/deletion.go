package storetest

import (
	"fmt"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func deletionCases() []collectionCase {
	return []collectionCase{
		{"DeletedWithAllOfIt", deleteWhole},
		{"OthersKeepTheirs", deleteKeepsOthers},
		{"GoesOn", deleteGoesOn},
		{"IsNotRevived", deleteStays},
		{"BytesStayIfAsked", deleteKeepsContents},
		{"OnlyWhatIsToBeDeleted", deleteAsked},
	}
}

// fill gives the crawl pages in all kinds of states, with links, seeds and a line.
func (c *collection) fill() []store.PageRecord {
	c.with(10, 0)
	pages := c.admitted(1, 3)
	c.save(version(pages[0].PageID, 1), store.Link{URL: pages[1].URL})
	c.visit(pages[0].PageID, crawl.OutcomeNew, crawl.Active)
	c.visit(pages[1].PageID, crawl.OutcomeFailed, crawl.Failing)
	c.register(pages[0].PageID, c.urls(1, 5, 1)...)
	c.register(pages[1].PageID, c.urls(2, 5, 2)...)
	c.stand(pages[2])
	c.importSeeds(store.ImportParams{Source: "list", Seeds: c.newSeeds(3, 0, 5)})
	_, err := c.s.SetTraps(c.ctx, c.id, []store.NewTrap{{Site: "x.test", Host: c.host(1), Name: "x", Reason: "r", Pattern: []byte(`{}`)}})
	c.check(err)
	return pages
}

// delete deletes the crawl, limit pages at a time, and returns the number of calls.
func (c *collection) delete(p store.DeleteParams) (calls, pages int) {
	c.Helper()
	_, err := c.s.BeginDelete(c.ctx, c.name)
	c.check(err)
	for p.CrawlID = c.id; ; {
		res, err := c.s.DeleteCrawl(c.ctx, p)
		c.check(err)
		calls++
		pages += res.Pages
		if res.Done {
			return calls, pages
		}
		if calls > 1000 {
			c.Fatal("the deletion has no end")
		}
	}
}

func deleteWhole(c *collection) {
	pages := c.fill()
	_, removed := c.delete(store.DeleteParams{Limit: 100})
	want(c, "pages", removed, 15)
	for _, p := range pages {
		c.gone(p)
	}
	_, err := c.s.Crawl(c.ctx, c.name)
	c.wantError(err, store.ErrNotFound)
	_, err = c.s.BeginDelete(c.ctx, c.name)
	c.wantError(err, store.ErrNotFound)
	// The name is free again, and the crawl a new one, that may find the same pages.
	old := c.id
	c.open()
	want(c, "a new crawl", c.id != old, true)
	want(c, "its pages", fmt.Sprint(c.status().Pages), "map[]")
	want(c, "imported", c.record().Imported, false)
	want(c, "how far the import had come", c.importOf("list").New, 0)
	c.known(1, 3)
	c.checkCounts()
}

func deleteKeepsOthers(c *collection) {
	c.fill()
	other := newCollection(c.T, c.s)
	other.name, other.spec.Name = c.name+"-2", c.name+"-2"
	other.with(10, 0)
	u := c.url(1, 0, 0)
	other.register(0, u, c.url(1, 1, 1))
	same := other.admit(other.find(u.URL).PageID)[0]
	other.save(version(same.PageID, 1), store.Link{URL: c.url(1, 1, 1).URL})
	other.visit(same.PageID, crawl.OutcomeNew, crawl.Active)
	c.delete(store.DeleteParams{Limit: 100})
	want(c, "pages of the other crawl", fmt.Sprint(other.status().Pages), fmt.Sprint(map[crawl.PageState]int{crawl.Active: 1, crawl.Known: 1}))
	want(c, "its versions", other.status().Versions, 1)
	hosts, err := c.s.ListHosts(c.ctx, store.HostFilter{CrawlID: other.id, Limit: 10})
	c.check(err)
	want(c, "its hosts", len(hosts), 1)
	other.checkCounts()
}

func deleteGoesOn(c *collection) {
	c.fill()
	_, err := c.s.BeginDelete(c.ctx, c.name)
	c.check(err)
	first, err := c.s.DeleteCrawl(c.ctx, store.DeleteParams{CrawlID: c.id, Limit: 4})
	c.check(err)
	want(c, "pages of the first call", first.Pages, 4)
	want(c, "done", first.Done, false)
	again, err := c.s.BeginDelete(c.ctx, c.name)
	c.check(err)
	want(c, "generation", again.Generation, c.record().Generation)
	_, pages := c.delete(store.DeleteParams{Limit: 4, KeepRow: true})
	want(c, "pages of the others", pages, 11)
	want(c, "still to be deleted", c.record().Deleting, true)
	c.delete(store.DeleteParams{Limit: 4})
	_, err = c.s.Crawl(c.ctx, c.name)
	c.wantError(err, store.ErrNotFound)
	res, err := c.s.DeleteCrawl(c.ctx, store.DeleteParams{CrawlID: c.id, Limit: 4})
	c.check(err)
	want(c, "once more", res.Done, true)
}

func deleteStays(c *collection) {
	pages := c.fill()
	_, err := c.s.BeginDelete(c.ctx, c.name)
	c.check(err)
	want(c, "state", c.record().State, crawl.CrawlStopped)
	_, err = c.s.OpenCrawl(c.ctx, c.spec)
	c.wantError(err, store.ErrDeleting)
	_, err = c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlRunning)
	c.wantError(err, store.ErrDeleting)
	_, err = c.s.ImportSeeds(c.ctx, store.ImportParams{CrawlID: c.id, Seeds: c.newSeeds(4, 0, 1)})
	c.wantError(err, store.ErrDeleting)
	_, err = c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, URLs: c.urls(4, 1, 0)})
	c.wantError(err, store.ErrDeleting)
	c.delete(store.DeleteParams{Limit: 100})
	_, err = c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: pages[0].PageID, URLs: c.urls(4, 1, 0)})
	c.wantError(err, store.ErrNotFound)
}

// digestsLeft are those of the case's pages that wait to be deleted.
func (c *collection) digestsLeft(of string) bool {
	c.Helper()
	all, err := c.s.Unreferenced(c.ctx, 1000)
	c.check(err)
	c.check(c.s.Deleted(c.ctx, all))
	return slices.Contains(all, of)
}

func deleteKeepsContents(c *collection) {
	for _, keep := range []bool{false, true} {
		c.with(10, 0)
		page := c.admitted(1, 1)[0]
		v := version(page.PageID, 1)
		v.Digest = fmt.Sprintf("%064x", page.PageID)
		c.save(v)
		c.visit(page.PageID, crawl.OutcomeNew, crawl.Active)
		c.delete(store.DeleteParams{Limit: 100, KeepContents: keep})
		want(c, "the digest is to be deleted", c.digestsLeft(v.Digest), !keep)
	}
}

func deleteAsked(c *collection) {
	c.fill()
	_, err := c.s.DeleteCrawl(c.ctx, store.DeleteParams{CrawlID: c.id, Limit: 10})
	want(c, "refused", err != nil, true)
	want(c, "pages", c.status().Pages[crawl.Known] > 0, true)
}
