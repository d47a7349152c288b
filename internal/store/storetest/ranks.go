package storetest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/rank"
	"recrawl/internal/store"
)

func rankCases() []collectionCase {
	return []collectionCase{
		{"RankedPagesByID", rankedPages},
		{"LinksInOrder", rankedLinks},
		{"RanksAreSaved", ranksSaved},
		{"SmallChangesAreNot", ranksSlack},
		{"AdmissionFollowsImportance", ranksAdmission},
		{"SeedsComeFirst", ranksSeeds},
		{"LevelsOrderTheUnranked", ranksLevels},
		{"RankingIsRecorded", rankingRecorded},
		{"HostsByRank", rankedHosts},
		{"UnknownCrawls", ranksUnknown},
		{"AHostDelaysNoOther", ranksBreadth},
	}
}

func (c *collection) ranked() []store.RankedPage {
	c.Helper()
	var all []store.RankedPage
	for after := int64(0); ; {
		some, err := c.s.RankedPages(c.ctx, c.id, after, 3)
		c.check(err)
		if len(some) == 0 {
			return all
		}
		all = append(all, some...)
		after = all[len(all)-1].ID
	}
}

func (c *collection) rank(pages []store.PageRecord, weights ...float64) {
	c.Helper()
	ranks := make([]store.PageRank, len(pages))
	for i, p := range pages {
		ranks[i] = store.PageRank{ID: p.PageID, Rank: 2 * weights[i], Weight: weights[i]}
	}
	c.check(c.s.SaveRanks(c.ctx, c.id, ranks))
}

func rankedPages(c *collection) {
	c.open()
	c.register(0, c.url(9, 0, 0))
	pages := c.known(1, 7)
	c.admit(pages[1].PageID)
	c.setState(pages[1].PageID, crawl.Gone)
	c.setState(pages[1].PageID, crawl.Evicted)
	c.rank(pages[2:3], 1.5)
	all := c.ranked()
	want(c, "pages", len(all), 8)
	want(c, "in order", slices.IsSortedFunc(all, func(a, b store.RankedPage) int { return int(a.ID - b.ID) }), true)
	for _, p := range all {
		rec := c.page(p.ID)
		want(c, "host", p.HostID, rec.HostID)
		want(c, "state", p.State, rec.State)
		want(c, "seed", p.Seed, rec.Level == 0)
		want(c, "weight", p.Weight, rec.Weight)
		want(c, "rank", p.Rank, rec.Rank)
		want(c, "placed", p.Placed.IsZero(), p.ID != pages[1].PageID)
		want(c, "evicted as", p.EvictedAs == crawl.Gone, p.ID == pages[1].PageID)
	}
}

func rankedLinks(c *collection) {
	c.open()
	from := c.known(2, 3)
	for i, f := range from {
		c.register(f.PageID, c.urls(1, 2+i, 1)...)
	}
	var got []store.PageLink
	at := store.PageLink{From: sortedIDs(from)[0]}
	for {
		some, err := c.s.PageLinks(c.ctx, at, 4)
		c.check(err)
		if len(some) == 0 {
			break
		}
		for _, l := range some {
			// Other cases' links are in the store too.
			if slices.ContainsFunc(from, func(p store.PageRecord) bool { return p.PageID == l.From }) {
				got = append(got, l)
			}
		}
		at = some[len(some)-1]
	}
	var expected []store.PageLink
	for i, f := range from {
		for n := range 2 + i {
			expected = append(expected, store.PageLink{From: f.PageID, To: c.find(c.url(1, n, 0).URL).PageID})
		}
	}
	slices.SortFunc(expected, func(a, b store.PageLink) int {
		if a.From != b.From {
			return int(a.From - b.From)
		}
		return int(a.To - b.To)
	})
	want(c, "links", fmt.Sprint(got), fmt.Sprint(expected))
}

