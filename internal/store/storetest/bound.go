package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"recrawl/internal/admission"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// boundCases are about values that all crawls of a store share, so each has a separate
// store.
func boundCases() []collectionCase {
	return []collectionCase{
		{"BoundHolds", boundHolds},
		{"BoundFollowsTheEngine", boundFollows},
		{"CrawlsHaveShares", boundShares},
		{"CrawlsThatDoNotRunTakeNothing", boundRunning},
		{"HostsTakeTurns", boundTurns},
		{"SeedsStartAtOnce", boundSeeds},
		{"OneRefillAtATime", refillOne},
		{"RefillsAreForKnownPages", refillKnown},
		{"RefillsAtOnce", refillAtOnce},
		{"NoRoomIsForgotten", refillAll},
	}
}

var (
	quick = admission.Engine{Wait: 100 * time.Millisecond}
	fair  = admission.Engine{Wait: admission.Quick + time.Millisecond}
)

// refillOnce admits the pages of one call of a refill.
func (c *collection) refillOnce(ctx context.Context, e admission.Engine, limit int) ([]store.PageRecord, error) {
	some, err := c.s.Candidates(ctx, store.CandidateParams{CrawlID: c.id, Limit: limit, Engine: &e})
	if err != nil {
		return nil, err
	}
	return c.s.Admit(ctx, store.AdmitParams{CrawlID: c.id, Admit: ids(some), Engine: &e})
}

func (c *collection) refill(e admission.Engine, limit int) []store.PageRecord {
	c.Helper()
	admitted, err := c.refillOnce(c.ctx, e, limit)
	c.check(err)
	return admitted
}

func (c *collection) refilled() bool {
	c.Helper()
	again, err := c.s.Refilled(c.ctx, c.id, fair)
	c.check(err)
	return again
}

// beside is another crawl of the same store.
func (c *collection) beside() *collection {
	c.Helper()
	other := newCollection(c.T, c.s)
	other.spec = c.spec
	other.spec.Name, other.name = c.name+"-2", c.name+"-2"
	return other.open()
}

func boundHolds(c *collection) {
	c.with(1000, 0)
	pages := c.known(1, 300)
	want(c, "admitted at first", len(c.refill(fair, 100)), admission.First)
	want(c, "candidates", len(c.refill(fair, 100)), 0)
	admitted, err := c.s.Admit(c.ctx, store.AdmitParams{CrawlID: c.id, Admit: ids(pages), Engine: &fair})
	c.check(err)
	want(c, "admitted by name", len(admitted), 0)
	st := c.status()
	want(c, "on their way", st.Demand, admission.Demand{Taken: 64, Own: 64, Crawls: 1})
	want(c, "bound", st.Bound.Pages, admission.First)
	want(c, "admitted without a bound", len(c.admit(ids(pages)...)), 236)
	c.checkCounts()
}

func boundFollows(c *collection) {
	c.with(1000, 0)
	c.known(1, 300)
	c.refill(quick, 100)
	want(c, "bound, before it was used up", c.status().Bound.Pages, admission.First)
	want(c, "admitted while the engine is fair", len(c.refill(fair, 100)), 0)
	want(c, "admitted while the engine is quick", len(c.refill(quick, 100)), 16)
	b := c.status().Bound
	want(c, "bound", b.Pages, 80)
	want(c, "reason", b.Reason.Code, admission.CodeGrew)
	want(c, "admitted soon after", len(c.refill(quick, 100)), 0)
	want(c, "bound soon after", c.status().Bound.At, b.At)
}

func boundShares(c *collection) {
	c.with(1000, 0)
	c.known(1, 300)
	mine := c.refill(fair, 100)
	other := c.beside()
	other.known(1, 1)
	other.known(2, 100)
	want(c, "admitted of the second crawl", len(other.refill(fair, 100)), 32)
	want(c, "admitted of the second crawl when it has its share", len(other.refill(fair, 100)), 0)
	for _, p := range mine[:36] {
		c.visit(p.PageID, crawl.OutcomeNew, crawl.Active)
	}
	// 28 and 32 are on their way: room for four more is not worth it, room for nine is.
	want(c, "admitted of the first crawl below its share", len(c.refill(fair, 100)), 4)
	for _, p := range mine[36:44] {
		c.visit(p.PageID, crawl.OutcomeNew, crawl.Active)
	}
	want(c, "admitted of the first crawl again", len(c.refill(fair, 100)), 8)
}

func boundRunning(c *collection) {
	c.with(1000, 0)
	c.known(1, 100)
	want(c, "admitted of a crawl", len(c.refill(fair, 100)), admission.First)
	_, err := c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlPaused)
	c.check(err)
	other := c.beside()
	other.known(2, 100)
	want(c, "admitted beside a paused crawl", len(other.refill(fair, 100)), admission.First)
}

// With more hosts than a refill has places, those whose last turn is longest ago come first.
func boundTurns(c *collection) {
	const hosts = 150
	c.with(16, 0)
	for h := range hosts {
		c.register(0, c.urls(h, 3, 1)...)
	}
	turns := map[int64]int{}
	for n := 0; n < 2*hosts; {
		admitted := c.refill(fair, 40)
		for _, p := range admitted {
			turns[p.HostID]++
			c.visit(p.PageID, crawl.OutcomeNew, crawl.Active)
		}
		n += len(admitted)
		least := 3
		for _, t := range turns {
			least = min(least, t)
		}
		if len(turns) < hosts {
			least = 0
		}
		for host, t := range turns {
			if t > least+2 {
				c.Fatalf("host %d has had %d pages, another %d", host, t, least)
			}
		}
	}
}

