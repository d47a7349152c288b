package storetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func guardCases() []collectionCase {
	return []collectionCase{
		{"TrapsAreMadeOnce", trapsOnce},
		{"TrapsOfSites", trapsOfSites},
		{"NewPagesAreHeld", heldWhenFound},
		{"HeldPagesAreNotAdmitted", heldNotAdmitted},
		{"KnownPagesAreHeld", heldLater},
		{"ReleasedPagesAreKnown", heldReleased},
		{"SeedsAreFreed", heldSeeds},
		{"OneVariantIsKnown", variantsHeld},
		{"OneVariantOfARedirect", variantOfARedirect},
		{"HeldPagesAreForgotten", heldForgotten},
		{"HeldPagesAreStopped", heldStopped},
		{"HeldAndReleasedAtOnce", heldAtOnce},
		{"SweepsEnd", sweepsEnd},
		{"GrowthIsLookedAtOnce", growthOnce},
		{"PrefixesAreCounted", prefixesCounted},
		{"PrefixesOfForgottenPages", forgottenPrefixes},
		{"PagesAfter", pagesAfter},
		{"EvidenceOfContents", evidenceContents},
	}
}

// knownByID is known in the order of ids.
func (c *collection) knownByID(host, n int) []store.PageRecord {
	c.Helper()
	return byID(c.known(host, n))
}

func byID(pages []store.PageRecord) []store.PageRecord {
	slices.SortFunc(pages, func(a, b store.PageRecord) int { return cmp.Compare(a.PageID, b.PageID) })
	return pages
}

// newTrap is a trap of host 1 under a name.
func (c *collection) newTrap(name string) store.NewTrap {
	return store.NewTrap{
		Site: c.name + ".test", Host: c.host(1), Name: name, Pattern: json.RawMessage(`{"kind":"prefix"}`), Reason: "copies", Detail: "all of them",
	}
}

func (c *collection) setTraps(traps ...store.NewTrap) []store.TrapRecord {
	c.Helper()
	set, err := c.s.SetTraps(c.ctx, c.id, traps)
	c.check(err)
	return set
}

// trap makes a trap and returns its id.
func (c *collection) trap() int64 {
	c.Helper()
	return c.setTraps(c.newTrap("it"))[0].ID
}

// hold makes known pages held by a trap.
func (c *collection) hold(trap int64, pages ...store.PageRecord) {
	c.Helper()
	holds := make([]store.Hold, len(pages))
	for i, p := range pages {
		holds[i] = store.Hold{PageID: p.PageID, TrapID: trap}
	}
	n, err := c.s.HoldPages(c.ctx, c.id, holds)
	c.check(err)
	want(c, "held", n, len(pages))
}

// release releases all pages of a trap.
func (c *collection) release(trap int64) {
	c.Helper()
	_, more, err := c.s.ReleaseTrap(c.ctx, trap, 1000)
	c.check(err)
	want(c, "more is held", more, false)
}

func (c *collection) traps() []store.TrapRecord {
	c.Helper()
	return c.trapsBy(store.TrapFilter{})
}

// registerHeld registers pages of host 1 that a trap holds.
func (c *collection) registerHeld(trap int64, n int) []store.NewURL {
	c.Helper()
	urls := c.urls(1, n, 1)
	for i := range urls {
		urls[i].Trap = trap
	}
	c.register(0, c.url(9, 0, 0))
	c.register(c.find(c.url(9, 0, 0).URL).PageID, urls...)
	return urls
}