func ranksSaved(c *collection) {
	const n = 2500 // more than one transaction
	c.open()
	c.register(0, c.urls(1, n, 1)...)
	all := c.ranked()
	ranks := make([]store.PageRank, 0, n+1)
	for i, p := range all {
		ranks = append(ranks, store.PageRank{
			ID: p.ID, Rank: float64(i) + 0.5, Weight: 1 + float64(i)/n,
			Backlinks: rank.Backlinks{Pages: 9, Hosts: int32(i % 7), Inner: int32(i % 3)},
		})
	}
	slices.Reverse(ranks)
	ranks = append(ranks, store.PageRank{ID: 1 << 40, Rank: 1, Weight: 1})
	c.check(c.s.SaveRanks(c.ctx, c.id, ranks))
	for i, p := range c.ranked() {
		if p.Rank != float64(i)+0.5 || p.Weight != 1+float64(i)/n {
			c.Fatalf("page %d: rank %v, weight %v", i, p.Rank, p.Weight)
		}
	}
	p := c.page(all[5].ID)
	want(c, "linking hosts", p.LinkingHosts, 5)
	want(c, "inner links", p.InnerLinks, 2)
	want(c, "backlinks, which are counted by themselves", p.Backlinks, 0)
	// Of another crawl.
	c.check(c.s.SaveRanks(c.ctx, c.id+1000, []store.PageRank{{ID: p.PageID, Rank: 77, Weight: 7}}))
	want(c, "weight", c.page(p.PageID).Weight, p.Weight)
}

func ranksSlack(c *collection) {
	c.open()
	pages := c.known(1, 2)
	c.rank(pages, 1, 1)
	c.rank(pages, 1.005, 1.02)
	want(c, "weight that hardly changed", c.page(pages[0].PageID).Weight, 1.)
	want(c, "weight that did", c.page(pages[1].PageID).Weight, 1.02)
}

func ranksAdmission(c *collection) {
	c.open()
	pages := c.known(1, 4)
	c.rank(pages, 0.5, 3, 0.2, 1.1)
	var got []string
	for _, p := range c.candidates(10) {
		got = append(got, p.URL)
	}
	want(c, "candidates", fmt.Sprint(got), fmt.Sprint([]string{pages[1].URL, pages[3].URL, pages[0].URL, pages[2].URL}))
	// Found nearer to a seed, an important page keeps its place.
	c.register(0, c.url(2, 0, 1))
	c.register(c.find(c.url(2, 0, 0).URL).PageID, c.url(1, 2, 1))
	want(c, "least candidate", c.candidates(10)[4].URL, pages[2].URL)
}

func ranksSeeds(c *collection) {
	c.open()
	pages := c.known(1, 3)
	c.register(0, c.url(1, 7, 0))
	seed := c.find(c.url(1, 7, 0).URL)
	c.rank(append(slices.Clone(pages), seed), 3, 9, 16, 0.1)
	want(c, "first candidate", c.candidates(10)[0].URL, seed.URL)
	// A known page that a person names becomes a seed.
	c.register(0, c.url(1, 0, 0))
	want(c, "second candidate", c.candidates(10)[1].URL, seed.URL)
	want(c, "first candidate", c.candidates(10)[0].URL, pages[0].URL)
	c.rank(pages[:1], 0.3)
	want(c, "first candidate after another ranking", c.candidates(10)[0].URL, pages[0].URL)
}

// An average page is as one at level 1; one of importance 1/2 as one at level 4.
func ranksLevels(c *collection) {
	c.open()
	pages := c.known(1, 2)
	c.rank(pages, 1.01, 0.5)
	c.register(0, c.url(1, 10, 1), c.url(1, 11, 3), c.url(1, 12, 5))
	var got []string
	for _, p := range c.candidates(10) {
		got = append(got, p.URL[len(p.URL)-2:])
	}
	want(c, "candidates", fmt.Sprint(got), "[/0 10 11 /1 12]")
}