func boundSeeds(c *collection) {
	c.with(1000, 0)
	c.known(1, 100)
	c.refill(fair, 100)
	seeds := func(host, n int) {
		c.register(0, c.urls(host, n, 0)...)
	}
	seeds(2, 3)
	want(c, "seeds admitted beyond the bound", len(c.refill(fair, 100)), 3)
	seeds(3, 1000)
	want(c, "of many seeds", len(c.refill(fair, 100)), admission.Seeds-3)
	want(c, "of many seeds again", len(c.refill(fair, 100)), 0)
	c.visit(c.find(c.url(2, 0, 0).URL).PageID, crawl.OutcomeNew, crawl.Active)
	seeds(4, 1)
	got := c.refill(fair, 100)
	want(c, "seeds that a visit makes place for", len(got), 1)
	want(c, "the last that came", got[0].Host, c.host(4))
}

// refillOne: one page is told of room, until it has refilled the crawl.
func refillOne(c *collection) {
	c.with(10, 0)
	c.known(1, 40)
	pages := c.refill(fair, 10)
	room := func(p store.PageRecord) bool { return c.visit(p.PageID, crawl.OutcomeNew, crawl.Active).Room }
	for i := range 4 {
		want(c, "room in a window that is more than half full", room(pages[i]), false)
	}
	want(c, "room in a window that is half full", room(pages[4]), true)
	want(c, "room while somebody refills", room(pages[5]), false)
	again, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{PageID: pages[4].PageID, Visit: 1, Outcome: crawl.OutcomeNew}})
	c.check(err)
	want(c, "room for whom it was lost", again.Already && again.Room, true)
	want(c, "a refill that did nothing begins again", c.refilled(), true)
	want(c, "room while it does", room(pages[6]), false)
	want(c, "admitted", len(c.refill(fair, 100)), 7)
	want(c, "a refill that is done begins again", c.refilled(), false)
	second := c.visit(pages[0].PageID, crawl.OutcomeUnchanged, crawl.Active)
	want(c, "room after a second visit", second.Room, false)
}

// refillKnown: no page is told of room for which there are no pages, or that the crawl
// may not fill.
func refillKnown(c *collection) {
	c.with(2, 0)
	c.known(1, 2)
	for _, p := range c.refill(fair, 100) {
		want(c, "room without known pages", c.visit(p.PageID, crawl.OutcomeNew, crawl.Active).Room, false)
	}
	want(c, "refill without known pages", c.refilled(), false)
	c.spec.Limits.MaxPages = 4
	c.open()
	c.known(2, 5)
	for _, p := range c.refill(fair, 100) {
		want(c, "room at max_pages", c.visit(p.PageID, crawl.OutcomeNew, crawl.Active).Room, false)
	}
	want(c, "refill at max_pages", c.refilled(), false)
	again, err := c.s.Refilled(c.ctx, 1<<40, fair)
	c.check(err)
	want(c, "refill of no crawl", again, false)
}

func refillAtOnce(c *collection) {
	c.with(40, 0)
	c.known(1, 100)
	pages := c.refill(fair, 40)
	var told atomic.Int64
	c.together(8, func(i int) error {
		for _, p := range pages[i*5 : i*5+5] {
			res, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{PageID: p.PageID, Visit: 1, Outcome: crawl.OutcomeNew, State: crawl.Active}})
			if err != nil {
				return err
			}
			if res.Room {
				told.Add(1)
			}
		}
		return nil
	})
	want(c, "pages that were told to refill", told.Load(), 1)
}

// refillAll: a page that is told refills, as a Discover does, while others visit: no
// page is left over because a refill ended just as room was made.
func refillAll(c *collection) {
	const hosts, each = 3, 25
	c.with(1, 0)
	for h := range hosts {
		c.register(0, c.urls(h, each, 1)...)
	}
	// Each page is sent once, so that nobody waits to send.
	line := make(chan store.PageRecord, hosts*each)
	var under sync.WaitGroup // pages and refills that are under way
	refill := func() error {
		for {
			admitted, err := c.refillOnce(c.ctx, fair, 2)
			if err != nil {
				return err
			}
			for _, p := range admitted {
				under.Add(1)
				line <- p
			}
			if len(admitted) > 0 {
				continue
			}
			if again, err := c.s.Refilled(c.ctx, c.id, fair); err != nil || !again {
				return err
			}
		}
	}
	c.check(refill())
	go func() {
		under.Wait()
		close(line)
	}()
	c.together(4, func(int) error {
		for p := range line {
			err := func() error {
				defer under.Done()
				res, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{PageID: p.PageID, Visit: 1, Outcome: crawl.OutcomeNew, State: crawl.Active}})
				if err != nil || !res.Room {
					return err
				}
				return refill()
			}()
			if err != nil {
				return fmt.Errorf("page %d: %w", p.PageID, err)
			}
		}
		return nil
	})
	want(c, "pages", fmt.Sprint(c.status().Pages), fmt.Sprint(map[crawl.PageState]int{crawl.Active: hosts * each}))
	want(c, "on their way", c.status().Demand.Taken, 0)
}
