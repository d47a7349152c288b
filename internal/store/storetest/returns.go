package storetest

import (
	"fmt"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func returnCases() []collectionCase {
	return []collectionCase{
		{"ToAnEarlierVersion", returnsToVersion},
		{"ForEver", returnsForEver},
		{"LatestFirst", returnsLatestFirst},
		{"SavedAgainIsTheSame", returnsAgain},
		{"EarlierOneIsSeenUntilRecorded", returnsUntilRecorded},
		{"LinksWait", returnsLinks},
		{"ToAVersionThatIsGone", returnsGone},
		{"AreListedAsChanges", returnsListed},
		{"AreNoChangesOfPagesLinkedTo", returnsInternal},
		{"OldVersionsAreRemoved", returnsRetained},
		{"LastVersionIsKept", returnsRetainedLast},
		{"AreExported", returnsExported},
	}
}

// back is a visit by which the page returns to a version.
func (c *collection) back(page, version int64, at time.Time, r store.Retention, links ...store.Link) {
	c.Helper()
	c.saveBack(page, version, links...)
	c.recordAt(page, c.page(page).Visits+1, at, crawl.OutcomeReturned, r)
}

func (c *collection) saveBack(page, version int64, links ...store.Link) int64 {
	c.Helper()
	id, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{
		Version: store.VersionRecord{PageID: page, Visit: c.page(page).Visits + 1}, BackTo: version, Links: links, Content: content(1),
	})
	c.check(err)
	return id
}

// flip is a page with three versions, whose ids it returns.
func (c *collection) flip() (page int64, ids []int64) {
	c.Helper()
	c.open()
	page = c.admitted(1, 1)[0].PageID
	for n := range 3 {
		ids = append(ids, c.visitContent(page, content(n), nil))
	}
	return page, ids
}

// wantEarlier wants the versions that the page had before its last one.
func (c *collection) wantEarlier(page int64, limit int, seqs ...int) {
	c.Helper()
	found, err := c.s.EarlierVersions(c.ctx, page, limit)
	c.check(err)
	got := []int{}
	for _, v := range found {
		got = append(got, v.Seq)
	}
	want(c, "earlier versions", fmt.Sprint(got), fmt.Sprint(seqs))
}

func returnsToVersion(c *collection) {
	p, ids := c.flip()
	before := c.page(p)
	c.back(p, ids[1], time.Time{}, store.Retention{})
	after := c.page(p)
	want(c, "last version", after.Last.ID, ids[1])
	want(c, "its number", after.Last.Seq, 2)
	want(c, "the visit that returned", after.Last.Back, 4)
	want(c, "changes", after.Changes, before.Changes)
	want(c, "when it got its text", after.TextAt, after.LastAt)
	visit, err := c.s.Visit(c.ctx, p, 4)
	c.check(err)
	want(c, "the visit's version", visit.Version, 2)
	want(c, "the visit's outcome", visit.Outcome, crawl.OutcomeReturned)
	c.wantVersions(p, 3, 2, 1)
	// It is compared with other pages, and later visits with it.
	c.wantContent("of the version that it left", ids[2], change.Content{})
	c.wantContent("of the version that it has", ids[1], content(1))
	wantIDs(c, "pages with the content", c.lookalikes(content(1)), p)
	wantIDs(c, "pages with the content that it left", c.lookalikes(content(2)))
	c.unchanged(p, store.Retention{})
	want(c, "last version after an unchanged visit", c.page(p).Last.ID, ids[1])
	want(c, "when it got its text, after an unchanged visit", c.page(p).TextAt, after.TextAt)
	c.visitContent(p, content(3), nil)
	want(c, "number of the next version", c.page(p).Last.Seq, 4)
	v, err := c.s.Version(c.ctx, p, 2)
	c.check(err)
	want(c, "the visit that returned, later", v.Back, 4)
}

func returnsForEver(c *collection) {
	p, ids := c.flip()
	for n := range 20 {
		c.back(p, ids[1+n%2], time.Time{}, store.Retention{Versions: 3})
		want(c, "last version", c.page(p).Last.ID, ids[1+n%2])
		c.wantEarlier(p, 10, []int{3, 2}[n%2], 1)
	}
	c.wantVersions(p, 3, 2, 1)
}

