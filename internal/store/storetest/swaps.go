package storetest

import (
	"fmt"
	"math"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/rank"
	"recrawl/internal/store"
)

func swapCases() []collectionCase {
	return []collectionCase{
		{"OneForAnother", swapOne},
		{"Returns", swapReturns},
		{"Surplus", swapSurplus},
		{"WithinTheWindow", swapWindow},
		{"ImpossibleOnesAreNotDone", swapImpossible},
		{"LateVisitsKeepIt", swapLateVisit},
		{"LeavesTheLine", swapLeavesLine},
		{"UntoldUntilTold", swapTold},
		{"ForgottenPages", swapForgotten},
		{"ForgottenHosts", swapForgottenHost},
		{"AtOnceKeepsMaxPages", swapAtOnce},
	}
}

func (c *collection) swap(in, out int64) (store.Eviction, bool) {
	c.Helper()
	why := crawl.Reason{Code: rank.CodeBetter, Num: map[string]float64{"in": 2, "out": 1}}
	e, done, err := c.s.Swap(c.ctx, store.SwapParams{CrawlID: c.id, Swap: rank.Swap{In: in, Out: out, Reason: why}})
	c.check(err)
	return e, done
}

// full opens a crawl whose collection is full: n pages of its host 1 live, and as
// many are known.
func (c *collection) full(n int) (in, out []store.PageRecord) {
	c.Helper()
	c.with(2*n, n)
	pages := c.known(1, 2*n)
	want(c, "admitted", len(c.admit(ids(pages)...)), n)
	for _, p := range pages[:n] {
		c.visit(p.PageID, crawl.OutcomeNew, crawl.Active)
	}
	return pages[:n], pages[n:]
}

func swapOne(c *collection) {
	in, out := c.full(3)
	before, err := c.s.Now(c.ctx)
	c.check(err)
	e, done := c.swap(out[1].PageID, in[0].PageID)
	want(c, "done", done, true)
	want(c, "evicted", e.Page.PageID, in[0].PageID)
	want(c, "its state", e.Page.State, crawl.Evicted)
	want(c, "admitted", e.By.PageID, out[1].PageID)
	want(c, "its state", e.By.State, crawl.Active)
	if e.By.NextAt.Before(before) || e.By.NextAt.After(before.Add(time.Minute)) {
		c.Fatalf("due at %v, want now, %v", e.By.NextAt, before)
	}
	rec, err := c.s.Collection(c.ctx, c.id)
	c.check(err)
	want(c, "collection", rec, store.CollectionRecord{MaxPages: 3, Living: 3, Evicted: 1, Out: 1})
	want(c, "visits that stay", len(c.visits(in[0].PageID)), 1)
	_, again := c.swap(out[1].PageID, in[0].PageID)
	want(c, "done again", again, false)
	c.checkCounts()
}

func (c *collection) visits(page int64) []store.VisitRecord {
	c.Helper()
	all, err := c.s.ListVisits(c.ctx, page, 0, 100)
	c.check(err)
	return all
}

// A page that was evicted and comes back has one history.
func swapReturns(c *collection) {
	in, out := c.full(3)
	c.visit(in[0].PageID, crawl.OutcomeChanged, crawl.Gone)
	for range 3 {
		_, done := c.swap(out[0].PageID, in[0].PageID)
		want(c, "evicted", done, true)
		e, done := c.swap(in[0].PageID, out[0].PageID)
		want(c, "returned", done, true)
		want(c, "visits of the page that returned", e.By.Visits, len(c.visits(in[0].PageID)))
		want(c, "state", e.By.State, crawl.Active)
		c.visit(in[0].PageID, crawl.OutcomeUnchanged, crawl.Active)
	}
	var numbers []int
	for _, v := range c.visits(in[0].PageID) {
		numbers = append(numbers, v.Visit)
	}
	want(c, "visits", fmt.Sprint(numbers), "[5 4 3 2 1]")
	// Into a place that is free.
	_, done := c.swap(out[0].PageID, in[0].PageID)
	want(c, "evicted", done, true)
	_, done = c.swap(in[0].PageID, 0)
	want(c, "returned to a full collection", done, false)
	c.setState(in[1].PageID, crawl.Stopped)
	_, done = c.swap(in[0].PageID, 0)
	want(c, "returned to a free place", done, true)
	c.checkCounts()
}

func swapSurplus(c *collection) {
	in, _ := c.full(3)
	_, done := c.swap(0, in[0].PageID)
	want(c, "evicted without need", done, false)
	c.with(6, 2)
	_, done = c.swap(0, in[0].PageID)
	want(c, "evicted", done, true)
	_, done = c.swap(0, in[1].PageID)
	want(c, "evicted without need", done, false)
	want(c, "living", c.status().Pages[crawl.Active], 2)
}

func swapWindow(c *collection) {
	c.with(2, 3)
	pages := c.known(1, 6)
	c.admit(ids(pages[:2])...) // the window is full
	other := c.admitted(2, 1)[0]
	_, done := c.swap(pages[2].PageID, other.PageID)
	want(c, "into a full window", done, false)
	want(c, "state of who was to go", c.page(other.PageID).State, crawl.Active)
	_, done = c.swap(pages[2].PageID, pages[0].PageID)
	want(c, "into the place in the window that becomes free", done, true)
	c.visit(pages[2].PageID, crawl.OutcomeNew, crawl.Active)
	_, done = c.swap(pages[3].PageID, other.PageID)
	want(c, "into a window with room", done, true)
	c.checkCounts()
}