func trapsOnce(c *collection) {
	c.open()
	want(c, "traps at first", len(c.traps()), 0)
	first := c.setTraps(c.newTrap("a"), c.newTrap("b"), c.newTrap("a"))
	want(c, "traps", len(first), 2)
	again := c.newTrap("a")
	again.Reason, again.Pattern = "other", json.RawMessage(`{}`)
	got := c.setTraps(again)[0]
	want(c, "reason", got.Reason, "copies")
	want(c, "id", slices.ContainsFunc(first, func(t store.TrapRecord) bool { return t.ID == got.ID }), true)
	want(c, "pattern", string(got.Pattern), `{"kind":"prefix"}`)
	want(c, "detail", got.Detail, "all of them")
	want(c, "host", got.Host, c.host(1))
	want(c, "state", got.State, store.TrapSweeping)
	if got.FoundAt.IsZero() {
		c.Fatal("it has no time")
	}
	instant := c.newTrap("c")
	instant.After = -1
	want(c, "state of a trap without a sweep", c.setTraps(instant)[0].State, store.TrapHolding)
	want(c, "none", len(c.setTraps()), 0)
	for _, text := range hostile() {
		c.setTraps(store.NewTrap{Site: text, Host: text, Name: text + "x", Pattern: json.RawMessage(`{}`), Reason: text, Detail: text})
	}
}

func trapsOfSites(c *collection) {
	c.open()
	other := c.newTrap("other")
	other.Site = "other.test"
	c.setTraps(c.newTrap("a"), c.newTrap("b"), other)
	ask := func(f store.TrapFilter) int { return len(c.trapsBy(f)) }
	want(c, "traps of a site", ask(store.TrapFilter{Sites: []string{c.name + ".test", c.name + ".test"}}), 2)
	want(c, "traps of two", ask(store.TrapFilter{Sites: []string{c.name + ".test", "other.test", "none.test"}}), 3)
	want(c, "traps of none", ask(store.TrapFilter{Sites: []string{"none.test"}}), 0)
	want(c, "some traps", ask(store.TrapFilter{Limit: 2}), 2)
	want(c, "the traps after", ask(store.TrapFilter{After: c.traps()[1].ID}), 1)
	foreign, err := c.s.Traps(c.ctx, store.TrapFilter{CrawlID: c.id + 1000})
	c.check(err)
	want(c, "traps of another crawl", len(foreign), 0)
}

// trapsBy lists traps by a filter.
func (c *collection) trapsBy(f store.TrapFilter) []store.TrapRecord {
	c.Helper()
	f.CrawlID = c.id
	traps, err := c.s.Traps(c.ctx, f)
	c.check(err)
	return traps
}

func heldWhenFound(c *collection) {
	c.open()
	c.register(0, c.url(1, 0, 1))
	want(c, "a trap before there is one", c.find(c.url(1, 0, 1).URL).CrawlTrapped, false)
	trap := c.trap()
	want(c, "a trap that is known", c.find(c.url(1, 0, 1).URL).CrawlTrapped, true)
	urls := c.registerHeld(trap, 5)
	want(c, "the page that was known", c.find(urls[0].URL).State, crawl.Known)
	want(c, "a new page", c.find(urls[1].URL).State, crawl.Held)
	want(c, "level", c.find(urls[1].URL).Level, 1)
	want(c, "held", c.traps()[0].Held, 4)
	want(c, "held pages", c.status().Pages[crawl.Held], 4)
	c.registerHeld(trap, 5)
	want(c, "held when registered again", c.traps()[0].Held, 4)
	foreign := c.url(1, 99, 1)
	foreign.Trap = trap + 1000
	c.register(0, c.url(2, 0, 0))
	c.register(c.find(c.url(2, 0, 0).URL).PageID, foreign)
	want(c, "a page of a trap that there is not", c.find(foreign.URL).State, crawl.Known)
	c.checkCounts()
}

func heldNotAdmitted(c *collection) {
	c.with(10, 0)
	urls := c.registerHeld(c.trap(), 5)
	host := c.find(urls[0].URL).HostID
	want(c, "candidates", len(c.candidates(10, host)), 0)
	want(c, "admitted by name", len(c.admit(c.find(urls[0].URL).PageID)), 0)
	c.register(0, c.url(1, 50, 0))
	want(c, "candidates beside them", len(c.candidates(10, host)), 1)
	listed := c.list(store.PageFilter{CrawlID: c.id, States: []crawl.PageState{crawl.Held}})
	want(c, "listed", len(listed), 5)
}

