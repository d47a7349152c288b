package storetest

import (
	"fmt"
	"slices"
	"strings"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func onwardCases() []collectionCase {
	return []collectionCase{
		{"Wordings", wordingsKept},
		{"WordingsOfFinders", wordingsOfFinders},
		{"PendingLinksAreNoEvidence", onwardPending},
		{"LinksOfPages", linksOfPages},
		{"UntriedPagesAreTakenBack", takenBack},
		{"TakenBackFromTheLine", takenFromLine},
	}
}

// says saves a version of a page's next visit with its text and links, and makes
// the visit.
func (c *collection) says(page int64, text string, links ...store.Link) {
	c.Helper()
	visit := c.page(page).Visits + 1
	_, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{
		Version: store.VersionRecord{PageID: page, Visit: visit, Digest: strings.Repeat(fmt.Sprint(visit%10), 64)},
		Said:    change.NewWording(text), Links: links,
	})
	c.check(err)
	c.visit(page, crawl.OutcomeNew, crawl.Active)
}

func (c *collection) evidence(host int64) []store.EvidencePage {
	c.Helper()
	found, err := c.s.Evidence(c.ctx, store.EvidenceParams{CrawlID: c.id, Hosts: []int64{host}, Each: 100, Admitted: true})
	c.check(err)
	return found
}

func wordingsKept(c *collection) {
	c.with(100, 0)
	pages := byID(c.admitted(1, 4))
	c.known(1, 9)
	long := strings.Repeat("one two three four five six seven ", 3) + strings.Join(strings.Split(fmt.Sprint(pages), " "), " ")
	c.says(pages[0].PageID, "no events in May")
	c.says(pages[1].PageID, long)
	c.says(pages[2].PageID, "")
	found := c.evidence(pages[0].HostID)
	want(c, "admitted pages", len(found), 4)
	for i, text := range []string{"no events in May", long, ""} {
		w := change.NewWording(text)
		want(c, "known", found[i].Said.Known, true)
		want(c, "phrases", found[i].Said.Phrases, w.Phrases)
		want(c, "sample", slices.Equal(found[i].Said.Sample, w.Sample), true)
		want(c, "attempted", found[i].Attempted, true)
	}
	want(c, "known of a page that was not visited", found[3].Said.Known, false)
	want(c, "attempted", found[3].Attempted, false)
	c.says(pages[0].PageID, "another text")
	want(c, "phrases of a later version", c.evidence(pages[0].HostID)[0].Said.Phrases, 2)
	c.forgetURL(pages[1].URL)
	want(c, "pages", len(c.evidence(pages[0].HostID)), 3)
}

func wordingsOfFinders(c *collection) {
	c.with(100, 0)
	from := c.admitted(2, 1)[0]
	c.says(from.PageID, "who knows whom", store.Link{URL: c.url(1, 0, 1).URL})
	pending, err := c.s.PendingLinks(c.ctx, from.PageID, 1)
	c.check(err)
	want(c, "what a page says with its links", pending.Said.Phrases, 3)
	c.register(from.PageID, c.urls(1, 3, 1)...)
	c.register(0, c.url(3, 0, 0))
	found := []int64{c.find(c.url(1, 0, 1).URL).PageID, c.find(c.url(1, 2, 1).URL).PageID}
	finders, err := c.s.FindersOf(c.ctx, append(found, c.find(c.url(3, 0, 0).URL).PageID, 1<<40))
	c.check(err)
	want(c, "pages that were found on another", len(finders), 2)
	for _, id := range found {
		want(c, "URL", finders[id].URL, from.URL)
		want(c, "phrases", finders[id].Said.Phrases, 3)
	}
	none, err := c.s.FindersOf(c.ctx, nil)
	c.check(err)
	want(c, "finders of none", len(none), 0)
	// For a page that was never read, no wording is known.
	c.register(found[0], c.url(1, 70, 2))
	late := c.find(c.url(1, 70, 2).URL).PageID
	finders, err = c.s.FindersOf(c.ctx, []int64{late})
	c.check(err)
	want(c, "known", finders[late].Said.Known, false)
}

func onwardPending(c *collection) {
	c.with(100, 0)
	page := c.admitted(1, 1)[0]
	c.says(page.PageID, "a text", store.Link{URL: c.url(1, 50, 1).URL})
	found := c.evidence(page.HostID)
	want(c, "pending", found[0].Pending, true)
	want(c, "finder", found[0].Finder, int64(0))
	pending, err := c.s.PendingLinks(c.ctx, page.PageID, 1)
	c.check(err)
	_, err = c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: page.PageID, Version: pending.Version, URLs: []store.NewURL{c.url(1, 50, 1)}})
	c.check(err)
	c.admit(c.find(c.url(1, 50, 1).URL).PageID)
	found = c.evidence(page.HostID)
	want(c, "pending then", found[0].Pending, false)
	want(c, "finder of what it links to", found[1].Finder, page.PageID)
}

