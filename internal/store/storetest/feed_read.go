package storetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/feed/reader"
	"recrawl/internal/store"
)

func feedReadCases() []collectionCase {
	return []collectionCase{
		{"FactsOfAChange", factsOfChange},
		{"FactsOfWhatIsGone", factsOfGone},
		{"FactsOfHostsAndTraps", factsOfHosts},
		{"SnapshotThenFollow", snapshotThenFollow},
	}
}

// facts are those of changes of the crawl.
func (c *collection) facts(changes ...feed.Change) []store.ChangeFacts {
	c.Helper()
	for i := range changes {
		changes[i].CrawlID = c.id
	}
	facts, err := c.s.ChangeFacts(c.ctx, changes)
	c.check(err)
	want(c, "facts", len(facts), len(changes))
	return facts
}

func factsOfChange(c *collection) {
	c.open()
	pages := sortedIDs(c.admitted(1, 2))
	url := c.page(pages[0]).URL
	for i := 1; i <= 3; i++ {
		v := version(pages[0], i)
		v.Title, v.Language, v.Digest = fmt.Sprintf("Title %d", i), "en", strings.Repeat(fmt.Sprint(i), 64)
		c.save(v)
		c.visit(pages[0], crawl.OutcomeChanged, crawl.Active)
	}
	_, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{
		PageID: pages[0], Visit: 4, Outcome: crawl.OutcomeRedirected, State: crawl.Redirect, Status: 301, Location: "https://x.test/new", Problem: "moved",
	}})
	c.check(err)
	facts := c.facts(
		feed.Change{Kind: feed.PageMoved, PageID: pages[0], Visit: 4, Seq: 3, Data: feed.Data{From: 3}},
		feed.Change{Kind: feed.PageStopped, PageID: pages[1]},
		feed.Change{Kind: feed.PageChanged, PageID: pages[0], Visit: 2, Seq: 2, Data: feed.Data{From: 1}},
	)
	want(c, "crawl", facts[0].Crawl, c.name)
	want(c, "URL", facts[0].URL, url)
	want(c, "host", facts[0].Host, c.host(1))
	want(c, "title of the last version", facts[2].Title, "Title 3")
	want(c, "title of the version", facts[2].Version.Title, "Title 2")
	want(c, "status", facts[0].Status, 301)
	now := c.page(pages[0])
	want(c, "number and visit of the last version", [2]int{facts[2].Last.Seq, facts[2].Last.Visit}, [2]int{now.Last.Seq, now.Last.Visit})
	want(c, "when the page got its text", facts[2].TextAt, now.TextAt)
	want(c, "when a page without visits got its text", facts[1].TextAt, time.Time{})
	want(c, "location", facts[0].Location, "https://x.test/new")
	want(c, "problem", facts[0].Problem, "moved")
	want(c, "version that stayed", facts[0].Version, facts[0].Before)
	second, err := c.s.Version(c.ctx, pages[0], 2)
	c.check(err)
	got := facts[2].Version
	want(c, "version", fmt.Sprint(got.ID, got.Seq, got.Visit, got.At, got.Digest, got.TextDigest, got.Bytes, got.TextBytes, got.ContentType, got.Language),
		fmt.Sprint(second.ID, 2, 2, second.At, second.Digest, second.TextDigest, second.Bytes, second.TextBytes, second.ContentType, "en"))
	want(c, "version before", facts[2].Before.Digest, strings.Repeat("1", 64))
	want(c, "page without visits", facts[1].URL, c.page(pages[1]).URL)
	want(c, "its version", facts[1].Version, store.VersionRecord{})
	none, err := c.s.ChangeFacts(c.ctx, nil)
	c.check(err)
	want(c, "of no changes", len(none), 0)
}

func factsOfGone(c *collection) {
	c.spec.Retention.MaxVisits = 1
	c.open()
	pages := c.admitted(1, 2)
	kept, gone := pages[0], pages[1]
	c.past(kept.PageID, 3, store.Retention{Versions: 1, Visits: 1})
	c.past(gone.PageID, 2, store.Retention{})
	c.forgetURL(gone.URL)
	facts := c.facts(
		feed.Change{Kind: feed.PageChanged, PageID: kept.PageID, Visit: 1, Seq: 2, Data: feed.Data{From: 1}},
		feed.Change{Kind: feed.PageChanged, PageID: gone.PageID, Visit: 2, Seq: 2, Data: feed.Data{From: 1}},
	)
	want(c, "URL", facts[0].URL, kept.URL)
	want(c, "version that is not kept", facts[0].Version, store.VersionRecord{})
	want(c, "and the one before", facts[0].Before, store.VersionRecord{})
	want(c, "visit that is not kept", facts[0].Status, 0)
	want(c, "a forgotten page", facts[1], store.ChangeFacts{Crawl: c.name})
}

func factsOfHosts(c *collection) {
	c.open()
	page := c.admitted(1, 1)[0]
	trap := c.setTraps(c.newTrap("calendar"))[0]
	facts := c.facts(
		feed.Change{Kind: feed.HostBlocked, Data: feed.Data{HostID: page.HostID}},
		feed.Change{Kind: feed.TrapHeld, Data: feed.Data{TrapID: trap.ID}},
	)
	want(c, "blocked host", facts[0].Host, page.Host)
	want(c, "trap", facts[1].Trap, trap.Name)
	want(c, "its host", facts[1].Host, trap.Host)
}

