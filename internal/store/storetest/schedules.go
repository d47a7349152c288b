package storetest

import (
	"fmt"
	"maps"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/schedule/gamma"
	"recrawl/internal/store"
)

func scheduleCases() []collectionCase {
	return []collectionCase{
		{"SteeringIsKept", steeringKept},
		{"SteeringOfPages", steeringOfPages},
		{"EntriesInOrder", entriesInOrder},
		{"HostLoads", hostLoads},
		{"UndiscoveredPages", undiscoveredPages},
		{"Reschedule", rescheduleSleepers},
		{"RescheduleNobodyElse", rescheduleNobodyElse},
		{"Internal", internalPages},
	}
}

var steered = schedule.Steering{Policy: "sqrt", Threshold: 0.25, Prior: gamma.Distribution{A: 0.7, B: 14}, Interval: 1.5, Steep: 0.25}

// moved is why.
var moved = []crawl.Reason{{Code: schedule.CodeThreshold, Num: map[string]float64{"from": 0.5, "to": 0.25}}}

func (c *collection) steering() store.SteeringRecord {
	c.Helper()
	rec, err := c.s.Steering(c.ctx, c.id, true)
	c.check(err)
	return rec
}

func (c *collection) steer(hosts map[int64]schedule.HostSteering) {
	c.Helper()
	c.check(c.s.SetSteering(c.ctx, c.id, store.SteeringRecord{Steering: steered, Planned: 90, Budget: 100, At: c.soon(), Rounds: 3, Reasons: moved, Hosts: hosts}))
}

func steeringKept(c *collection) {
	c.open()
	first := c.steering()
	want(c, "steering of a new crawl", first.Steering, schedule.Steering{})
	want(c, "its turns and hosts", first.Rounds+len(first.Hosts), 0)
	hosts := map[int64]schedule.HostSteering{}
	const nobody = 1 << 40 // hosts of no other case
	for id := int64(nobody + 1); id <= nobody+5000; id++ {
		hosts[id] = schedule.HostSteering{
			Price: float64(id), Prior: gamma.Distribution{A: 1, B: 2}, Planned: 3, Limit: 4,
			Site: schedule.Site{Wave: id, Share: 0.5, Looks: 6, Waves: 0.75, Since: 7},
		}
	}
	c.steer(hosts)
	c.steer(map[int64]schedule.HostSteering{nobody + 2: {Price: 0.5}})
	hosts[nobody+2] = schedule.HostSteering{Price: 0.5}
	rec := c.steering()
	want(c, "steering", rec.Steering, steered)
	want(c, "planned and budget", fmt.Sprint(rec.Planned, rec.Budget, rec.Rounds), "90 100 3")
	want(c, "why the threshold is there", schedule.Words(rec.Reasons), "θ moved from 0.5 to 0.25")
	if rec.At.IsZero() || !maps.Equal(rec.Hosts, hosts) {
		c.Fatalf("at %v, %d hosts, the second %+v", rec.At, len(rec.Hosts), rec.Hosts[nobody+2])
	}
}

func steeringOfPages(c *collection) {
	c.open()
	a, b := c.admitted(1, 1)[0], c.admitted(2, 1)[0]
	c.steer(map[int64]schedule.HostSteering{a.HostID: {Price: 2, Planned: 7, Limit: 8, Site: schedule.Site{Since: 9}}})
	a, b = c.page(a.PageID), c.page(b.PageID)
	want(c, "of both", fmt.Sprint(a.Steering, b.Steering), fmt.Sprint(steered, steered))
	want(c, "of a's host", a.HostSteering, schedule.HostSteering{Price: 2, Planned: 7, Limit: 8, Site: schedule.Site{Since: 9}})
	want(c, "of b's host", b.HostSteering, schedule.HostSteering{})
}

// entries walks through all entries, a few at a time.
func (c *collection) entries(urls bool) []store.EntryRecord {
	c.Helper()
	var all []store.EntryRecord
	p := store.EntryParams{CrawlID: c.id, Limit: 3, URLs: urls}
	for {
		some, err := c.s.Entries(c.ctx, p)
		c.check(err)
		all = append(all, some...)
		if len(some) < p.Limit {
			return all
		}
		p.After = some[len(some)-1].PageID
	}
}

