package storetest

import (
	"math"
	"testing"
	"time"

	"recrawl/internal/admission"
	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// RunCapacity tests that a store on an empty engine measures how many visits are made while tasks
// wait for a worker, and says what of that is asked for by other crawls.
func RunCapacity(t *testing.T, e sqlstore.Engine) {
	clock, err := stopClock(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	s := sqlstore.New(clock, sqlstore.Options{})
	c := newCollection(t, s).open()
	beside := restingBeside(c)
	pages := c.admitted(1, 10)
	engine := func() store.EngineRecord {
		t.Helper()
		rec, err := s.Engine(t.Context(), c.id)
		c.check(err)
		return rec
	}
	look := func(age time.Duration) {
		t.Helper()
		c.check(s.NoteBacklog(t.Context(), 100, age))
		for range 5 {
			c.visit(pages[0].PageID, crawl.OutcomeUnchanged, crawl.Active)
		}
		clock.at += (20 * time.Second).Microseconds()
	}
	late := func() {
		t.Helper()
		c.visit(pages[1].PageID, crawl.OutcomeNew, crawl.Active)
		clock.at += (time.Hour + 2*time.Minute).Microseconds()
	}
	want(c, "a new store", engine(), store.EngineRecord{})
	for range 20 {
		look(admission.Behind - time.Second)
	}
	want(c, "keeps up", engine(), store.EngineRecord{})
	for range 20 {
		look(time.Hour)
	}
	want(c, "tasks wait, but no visit is late", engine(), store.EngineRecord{})
	late()
	for range 4 {
		look(time.Minute)
	}
	want(c, "behind for a moment", engine(), store.EngineRecord{})
	beside.enter(crawl.CrawlRunning) // its visits were not made now
	for range 4 {
		look(admission.KeepsUp)
	}
	rec := engine()
	if perDay := 0.9 * 86_400 / 4; math.Abs(rec.PerDay-perDay) > 1 {
		t.Errorf("%v visits a day, want %v", rec.PerDay, perDay)
	}
	look(0)
	want(c, "not behind any more", engine(), rec)

	c.check(s.SetSteering(t.Context(), c.id, store.SteeringRecord{Asked: 10_000, Steering: schedule.Steering{Stretch: 2.5}}))
	c.check(s.SetSteering(t.Context(), beside.id, store.SteeringRecord{Asked: 30_000}))
	want(c, "asked for by the other", engine().Others, 30_000.0)
	want(c, "stretch of the crawl", c.steering().Stretch, 2.5)
	want(c, "asked for", c.steering().Asked, 10_000.0)
	want(c, "stretch of a page", c.page(pages[0].PageID).Steering.Stretch, 2.5)
	beside.enter(crawl.CrawlPaused)
	want(c, "asked for by one that is paused", engine().Others, 0.0)
	clock.at += (365 * 24 * time.Hour).Microseconds()
	want(c, "a year later", engine().PerDay, 0.0)
}

// restingBeside opens another crawl, which pauses after some visits.
func restingBeside(c *collection) *collection {
	c.Helper()
	beside := c.beside()
	page := beside.admitted(1, 1)[0].PageID
	for range 50 {
		beside.visit(page, crawl.OutcomeUnchanged, crawl.Active)
	}
	beside.enter(crawl.CrawlPaused)
	return beside
}

func (c *collection) enter(state crawl.CrawlState) {
	c.Helper()
	_, err := c.s.SetCrawlState(c.ctx, c.name, state)
	c.check(err)
}
