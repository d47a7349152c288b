package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/rank"
	"recrawl/internal/store"
)

func rankCases() []collectionCase {
	return []collectionCase{
		{"RankedPagesByID", rankedPages},
		{"HeldPagesHaveNoRank", rankedHeld},
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
		some, err := c.s.RankedPages(c.ctx, c.id, after, 3+len(all)/10)
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

func rankedHeld(c *collection) {
	c.open()
	pages := c.knownByID(1, 5)
	c.rank(pages, 1, 2, 3, 4, 5)
	trap := c.trap()
	c.hold(trap, pages[1:4]...)
	var ids []int64
	for _, p := range c.ranked() {
		ids = append(ids, p.ID)
	}
	want(c, "pages to be ranked", fmt.Sprint(ids), fmt.Sprint([]int64{pages[0].PageID, pages[4].PageID}))
	held := c.page(pages[2].PageID)
	want(c, "weight of a held page", held.Weight, 0)
	want(c, "rank of a held page", held.Rank, 0)
	c.rank(pages[1:2], 7) // by a ranking that began before
	want(c, "weight of a page that was held meanwhile", c.page(pages[1].PageID).Weight, 0)
	c.release(trap)
	want(c, "pages to be ranked after the release", len(c.ranked()), 5)
	c.rank(pages[2:3], 3)
	want(c, "weight when it is ranked again", c.page(pages[2].PageID).Weight, 3)
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
	const n = 1100 // more than one transaction
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
		Pages: 6, Links: 5, Known: 9, Hosts: 2, Rounds: 17, Residual: 1.5e-10, Damping: 0.85, Personalised: true, Took: 1500 * time.Millisecond,
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
	all := c.rankedHosts()
	want(c, "hosts", len(all), n)
	want(c, "host", *all[7].Ranked, hosts[7])
	c.check(c.s.SaveRanking(c.ctx, c.id, store.RankingRecord{}, hosts[3:5]))
	want(c, "hosts of the next ranking", len(c.rankedHosts()), 2)
}

// rankedHosts are the hosts that the last ranking knows, the most important first.
func (c *collection) rankedHosts() []store.HostRecord {
	c.Helper()
	var ranked []store.HostRecord
	for after := ""; ; {
		hosts, err := c.s.ListHosts(c.ctx, store.HostFilter{CrawlID: c.id, After: after, Limit: 500})
		c.check(err)
		if len(hosts) == 0 {
			break
		}
		for _, h := range hosts {
			after = h.Host
			if h.Ranked != nil {
				ranked = append(ranked, h)
			}
		}
	}
	slices.SortFunc(ranked, func(a, b store.HostRecord) int { return cmp.Compare(b.Ranked.Rank, a.Ranked.Rank) })
	return ranked
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