func entriesInOrder(c *collection) {
	c.with(20, 0)
	pages := sortedIDs(c.admitted(1, 10))
	states := []crawl.PageState{crawl.Active, crawl.Failing, crawl.Gone}
	for i, id := range pages[:9] {
		c.visit(id, crawl.OutcomeNew, states[i%len(states)])
	}
	c.setState(pages[8], crawl.Stopped)
	_, err := c.s.RecordVisit(c.ctx, store.RecordParams{
		Visit: store.VisitRecord{PageID: pages[0], Visit: 2, Outcome: crawl.OutcomeUnchanged, State: crawl.Active}, Interval: time.Hour,
		Belief: []byte(`{"pairs":1}`),
	})
	c.check(err)
	all := c.entries(true)
	want(c, "pages that were visited and live", len(all), 8)
	for i, e := range all {
		p := c.page(pages[i])
		want(c, "entry", fmt.Sprint(e.PageID, e.HostID, e.URL, e.State, e.Visits, e.LastAt, e.NextAt, string(e.Belief)),
			fmt.Sprint(p.PageID, p.HostID, p.URL, p.State, p.Visits, p.LastAt, p.NextAt, string(p.Belief)))
	}
	want(c, "URL that nobody asked for", c.entries(false)[0].URL, "")
}

func hostLoads(c *collection) {
	c.spec.Politeness.Delay, c.spec.Politeness.Factor = crawl.Duration(5*time.Second), 0
	c.open()
	a, b := c.admitted(1, 1)[0], c.admitted(2, 1)[0]
	c.steer(map[int64]schedule.HostSteering{a.HostID: {Planned: 70}})
	other := c.spec
	other.Name += "-other"
	rec, err := c.s.OpenCrawl(c.ctx, other)
	c.check(err)
	c.check(c.s.SetSteering(c.ctx, rec.ID, store.SteeringRecord{Hosts: map[int64]schedule.HostSteering{a.HostID: {Planned: 30}}}))
	loads, err := c.s.HostLoads(c.ctx, c.id, []int64{b.HostID, a.HostID, 1 << 50})
	c.check(err)
	want(c, "hosts", len(loads), 2)
	byID := map[int64]store.HostLoad{loads[0].ID: loads[0], loads[1].ID: loads[1]}
	want(c, "what others plan", byID[a.HostID].Others, 30)
	want(c, "what nobody plans", byID[b.HostID].Others, 0)
	want(c, "gap", byID[a.HostID].Gap, 5*time.Second)
	want(c, "undiscovered and visited pages", pagesOf(byID[a.HostID]), "1 0")
	_, err = c.s.SetCrawlState(c.ctx, other.Name, crawl.CrawlStopped)
	c.check(err)
	loads, err = c.s.HostLoads(c.ctx, c.id, []int64{a.HostID})
	c.check(err)
	want(c, "what a stopped crawl had planned", loads[0].Others, 0.0)
	none, err := c.s.HostLoads(c.ctx, c.id, nil)
	c.check(err)
	want(c, "of no hosts", len(none), 0)
}

func pagesOf(l store.HostLoad) string { return fmt.Sprint(l.Undiscovered, l.Visited) }

// How much of a host is undiscovered: in all running crawls, up to the room that
// these have.
func undiscoveredPages(c *collection) {
	c.with(10, 3)
	pages := c.admitted(1, 2)
	c.register(0, c.urls(1, 9, 1)...) // one more can be admitted
	host := pages[0].HostID
	load := func() string {
		c.Helper()
		loads, err := c.s.HostLoads(c.ctx, c.id, []int64{host})
		c.check(err)
		return pagesOf(loads[0])
	}
	want(c, "of a crawl with room for one more", load(), "3 0")
	c.visit(pages[0].PageID, crawl.OutcomeNew, crawl.Active)
	c.visit(pages[1].PageID, crawl.OutcomeGone, crawl.Gone)
	want(c, "when two have been visited", load(), "1 2")
	c.setState(pages[1].PageID, crawl.Stopped)
	want(c, "when one of them does not live any more", load(), "2 1")
	c.admit(ids(c.candidates(10))...)
	want(c, "when the crawl is full", load(), "2 1")
	other := c.spec
	other.Name, other.Limits.MaxPages = c.name+"-other", 0
	rec, err := c.s.OpenCrawl(c.ctx, other)
	c.check(err)
	_, err = c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: rec.ID, URLs: c.urls(1, 5, 1)})
	c.check(err)
	want(c, "with another crawl", load(), "7 1")
	_, err = c.s.SetCrawlState(c.ctx, other.Name, crawl.CrawlPaused)
	c.check(err)
	want(c, "while that is paused", load(), "2 1")
}