func heldLater(c *collection) {
	c.with(10, 0)
	pages := c.known(1, 6)
	c.admit(pages[0].PageID)
	trap := c.trap()
	holds := make([]store.Hold, 0, len(pages))
	for _, p := range pages[:4] {
		holds = append(holds, store.Hold{PageID: p.PageID, TrapID: trap})
	}
	hold := func() int {
		n, err := c.s.HoldPages(c.ctx, c.id, append(holds, store.Hold{PageID: 1 << 40, TrapID: trap}, store.Hold{PageID: pages[5].PageID, TrapID: 1 << 40}))
		c.check(err)
		return n
	}
	want(c, "held", hold(), 3)
	want(c, "held again", hold(), 0)
	want(c, "the active page", c.page(pages[0].PageID).State, crawl.Active)
	want(c, "a known page", c.page(pages[1].PageID).State, crawl.Held)
	want(c, "a page of no trap", c.page(pages[5].PageID).State, crawl.Known)
	want(c, "count", c.traps()[0].Held, 3)
	c.checkCounts()
}

func heldReleased(c *collection) {
	c.with(10, 0)
	trap := c.trap()
	urls := c.registerHeld(trap, 7)
	n, more, err := c.s.ReleaseTrap(c.ctx, trap, 3)
	c.check(err)
	want(c, "released", n, 3)
	want(c, "more", more, true)
	want(c, "state", c.traps()[0].State, store.TrapReleasing)
	want(c, "open", len(c.trapsBy(store.TrapFilter{Open: true})), 1)
	n, more, err = c.s.ReleaseTrap(c.ctx, trap, 100)
	c.check(err)
	want(c, "released then", n, 4)
	want(c, "more then", more, false)
	got := c.setTraps(c.newTrap("it"))[0]
	want(c, "state then", got.State, store.TrapReleased)
	want(c, "held", c.traps()[0].Held, 0)
	want(c, "candidates", len(c.candidates(10, c.find(urls[0].URL).HostID)), 7)
	late := c.url(1, 70, 1)
	late.Trap = trap
	c.register(c.find(urls[0].URL).PageID, late)
	want(c, "a page found after that", c.find(late.URL).State, crawl.Known)
	held, err := c.s.HoldPages(c.ctx, c.id, []store.Hold{{PageID: c.find(late.URL).PageID, TrapID: trap}})
	c.check(err)
	want(c, "pages held after that", held, 0)
	_, _, err = c.s.ReleaseTrap(c.ctx, 1<<40, 1)
	c.wantError(err, store.ErrNotFound)
	c.checkCounts()
}

func heldSeeds(c *collection) {
	c.open()
	urls := c.registerHeld(c.trap(), 3)
	c.register(0, store.NewURL{URL: urls[1].URL, Host: urls[1].Host})
	want(c, "the seed", c.find(urls[1].URL).State, crawl.Known)
	want(c, "its neighbour", c.find(urls[2].URL).State, crawl.Held)
	want(c, "held", c.traps()[0].Held, 2)
	c.checkCounts()
}

func variantsHeld(c *collection) {
	c.open()
	trap := c.trap()
	from := c.known(2, 1)[0].PageID
	base := c.url(1, 1, 1)
	variant := func(of store.NewURL, n int) store.NewURL {
		return store.NewURL{URL: fmt.Sprintf("%s?sid=%d", of.URL, n), Host: of.Host, Level: 1, Trap: trap, Variant: of.URL}
	}
	c.register(from, variant(base, 1), variant(base, 2))
	c.register(from, variant(base, 3), variant(base, 1))
	known := c.list(store.PageFilter{CrawlID: c.id, Host: c.host(1), States: []crawl.PageState{crawl.Known}})
	want(c, "known variants", len(known), 1)
	want(c, "held variants", c.traps()[0].Held, 2)
	plain := c.url(1, 2, 1)
	c.register(from, variant(plain, 1), plain)
	want(c, "the page itself", c.find(plain.URL).State, crawl.Known)
	want(c, "its variant found with it", c.find(variant(plain, 1).URL).State, crawl.Held)
	// A page that is forgotten and remembered has its first variant again.
	c.forgetURL(known[0].URL)
	c.check(c.s.Remember(c.ctx, store.Target{URL: known[0].URL}))
	c.register(from, variant(base, 4))
	want(c, "the first variant again", c.find(variant(base, 4).URL).State, crawl.Known)
	c.checkCounts()
}