// copied is a consumer's copy of a page of the feed.
type copied struct {
	url     string
	state   crawl.PageState
	version int
	digest  string
}

// consumer keeps a copy of a crawl's pages by a snapshot and the changes since.
type consumer struct {
	pages map[int64]copied
}

func (m consumer) snapshot(pages []feed.SnapshotPage) error {
	for _, p := range pages {
		m.put(p.Page, p.Version)
	}
	return nil
}

func (m consumer) changes(b reader.Batch) error {
	for _, e := range b.Events {
		switch {
		case e.Page == nil:
		case e.Page.URL == "": // forgotten
			delete(m.pages, e.Page.ID)
		default:
			m.put(*e.Page, e.Version)
		}
	}
	return nil
}

func (m consumer) put(p feed.EventPage, v *feed.EventVersionOf) {
	got := copied{url: p.URL, state: p.State}
	if v != nil {
		got.version, got.digest = v.Seq, v.Digest
	}
	m.pages[p.ID] = got
}

// snapshotThenFollow: a consumer that takes a snapshot while pages are visited,
// stopped and forgotten, and follows from its cursor, ends with the store's state.
func snapshotThenFollow(c *collection) {
	const writers, each, turns = 8, 6, 40
	c.with(1000, 0)
	pages := sortedIDs(c.admitted(1, writers*each))
	q := reader.Query{CrawlID: c.id}
	r := reader.New(c.s, nil)
	var left atomic.Int64
	left.Store(writers)
	m := consumer{pages: map[int64]copied{}}
	c.together(writers+1, func(i int) error {
		if i < writers {
			defer left.Add(-1)
			return c.live(pages[i*each:(i+1)*each], turns, rand.New(rand.NewPCG(1, uint64(i))))
		}
		var err error
		if q.After, err = r.Snapshot(c.ctx, q, m.snapshot); err != nil {
			return err
		}
		for more := true; more; {
			more = left.Load() > 0 // asked before the look that must see everything
			err := r.Follow(c.ctx, q, reader.Following{Take: func(b reader.Batch) error {
				q.After = b.Through
				return m.changes(b)
			}})
			if err != nil {
				return err
			}
		}
		return nil
	})
	c.compare(m)
}

// live has some pages visited in a random way.
func (c *collection) live(pages []int64, turns int, draw *rand.Rand) error {
	for range turns {
		id := pages[draw.IntN(len(pages))]
		page, err := c.s.Page(c.ctx, id)
		if err != nil {
			continue // forgotten
		}
		if n := draw.IntN(40); n == 0 {
			_, err = c.s.Forget(c.ctx, store.ForgetParams{Target: store.Target{URL: page.URL}})
		} else if page.Visits > 0 && n < 4 {
			err = c.s.SetPageState(c.ctx, id, [...]crawl.PageState{crawl.Stopped, crawl.Active}[n%2])
		} else if page.State.Lives() {
			err = c.anyVisit(page, draw)
		}
		if err != nil {
			return fmt.Errorf("page %d: %w", id, err)
		}
	}
	return nil
}

// anyVisit is a visit with any outcome.
func (c *collection) anyVisit(page store.PageRecord, draw *rand.Rand) error {
	v := store.VisitRecord{PageID: page.PageID, Visit: page.Visits + 1, State: crawl.Active, Outcome: crawl.OutcomeUnchanged, Status: 200}
	switch n := draw.IntN(8); {
	case n == 0:
		v.Outcome, v.State, v.Status = crawl.OutcomeGone, crawl.Gone, 404
	case n == 1:
		v.Outcome, v.State, v.Status = crawl.OutcomeFailed, crawl.Failing, 500
	case n == 2:
		v.Outcome, v.State, v.Status, v.Location = crawl.OutcomeRedirected, crawl.Redirect, 301, "https://x.test/"
	case n == 3 && page.Last.Seq > 0 && (page.State == crawl.Active || page.State == crawl.Failing): // as before
	default:
		v.Outcome = crawl.OutcomeChanged
		w := version(page.PageID, v.Visit)
		w.Digest = fmt.Sprintf("%032x%032x", page.PageID, v.Visit)
		if _, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{Version: w}); err != nil {
			return err
		}
	}
	_, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: v})
	return err
}

// compare holds a copy against the pages that are there.
func (c *collection) compare(m consumer) {
	c.Helper()
	there := map[int64]copied{}
	for _, p := range c.list(store.PageFilter{CrawlID: c.id}) {
		if p.Visits > 0 {
			there[p.PageID] = copied{p.URL, p.State, p.Last.Seq, p.Last.Digest}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(there)) {
		if m.pages[id] != there[id] {
			c.Errorf("page %d is %+v, and the copy says %+v", id, there[id], m.pages[id])
		}
	}
	if len(m.pages) != len(there) || len(there) == 0 {
		c.Errorf("%d pages are there, and %d in the copy", len(there), len(m.pages))
	}
}