func returnsLatestFirst(c *collection) {
	p, ids := c.flip()
	c.wantEarlier(p, 10, 2, 1)
	c.back(p, ids[0], time.Time{}, store.Retention{})
	c.wantEarlier(p, 10, 3, 2)
	c.visitContent(p, content(3), nil)
	c.wantEarlier(p, 10, 1, 3, 2)
	c.wantEarlier(p, 2, 1, 3)
	c.visitContent(p, content(4), nil)
	c.visitContent(p, content(5), nil)
	c.wantEarlier(p, 3, 5, 4, 1) // though three are newer
	c.saveContent(p, content(6), nil)
	c.wantEarlier(p, 3, 5, 4, 1) // that visit is not recorded yet
}

func returnsAgain(c *collection) {
	p, ids := c.flip()
	want(c, "version", c.saveBack(p, ids[0]), ids[0])
	want(c, "version the second time", c.saveBack(p, ids[0]), ids[0])
	want(c, "version of another verdict", c.saveContent(p, content(7), nil), ids[0])
	want(c, "last version before the visit is recorded", c.page(p).Last.ID, ids[2])
	c.wantEarlier(p, 10, 2, 1) // as before
	for _, v := range c.listed(p) {
		want(c, "return before the visit is recorded", v.Back, 0)
	}
	c.visit(p, crawl.OutcomeReturned, crawl.Active)
	want(c, "last version", c.page(p).Last.ID, ids[0])
	c.wantContent("of the version that it left", ids[2], change.Content{})
}

func (c *collection) listed(page int64) []store.VersionRecord {
	c.Helper()
	found, err := c.s.ListVersions(c.ctx, page, 0, 100)
	c.check(err)
	return found
}

// returnsUntilRecorded: a version shows its last recorded return while the next one is saved
// and not yet recorded.
func returnsUntilRecorded(c *collection) {
	p, ids := c.flip()
	c.back(p, ids[0], time.Time{}, store.Retention{})
	c.back(p, ids[1], time.Time{}, store.Retention{})
	c.wantEarlier(p, 1, 1)
	c.saveBack(p, ids[0])
	v, err := c.s.Version(c.ctx, p, 1)
	c.check(err)
	want(c, "return before the next one is recorded", v.Back, 4)
	for _, v := range c.listed(p) {
		want(c, fmt.Sprint("return to version ", v.Seq), v.Back, []int{4, 5, 0}[v.Seq-1])
	}
	c.wantEarlier(p, 2, 1, 3)
	c.recordAt(p, 6, time.Time{}, crawl.OutcomeReturned, store.Retention{})
	v, err = c.s.Version(c.ctx, p, 1)
	c.check(err)
	want(c, "return when it is recorded", v.Back, 6)
}

func returnsLinks(c *collection) {
	p, ids := c.flip()
	for n := range 2 {
		links := []store.Link{{URL: fmt.Sprintf("https://x.test/%d", n+1)}}
		visit := c.page(p).Visits + 1
		c.back(p, ids[n], time.Time{}, store.Retention{}, links...)
		pending, err := c.s.PendingLinks(c.ctx, p, visit)
		c.check(err)
		if pending == nil || pending.Version != ids[n] || pending.Visit != visit || fmt.Sprint(pending.Links) != fmt.Sprint(links) {
			c.Fatalf("pending links %+v", pending)
		}
	}
	// Those of a version that it returns to once more are the latest.
	latest := []store.Link{{URL: "https://x.test/9"}}
	c.back(p, ids[0], time.Time{}, store.Retention{}, latest...)
	pending, err := c.s.PendingLinks(c.ctx, p, 6)
	c.check(err)
	want(c, "links", fmt.Sprint(pending.Links), fmt.Sprint(latest))
	_, err = c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: p, Version: ids[0], URLs: c.urls(1, 2, 2)})
	c.check(err)
	if pending, err = c.s.PendingLinks(c.ctx, p, 6); err != nil || pending != nil {
		c.Fatalf("registered links are pending: %+v, %v", pending, err)
	}
}