func swapImpossible(c *collection) {
	in, out := c.full(3)
	c.register(0, c.url(1, 1, 0)) // a person names one of them
	for name, s := range map[string][2]int64{
		"nothing": {0, 0}, "for a seed": {out[0].PageID, in[1].PageID}, "of a page that lives": {in[2].PageID, in[0].PageID},
		"for a page that does not live": {out[0].PageID, out[1].PageID}, "of no page": {1 << 40, in[0].PageID}, "for no page": {out[0].PageID, 1 << 40},
		"for itself": {in[0].PageID, in[0].PageID}, "into a full collection": {out[0].PageID, 0},
	} {
		if _, done := c.swap(s[0], s[1]); done {
			c.Errorf("swap %s was done", name)
		}
	}
	_, err := c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlStopped)
	c.check(err)
	_, done := c.swap(out[0].PageID, in[0].PageID)
	want(c, "in a stopped crawl", done, false)
	want(c, "living", c.status().Pages[crawl.Active], 3)
	c.checkCounts()
}

// A visit that was under way is recorded, and the page stays evicted.
func swapLateVisit(c *collection) {
	in, out := c.full(3)
	_, done := c.swap(out[0].PageID, in[0].PageID)
	want(c, "done", done, true)
	res := c.visit(in[0].PageID, crawl.OutcomeChanged, crawl.Active)
	want(c, "state after a late visit", res.Visit.State, crawl.Evicted)
	want(c, "living", c.status().Pages[crawl.Active], 3)
	c.checkCounts()
}

func swapLeavesLine(c *collection) {
	in, out := c.full(3)
	c.stand(c.page(in[0].PageID))
	far := c.soon().AddDate(1, 0, 0)
	want(c, "pages in no line", len(c.due(store.DueParams{Before: far})), 2)
	_, done := c.swap(out[0].PageID, in[0].PageID)
	want(c, "done", done, true)
	want(c, "pages in no line after the swap", len(c.due(store.DueParams{Before: far})), 3)
	p := c.page(in[0].PageID)
	a, err := c.s.Acquire(c.ctx, store.AcquireParams{Page: p.PageRef, Visit: p.Visits + 1, Class: crawl.ClassRevisit})
	c.check(err)
	want(c, "answer to the evicted page", a.Answer, store.GateEvicted)
}

func swapTold(c *collection) {
	in, out := c.full(3)
	for i := range 3 {
		_, done := c.swap(out[i].PageID, in[i].PageID)
		want(c, "done", done, true)
	}
	list := func(untold bool) []store.Eviction {
		all, err := c.s.Evictions(c.ctx, c.id, untold, 10)
		c.check(err)
		return all
	}
	all := list(true)
	want(c, "untold", len(all), 3)
	want(c, "newest first", all[0].Page.PageID, in[2].PageID)
	want(c, "by", all[0].By.URL, out[2].URL)
	want(c, "why", rank.Words(all[0].Reason), "a page worth 2.00 took the place of one worth 1.00")
	c.check(c.s.SetTold(c.ctx, c.id, []int64{in[0].PageID, in[2].PageID}))
	want(c, "untold", len(list(true)), 1)
	want(c, "in all", len(list(false)), 3)
}

func swapForgotten(c *collection) {
	in, out := c.full(3)
	for i := range 2 {
		_, done := c.swap(out[i].PageID, in[i].PageID)
		want(c, "done", done, true)
	}
	for _, url := range []string{in[0].URL, out[1].URL} {
		_, err := c.s.Forget(c.ctx, store.ForgetParams{Target: store.Target{URL: url}, Limit: 10})
		c.check(err)
	}
	all, err := c.s.Evictions(c.ctx, c.id, false, 10)
	c.check(err)
	want(c, "evictions", len(all), 1)
	want(c, "page", all[0].Page.PageID, in[1].PageID)
	want(c, "by a forgotten page", all[0].By.PageID, 0)
}

// A forgotten host has no ranks any more, in whatever crawl.
func swapForgottenHost(c *collection) {
	c.open()
	hosts := c.register(0, c.url(1, 0, 0), c.url(2, 0, 0)).Hosts
	var ranks []store.HostRank
	for _, id := range hosts {
		ranks = append(ranks, store.HostRank{Rank: 1, HostLinks: rank.HostLinks{Host: id, Pages: 1}})
	}
	c.check(c.s.SaveRanking(c.ctx, c.id, store.RankingRecord{}, ranks))
	_, err := c.s.Forget(c.ctx, store.ForgetParams{Target: store.Target{Host: c.host(1)}, Limit: 10})
	c.check(err)
	left := c.rankedHosts()
	want(c, "ranked hosts", len(left), 1)
	want(c, "the one that stays", left[0].Host, c.host(2))
}

// Swaps, admissions and visits of one crawl at once: max_pages holds, and so do all
// counts.
func swapAtOnce(c *collection) {
	const n = 12
	in, out := c.full(n)
	c.together(6, func(w int) error {
		for i := range n {
			k := (i + w) % n
			a, b := in[k].PageID, out[(k+w)%n].PageID
			if w%2 == 1 {
				a, b = b, a
			}
			if _, _, err := c.s.Swap(c.ctx, store.SwapParams{CrawlID: c.id, Swap: rank.Swap{In: b, Out: a}}); err != nil {
				return err
			}
			if _, err := c.s.Admit(c.ctx, store.AdmitParams{CrawlID: c.id, Admit: []int64{b}}); err != nil {
				return err
			}
			if err := c.s.SaveRanks(c.ctx, c.id, []store.PageRank{{ID: b, Rank: 1, Weight: 1 + float64(i)}, {ID: a, Rank: 1, Weight: math.Sqrt(float64(w + 1))}}); err != nil {
				return err
			}
		}
		return nil
	})
	st := c.status()
	want(c, "living", st.Pages[crawl.Active], n)
	c.checkCounts()
}