func rescheduleSleepers(c *collection) {
	c.open()
	pages := sortedIDs(c.admitted(1, 3))
	for _, id := range pages {
		c.visit(id, crawl.OutcomeNew, crawl.Active)
	}
	later := c.page(pages[0]).LastAt.Add(40 * time.Minute)
	moved, err := c.s.Reschedule(c.ctx, []store.Move{
		{PageID: pages[2], Visit: 1, NextAt: later},
		{PageID: pages[0], Visit: 1, NextAt: later},
		{PageID: pages[1], Visit: 1}, // long ago: now
	})
	c.check(err)
	want(c, "moved", fmt.Sprint(ids(moved)), fmt.Sprint(pages))
	want(c, "next visit", c.page(pages[2]).NextAt, later)
	want(c, "as told", moved[2].NextAt, later)
	if now := c.page(pages[1]).NextAt; now.After(c.soon()) || now.Before(c.page(pages[1]).LastAt) {
		c.Fatalf("a move into the past leads to %v", now)
	}
}

func rescheduleNobodyElse(c *collection) {
	c.with(20, 0)
	pages := sortedIDs(c.admitted(1, 5))
	for _, id := range pages[:4] {
		c.visit(id, crawl.OutcomeNew, crawl.Active)
	}
	c.visit(pages[1], crawl.OutcomeUnchanged, crawl.Active) // overtaken
	c.visit(pages[2], crawl.OutcomeFailed, crawl.Failing)   // backs off
	c.stand(c.page(pages[3]))                               // waits
	before := fmt.Sprint(c.due(store.DueParams{Before: c.soon().Add(100 * time.Hour), Limit: 100, InLine: true}))
	moved, err := c.s.Reschedule(c.ctx, []store.Move{
		{PageID: pages[1], Visit: 1, NextAt: c.soon()},
		{PageID: pages[2], Visit: 2, NextAt: c.soon()},
		{PageID: pages[3], Visit: 1, NextAt: c.soon()},
		{PageID: pages[4], Visit: 0, NextAt: c.soon()}, // due
		{PageID: 1 << 50, NextAt: c.soon()},
	})
	c.check(err)
	want(c, "moved", len(moved), 0)
	want(c, "pages", fmt.Sprint(c.due(store.DueParams{Before: c.soon().Add(100 * time.Hour), Limit: 100, InLine: true})), before)
	none, err := c.s.Reschedule(c.ctx, nil)
	c.check(err)
	want(c, "of none", len(none), 0)
}

func internalPages(c *collection) {
	c.with(20, 0)
	hub := c.admitted(1, 1)[0]
	c.register(hub.PageID, c.urls(1, 7, 1)...) // one is the hub itself
	internal := c.admit(ids(c.candidates(10))...)
	c.register(hub.PageID, c.urls(2, 2, 1)...) // of another host
	since := c.page(hub.PageID).LastAt
	for i, p := range internal {
		if i < 4 {
			c.visit(p.PageID, crawl.OutcomeNew, crawl.Active)
		}
	}
	for _, p := range c.admit(ids(c.candidates(10))...) {
		c.visit(p.PageID, crawl.OutcomeNew, crawl.Active)
	}
	found, err := c.s.Internal(c.ctx, hub.PageID, since)
	c.check(err)
	want(c, "internal pages that are new", found, schedule.Internal{})
	c.visit(internal[0].PageID, crawl.OutcomeUnchanged, crawl.Active)
	c.visit(internal[0].PageID, crawl.OutcomeSkipped, crawl.Active) // takes the comparison before it back from nobody
	c.visit(internal[1].PageID, crawl.OutcomeSkipped, crawl.Active) // compares nothing, nor do these:
	c.visit(internal[2].PageID, crawl.OutcomeFailed, crawl.Failing)
	c.visit(internal[3].PageID, crawl.OutcomeGone, crawl.Gone)
	found, err = c.s.Internal(c.ctx, hub.PageID, since)
	c.check(err)
	want(c, "internal pages of which one was compared", found, schedule.Internal{Compared: 1})
	since = c.soon()
	for _, p := range internal[1:3] {
		_, err := c.s.RecordVisit(c.ctx, store.RecordParams{
			Visit: store.VisitRecord{
				PageID: p.PageID, Visit: c.page(p.PageID).Visits + 1, At: since.Add(time.Second),
				Outcome: []crawl.Outcome{crawl.OutcomeChanged, crawl.OutcomeUnchanged}[int(p.PageID)%2], State: crawl.Active,
			}, Interval: time.Hour,
		})
		c.check(err)
	}
	found, err = c.s.Internal(c.ctx, hub.PageID, since)
	c.check(err)
	want(c, "internal pages since", found, schedule.Internal{Compared: 2, Changed: 1})
	none, err := c.s.Internal(c.ctx, 1<<50, since)
	c.check(err)
	want(c, "of no page", none, schedule.Internal{})
}