// A page that redirects to an address with a session has its content there: the first
// such address is known, and those of later visits are held, unless they were known before.
func variantOfARedirect(c *collection) {
	c.open()
	trap := c.trap()
	from := c.known(1, 1)[0]
	variant := func(n int) store.NewURL {
		return store.NewURL{URL: fmt.Sprintf("%s?sid=%d", from.URL, n), Host: from.Host, Level: 1, Trap: trap, Variant: from.URL}
	}
	redirect := func(id int64, to store.NewURL) {
		_, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: id, Redirects: true, URLs: []store.NewURL{to}})
		c.check(err)
	}
	redirect(c.known(2, 1)[0].PageID, variant(1))
	want(c, "to which another page redirects", c.find(variant(1).URL).State, crawl.Held)
	redirect(from.PageID, variant(2))
	want(c, "to which its own page redirects", c.find(variant(2).URL).State, crawl.Known)
	redirect(from.PageID, variant(3))
	want(c, "to which it redirects later", c.find(variant(3).URL).State, crawl.Held)
	redirect(from.PageID, variant(1))
	want(c, "that was held before", c.find(variant(1).URL).State, crawl.Known)
	c.checkCounts()
}

func heldForgotten(c *collection) {
	c.open()
	urls := c.registerHeld(c.trap(), 3)
	c.forgetURL(urls[0].URL)
	want(c, "held", c.traps()[0].Held, 2)
	_, err := c.s.Forget(c.ctx, store.ForgetParams{Target: store.Target{Host: c.host(1)}, Limit: 10})
	c.check(err)
	want(c, "traps", len(c.traps()), 0)
	c.checkCounts()
}

func heldStopped(c *collection) {
	c.open()
	urls := c.registerHeld(c.trap(), 2)
	c.setState(c.find(urls[0].URL).PageID, crawl.Stopped)
	want(c, "held", c.traps()[0].Held, 1)
	c.checkCounts()
}

func heldAtOnce(c *collection) {
	const workers = 6
	c.with(100, 0)
	trap := c.trap()
	from := c.known(9, workers)
	known := c.known(1, 40)
	c.together(workers, func(i int) error {
		switch i {
		case 0:
			_, _, err := c.s.ReleaseTrap(c.ctx, trap, 1000)
			return err
		case 1, 2:
			var holds []store.Hold
			for _, p := range known {
				holds = append(holds, store.Hold{PageID: p.PageID, TrapID: trap})
			}
			_, err := c.s.HoldPages(c.ctx, c.id, holds)
			return err
		}
		urls := c.urls(1, 100, 1)
		for j := range urls {
			urls[j].Trap = trap
		}
		_, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: from[i].PageID, URLs: urls})
		return err
	})
	_, _, err := c.s.ReleaseTrap(c.ctx, trap, 1000)
	c.check(err)
	want(c, "held", c.status().Pages[crawl.Held], 0)
	c.checkCounts()
}

func sweepsEnd(c *collection) {
	c.open()
	trap := c.trap()
	c.check(c.s.SweptTrap(c.ctx, trap, 50, false))
	want(c, "swept", c.traps()[0].Swept, int64(50))
	want(c, "state", c.traps()[0].State, store.TrapSweeping)
	c.check(c.s.SweptTrap(c.ctx, trap, 90, true))
	want(c, "state at the end", c.traps()[0].State, store.TrapHolding)
	_, _, err := c.s.ReleaseTrap(c.ctx, trap, 1)
	c.check(err)
	c.check(c.s.SweptTrap(c.ctx, trap, 90, true))
	want(c, "state of a released trap", c.traps()[0].State, store.TrapReleased)
}

// growth is the next look at the crawl's growth, of n pages. While other cases register pages,
// they may come a little later.
func (c *collection) growth(limit, n int) store.Growth {
	c.Helper()
	for {
		g, err := c.s.GrownPages(c.ctx, c.id, limit)
		c.check(err)
		if len(g.Pages) >= n {
			want(c, "grown pages", len(g.Pages), n)
			return g
		}
	}
}