func returnsGone(c *collection) {
	p, ids := c.flip()
	other := c.admitted(2, 1)[0].PageID
	foreign := c.visitContent(other, content(9), nil)
	for what, id := range map[string]int64{"no version": ids[2] + 1_000_000, "another page's": foreign} {
		_, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{Version: store.VersionRecord{PageID: p, Visit: 4}, BackTo: id})
		if err == nil {
			c.Fatalf("%s: returned to it", what)
		}
	}
	want(c, "number of the next version", c.page(p).Last.Seq, 3)
	c.visitContent(p, content(4), nil)
	want(c, "number of the next version", c.page(p).Last.Seq, 4)
}

func returnsListed(c *collection) {
	p, ids := c.flip()
	c.admitted(2, 3)
	at := c.soon().Add(time.Hour)
	c.back(p, ids[0], at, store.Retention{})
	for _, f := range []store.PageFilter{{}, {Host: c.page(p).Host}, {States: []crawl.PageState{crawl.Active}}} {
		f.CrawlID, f.Limit, f.ChangedSince = c.id, 10, at
		found, err := c.s.ListPages(c.ctx, f)
		c.check(err)
		if len(found) != 1 || found[0].PageID != p {
			c.Fatalf("pages that changed or returned: %+v", found)
		}
		f.ChangedSince = at.Add(time.Second)
		if found, err = c.s.ListPages(c.ctx, f); err != nil || len(found) != 0 {
			c.Fatalf("pages that changed or returned later: %+v, %v", found, err)
		}
	}
}

func returnsInternal(c *collection) {
	p, versions := c.flip()
	since := c.page(p).LastAt
	linker := c.admit(ids(c.known(1, 2))...)[0]
	c.register(linker.PageID, c.url(1, 0, 1))
	c.back(p, versions[0], since.Add(time.Hour), store.Retention{})
	found, err := c.s.Internal(c.ctx, linker.PageID, since)
	c.check(err)
	want(c, "compared", found.Compared, 1)
	want(c, "changed", found.Changed, 0)
}

func returnsRetained(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	start := c.soon().Add(-10 * time.Hour)
	for n := range 3 {
		c.turn(p, start.Add(time.Duration(n)*time.Hour), store.Retention{})
	}
	ids := map[int]int64{}
	for _, v := range c.listed(p) {
		ids[v.Seq] = v.ID
	}
	// The first version was replaced nine hours ago. Between the others the page flaps.
	for n := range 4 {
		c.back(p, ids[2+n%2], time.Time{}, store.Retention{})
	}
	c.unchanged(p, store.Retention{Age: 8 * time.Hour})
	c.wantVersions(p, 3, 2)
	c.wantEarlier(p, 9, 2)
}

func returnsRetainedLast(c *collection) {
	p, ids := c.flip()
	c.back(p, ids[0], time.Time{}, store.Retention{})
	c.unchanged(p, store.Retention{Versions: 1})
	c.wantVersions(p, 3, 1) // the last, and the one whose number must not be given again
	c.visitContent(p, content(3), nil)
	c.unchanged(p, store.Retention{Versions: 1})
	c.wantVersions(p, 4)
}

func returnsExported(c *collection) {
	p, ids := c.flip()
	c.back(p, ids[0], time.Time{}, store.Retention{})
	c.unchanged(p, store.Retention{})
	found, err := c.s.ListExchanges(c.ctx, store.ExchangeParams{Pages: []int64{p}, Until: c.soon().Add(time.Hour), Found: true, Limit: 10})
	c.check(err)
	var got []string
	for _, x := range found {
		got = append(got, fmt.Sprintf("visit %d version %d back %d", x.VisitRecord.Visit, x.Version.Seq, x.Version.Back))
	}
	want(c, "visits that found a version", fmt.Sprint(got),
		"[visit 1 version 1 back 4 visit 2 version 2 back 0 visit 3 version 3 back 0 visit 4 version 1 back 4]")
}