func rankingRecorded(c *collection) {
	c.open()
	last, links, err := c.s.Ranking(c.ctx, c.id)
	c.check(err)
	want(c, "ranking before the first", last.At.IsZero() && links == 0, true)
	from := c.known(2, 1)[0]
	c.register(from.PageID, c.urls(1, 5, 1)...)
	before, err := c.s.Now(c.ctx)
	c.check(err)
	r := store.RankingRecord{
		Pages: 6, Links: 5, Hosts: 2, Rounds: 17, Residual: 1.5e-10, Damping: 0.85, Personalised: true, Took: 1500 * time.Millisecond,
		Reason: crawl.Reason{Code: "x", Num: map[string]float64{"links": 5}},
	}
	for i := range store.RankedTop + 3 {
		r.Top = append(r.Top, store.PageRank{ID: int64(i), Rank: 1, Weight: float64(1000 - i)})
	}
	for range 2 {
		c.check(c.s.SaveRanking(c.ctx, c.id, r, nil))
	}
	got, links, err := c.s.Ranking(c.ctx, c.id)
	c.check(err)
	want(c, "links", links, 5)
	if got.At.Before(before) {
		c.Fatalf("ranked at %v, before %v", got.At, before)
	}
	r.At, r.Top = got.At, r.Top[:store.RankedTop]
	want(c, "ranking", fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", r))
}

func rankedHosts(c *collection) {
	const n = 1200 // more than one transaction
	c.open()
	urls := make([]store.NewURL, n)
	for i := range urls {
		urls[i] = c.url(i, 0, 0)
	}
	hosts := make([]store.HostRank, n)
	for i, id := range c.register(0, urls...).Hosts {
		hosts[i] = store.HostRank{Rank: 1 / float64(i+1), HostLinks: rank.HostLinks{Host: id, Pages: 1, Inner: 2, Links: 3, LinkingPages: 4, LinkingHosts: 5}}
	}
	c.check(c.s.SaveRanking(c.ctx, c.id, store.RankingRecord{}, hosts))
	all, err := c.s.HostRanks(c.ctx, c.id, 2*n)
	c.check(err)
	want(c, "hosts", len(all), n)
	got := all[7]
	want(c, "host with a name", got.Name != "", true)
	got.Name = ""
	want(c, "host", got, hosts[7])
	c.check(c.s.SaveRanking(c.ctx, c.id, store.RankingRecord{}, hosts[3:5]))
	all, err = c.s.HostRanks(c.ctx, c.id, 10)
	c.check(err)
	want(c, "hosts of the next ranking", len(all), 2)
}

func ranksUnknown(c *collection) {
	c.wantError(c.s.SaveRanking(c.ctx, 1<<40, store.RankingRecord{}, nil), store.ErrNotFound)
	_, err := c.s.Collection(c.ctx, 1<<40)
	c.wantError(err, store.ErrNotFound)
	_, _, err = c.s.Swap(c.ctx, store.SwapParams{CrawlID: 1 << 40})
	c.wantError(err, store.ErrNotFound)
	pages, err := c.s.RankedPages(c.ctx, 1<<40, 0, 10)
	c.check(err)
	want(c, "pages", len(pages), 0)
}

// A host with thousands of important pages takes its window and no more, however
// often admission runs: every other host's pages come in at once.
func ranksBreadth(c *collection) {
	c.with(3, 0)
	c.register(0, c.urls(1, 300, 1)...)
	for h := range 5 {
		c.register(0, c.url(h+2, 0, 6))
	}
	var important []store.PageRecord
	weights := make([]float64, 300)
	for i := range weights {
		important, weights[i] = append(important, c.find(c.url(1, i, 0).URL)), 10
	}
	c.rank(important, weights...)
	for range 4 {
		c.admit(ids(c.candidates(4))...)
	}
	for h := range 5 {
		want(c, "state of another host's page", c.find(c.url(h+2, 0, 0).URL).State, crawl.Active)
	}
	want(c, "active", c.status().Pages[crawl.Active], 3+5)
}

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
	want(c, "collection", rec, store.CollectionRecord{MaxPages: 3, Living: 3, Evicted: 1})
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