func linksOfPages(c *collection) {
	c.open()
	from := c.knownByID(2, 3)
	c.register(from[0].PageID, c.urls(1, 5, 1)...)
	c.register(from[1].PageID, c.urls(1, 7, 1)...)
	links, err := c.s.LinksOf(c.ctx, []int64{from[0].PageID, from[1].PageID, from[2].PageID, 1 << 40}, 6)
	c.check(err)
	of := map[int64]int{}
	firsts := 0
	for _, l := range links {
		of[l.From]++
		to := c.page(l.To)
		want(c, "URL", l.URL, to.URL)
		if l.Finder == l.From {
			firsts++
		}
	}
	want(c, "links of the first", of[from[0].PageID], 5)
	want(c, "links of the second", of[from[1].PageID], 6)
	want(c, "links of others", len(links), 11)
	want(c, "links to what they found", firsts, 7)
	newest := c.find(c.url(1, 6, 1).URL).PageID
	want(c, "the newest is among them", slices.ContainsFunc(links, func(l store.FoundLink) bool { return l.To == newest }), true)
	none, err := c.s.LinksOf(c.ctx, nil, 6)
	c.check(err)
	want(c, "links of none", len(none), 0)
}

func takenBack(c *collection) {
	c.with(10, 0)
	known := c.known(1, 8)
	pages := c.admit(ids(known[:5])...)
	c.visit(pages[0].PageID, crawl.OutcomeNew, crawl.Active)
	_, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{Version: store.VersionRecord{PageID: pages[4].PageID, Visit: 1, Digest: "d"}})
	c.check(err)
	trap := c.trap()
	back := func(trap int64) int {
		var holds []store.Hold
		for _, p := range append(pages, known[5], store.PageRecord{PageRef: crawl.PageRef{PageID: 1 << 40}}) {
			holds = append(holds, store.Hold{PageID: p.PageID, TrapID: trap})
		}
		n, _, err := c.s.TakeBack(c.ctx, c.id, holds)
		c.check(err)
		return n
	}
	want(c, "taken back by no trap", back(1<<40), 0)
	want(c, "taken back", back(trap), 3)
	want(c, "taken back again", back(trap), 0)
	want(c, "a page that was visited", c.page(pages[0].PageID).State, crawl.Active)
	want(c, "a page that was not", c.page(pages[1].PageID).State, crawl.Held)
	want(c, "a page whose visit is to be recorded", c.page(pages[4].PageID).State, crawl.Active)
	want(c, "a known page", c.page(known[5].PageID).State, crawl.Known)
	want(c, "held", c.traps()[0].Held, 3)
	want(c, "room in the window", len(c.candidates(20, pages[0].HostID)), 3)
	c.checkCounts()
	c.release(trap)
	want(c, "candidates after the release", len(c.candidates(20, pages[0].HostID)), 6)
	want(c, "admitted again", len(c.admit(pages[1].PageID)), 1)
	want(c, "visits", c.visit(pages[1].PageID, crawl.OutcomeNew, crawl.Active).Visit.Visit, 1)
	want(c, "visits beside the trap", c.visit(pages[4].PageID, crawl.OutcomeNew, crawl.Active).Visit.Visit, 1)
	want(c, "taken back when the trap is released", back(trap), 0)
	c.checkCounts()
}

func takenFromLine(c *collection) {
	c.with(10, 0)
	pages := c.admitted(1, 3)
	for _, p := range pages {
		c.stand(p)
	}
	trap := c.trap()
	holds := make([]store.Hold, len(pages))
	for i, p := range pages {
		holds[i] = store.Hold{PageID: p.PageID, TrapID: trap}
	}
	n, _, err := c.s.TakeBack(c.ctx, c.id, holds)
	c.check(err)
	want(c, "taken back, without the first, which has a permit", n, 2)
	want(c, "waiting", c.status().Waiting, 0)
	a, err := c.s.Acquire(c.ctx, store.AcquireParams{Page: pages[1].PageRef, Visit: 1, Class: crawl.ClassFirst})
	c.check(err)
	want(c, "answer to the page", a.Answer, store.GateEvicted)
	c.checkCounts()
}
