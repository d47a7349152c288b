package storetest

import (
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func scopeLookCases() []collectionCase {
	return []collectionCase{
		{"LooksAreRemembered", scopeLooks},
		{"LooksEndWithTheirSpec", scopeLooksEnd},
		{"WakesSleepers", wakesSleepers},
		{"SeedsOfRedirectsStay", redirectedSeedsStay},
	}
}

func scopeLooks(c *collection) {
	c.with(10, 0)
	look, err := c.s.ScopeLook(c.ctx, c.id)
	c.check(err)
	want(c, "the first look", look, store.ScopeLook{})
	for _, l := range []store.ScopeLook{{Scope: "a", After: 7}, {Scope: "a", After: 9, Done: true}, {Scope: "b"}} {
		c.check(c.s.SetScopeLook(c.ctx, c.id, l))
		look, err := c.s.ScopeLook(c.ctx, c.id)
		c.check(err)
		want(c, "the look", look, l)
	}
}

// Another scope ends the look, even if it is the earlier one that is back before anybody has looked.
// What judges no page does not.
func scopeLooksEnd(c *collection) {
	c.with(10, 0)
	done := store.ScopeLook{Scope: "a", After: 9, Done: true}
	open := func(after store.ScopeLook, change func(*crawl.Spec)) {
		c.Helper()
		c.check(c.s.SetScopeLook(c.ctx, c.id, done))
		spec := c.record().Spec
		change(&spec)
		_, err := c.s.OpenCrawl(c.ctx, spec)
		c.check(err)
		look, err := c.s.ScopeLook(c.ctx, c.id)
		c.check(err)
		want(c, "the look", look, after)
	}
	open(done, func(spec *crawl.Spec) { spec.Limits.Window++ })
	open(store.ScopeLook{}, func(spec *crawl.Spec) { spec.Scope.MaxDepth = 3 })
	open(store.ScopeLook{}, func(spec *crawl.Spec) { spec.Scope.MaxDepth = 0 })
	open(store.ScopeLook{}, func(spec *crawl.Spec) { spec.Purpose = []crawl.Use{crawl.UseSearch} })
	open(done, func(*crawl.Spec) {})
}

// Only living pages that sleep are woken, whatever their state. Those that were woken before are
// due, and come again: their workflows may not know it.
func wakesSleepers(c *collection) {
	c.with(10, 0)
	pages := c.admitted(0, 5)
	known := c.known(1, 1)[0]
	c.visit(pages[0].PageID, crawl.OutcomeNew, crawl.Active)
	c.visit(pages[1].PageID, crawl.OutcomeExcluded, crawl.Excluded)
	c.visit(pages[2].PageID, crawl.OutcomeNew, crawl.Active)
	c.visit(pages[3].PageID, crawl.OutcomeNew, crawl.Active)
	c.setState(pages[2].PageID, crawl.Stopped)
	c.stand(c.page(pages[3].PageID))
	ids := []int64{known.PageID, 1 << 40}
	for _, p := range pages {
		ids = append(ids, p.PageID)
	}
	for _, expect := range [][]int64{{pages[0].PageID, pages[1].PageID}, {pages[0].PageID, pages[1].PageID}} {
		woken, err := c.s.WakePages(c.ctx, ids)
		c.check(err)
		var got []int64
		for _, p := range woken {
			got = append(got, p.PageID)
			if p.NextAt.After(c.soon()) {
				c.Errorf("page %d is woken at %v", p.PageID, p.NextAt)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, expect) {
			c.Errorf("woken %v, want %v", got, expect)
		}
	}
}

// A spec that knows nothing of a seed's redirect does not remove the seed that it
// brought; one without the seed itself does.
func redirectedSeedsStay(c *collection) {
	c.open()
	spec := c.record().Spec
	from := spec.Seeds[0]
	to := c.host(9)
	verdict, err := c.s.AddRedirectedSeed(c.ctx, store.RedirectedSeed{Crawl: spec.Name, From: from, To: "https://" + to + "/", Host: to})
	c.check(err)
	want(c, "verdict", verdict, store.SeedAdded)
	before := c.record()
	rec, err := c.s.OpenCrawl(c.ctx, spec)
	c.check(err)
	if !slices.Contains(rec.Spec.Seeds, "https://"+to+"/") || rec.Generation != before.Generation {
		c.Errorf("seeds %q, generation %d after %d", rec.Spec.Seeds, rec.Generation, before.Generation)
	}
	spec.Seeds = []string{"https://" + c.host(8) + "/"}
	rec, err = c.s.OpenCrawl(c.ctx, spec)
	c.check(err)
	want(c, "seeds", len(rec.Spec.Seeds), 1)
}