func growthOnce(c *collection) {
	c.with(100, 0)
	c.growth(10, 0)
	pages := c.knownByID(1, 5)
	c.admit(pages[1].PageID, pages[3].PageID)
	g := c.growth(4, 4)
	for i, p := range g.Pages {
		want(c, "page", p.PageID, pages[i].PageID)
		want(c, "URL", p.URL, pages[i].URL)
		want(c, "host", p.HostID, pages[i].HostID)
	}
	want(c, "state", g.Pages[1].State, crawl.Active)
	end := store.EndLookParams{CrawlID: c.id, From: g.From, Through: g.Through}
	_, err := c.s.EndLook(c.ctx, end)
	c.check(err)
	_, err = c.s.EndLook(c.ctx, end)
	c.wantError(err, store.ErrConflict)
	g = c.growth(4, 1)
	_, err = c.s.EndLook(c.ctx, store.EndLookParams{CrawlID: c.id, From: g.From, Through: g.Through})
	c.check(err)
	g = c.growth(4, 0)
	want(c, "through", g.Through, pages[4].PageID)
}

func pagesAfter(c *collection) {
	c.with(100, 0)
	pages := c.knownByID(1, 5)
	c.known(2, 2)
	c.admit(pages[2].PageID)
	after := func(host string, id int64, limit int) int {
		found, err := c.s.PagesAfter(c.ctx, store.PagesAfterParams{CrawlID: c.id, Host: host, After: id, Limit: limit})
		c.check(err)
		return len(found)
	}
	want(c, "of a host", after(c.host(1), 0, 10), 5)
	want(c, "after", after(c.host(1), pages[1].PageID, 10), 3)
	want(c, "some", after(c.host(1), 0, 2), 2)
	want(c, "known of all", after("", 0, 10), 6)
	want(c, "of no host", after("none.test", 0, 10), 0)
}

func evidenceContents(c *collection) {
	c.with(100, 0)
	pages := byID(c.admitted(1, 5))
	for i, p := range pages[:3] {
		version, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{Version: store.VersionRecord{PageID: p.PageID, Visit: 1, Digest: strings.Repeat(fmt.Sprint(i), 64)}})
		c.check(err)
		c.visit(p.PageID, crawl.OutcomeNew, crawl.Active)
		if i == 2 {
			first := c.page(pages[0].PageID).Last.ID
			c.check(c.s.UpdateDuplicates(c.ctx, store.UpdateDuplicatesParams{CrawlID: c.id, Set: []store.NewDuplicate{{
				PageVersion: store.PageVersion{PageID: p.PageID, Version: version},
				Of:          store.DuplicateOf{PageVersion: store.PageVersion{PageID: pages[0].PageID, Version: first}, Exact: true, Resemblance: 1},
			}}}))
		}
	}
	found, err := c.s.Evidence(c.ctx, store.EvidenceParams{CrawlID: c.id, Hosts: []int64{pages[0].HostID, 1 << 40}, Each: 4})
	c.check(err)
	want(c, "pages", len(found), 4)
	c.register(0, c.urls(1, 9, 1)...)
	more, err := c.s.Evidence(c.ctx, store.EvidenceParams{CrawlID: c.id, Hosts: []int64{pages[0].HostID}, Each: 2})
	c.check(err)
	want(c, "pages beside newer ones", len(more), 4)
	want(c, "the first of them", more[0].PageID, pages[3].PageID)
	want(c, "the last of them", more[3].State, crawl.Known)
	newest, err := c.s.Evidence(c.ctx, store.EvidenceParams{CrawlID: c.id, Each: 3})
	c.check(err)
	want(c, "newest of the crawl", len(newest), 3)
	want(c, "the newest of them", newest[2].PageID, pages[4].PageID)
	for i, e := range found {
		want(c, "page", e.PageID, pages[i+1].PageID)
		want(c, "URL", e.URL, pages[i+1].URL)
		want(c, "content", e.Content, i < 2)
		want(c, "copy", e.Copy, i == 1)
		want(c, "compared", e.Compared, false)
		want(c, "its original", e.Of, map[bool]int64{true: pages[0].PageID}[i == 1])
	}
}
