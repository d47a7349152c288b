package storetest

import (
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/rank"
	"recrawl/internal/store"
)

// trouble are the keys of the crawl's hosts in trouble, in order.
func (c *collection) trouble(limit int) (keys []string, hosts map[string]store.HostRecord, total int) {
	c.Helper()
	found, total, err := c.s.TroubledHosts(c.ctx, c.id, limit)
	c.check(err)
	hosts = map[string]store.HostRecord{}
	for _, h := range found {
		keys, hosts[h.Host] = append(keys, h.Host), h
	}
	slices.Sort(keys)
	return keys, hosts, total
}

// Hosts in trouble are found with their troubles, and only the crawl's own.
func hostsInTrouble(c *collection) {
	c.with(10, 0)
	for host := range 6 {
		c.admitted(host, 1)
	}
	c.check(c.s.SaveRobots(c.ctx, store.SaveRobotsParams{Origin: "https://" + c.host(0), State: store.RobotsAllowAll, Expires: time.Hour}))
	if keys, _, total := c.trouble(10); len(keys) != 0 || total != 0 {
		c.Fatalf("%v in trouble, %d in all", keys, total)
	}
	_, err := c.s.SetBlocked(c.ctx, c.host(1), true)
	c.check(err)
	_, err = c.s.SetBlocked(c.ctx, "elsewhere-"+c.host(1), true)
	c.check(err)
	c.check(c.s.SaveRobots(c.ctx, store.SaveRobotsParams{
		Origin: "https://" + c.host(2), State: store.RobotsUnreachable, Problem: "connection refused", Expires: time.Minute, Failures: 1,
	}))
	c.check(c.s.SaveRobots(c.ctx, store.SaveRobotsParams{
		Origin: "https://" + c.host(3), State: store.RobotsParsed, Text: "User-agent: *\nDisallow: /\n", ForbidsAll: true, Expires: time.Hour,
	}))
	c.throttled(c.find(c.url(4, 0, 1).URL).PageRef)
	keys, hosts, total := c.trouble(10)
	if !slices.Equal(keys, []string{c.host(1), c.host(2), c.host(3), c.host(4)}) || total != 4 {
		c.Fatalf("%v in trouble, %d in all", keys, total)
	}
	want(c, "blocked", c.status().Blocked, 1)
	if few, _, total := c.trouble(1); len(few) != 1 || total != 4 {
		c.Errorf("with a limit of 1: %v, %d in all", few, total)
	}
	held := hosts[c.host(4)]
	if held.BackoffReason.Code != polite.HostRetryAfter || held.BackoffReason.Num["hold"] != time.Hour.Seconds() {
		c.Errorf("in back-off because of %+v", held.BackoffReason)
	}
	if held.GapReason.Code == "" || held.Unvisited != 1 || held.Visited != 0 || held.Known != 0 {
		c.Errorf("gap because of %+v, %d unvisited, %d of them without a place, %d visited", held.GapReason, held.Unvisited, held.Known, held.Visited)
	}
	if r := hosts[c.host(2)].Robots; len(r) != 1 || r[0].Problem != "connection refused" {
		c.Errorf("robots.txt %+v", r)
	}
	if r := hosts[c.host(3)].Robots; len(r) != 1 || !r[0].ForbidsAll {
		c.Errorf("robots.txt %+v", r)
	}
	byID, err := c.s.ListHosts(c.ctx, store.HostFilter{CrawlID: c.id, IDs: []int64{held.ID, 1 << 40}})
	c.check(err)
	if len(byID) != 1 || byID[0].Host != held.Host || byID[0].BackoffUntil != held.BackoffUntil {
		c.Errorf("by id: %+v", byID)
	}
}

// throttled makes a request of a page that its host answers with an hour's Retry-After.
func (c *collection) throttled(page crawl.PageRef) {
	c.Helper()
	c.check(c.s.SaveRobots(c.ctx, store.SaveRobotsParams{Origin: "https://" + page.Host, State: store.RobotsAllowAll, Expires: time.Hour}))
	a, err := c.s.Acquire(c.ctx, store.AcquireParams{Page: page, Visit: 1, Patience: gatePatience})
	c.check(err)
	_, err = c.s.Begin(c.ctx, store.BeginParams{Permit: a.Permit, Page: page, Visit: 1, Patience: gatePatience})
	c.check(err)
	_, err = c.s.Release(c.ctx, store.ReleaseParams{Permit: a.Permit, Answer: store.HostThrottled, RetryAfter: time.Hour, HasRetryAfter: true})
	c.check(err)
}

// A standing shows places in line, traps and evictions.
func standings(c *collection) {
	c.with(10, 0)
	pages := c.admitted(0, 3)
	held := c.known(1, 1)[0]
	traps, err := c.s.SetTraps(c.ctx, c.id, []store.NewTrap{{Site: c.host(1), Host: c.host(1), Name: c.host(1) + "/x", Pattern: []byte("{}"), Reason: "loop", After: -1}})
	c.check(err)
	_, err = c.s.HoldPages(c.ctx, c.id, []store.Hold{{PageID: held.PageID, TrapID: traps[0].ID}})
	c.check(err)
	c.throttled(pages[0].PageRef)
	a, err := c.s.Acquire(c.ctx, store.AcquireParams{Page: pages[1].PageRef, Visit: 1})
	c.check(err)
	if a.Reason != store.WaitBackoff {
		c.Fatalf("waits for %s", a.Reason)
	}
	in := c.known(2, 1)[0]
	why := crawl.Reason{Code: "better", Num: map[string]float64{"in": 2, "out": 1}}
	_, done, err := c.s.Swap(c.ctx, store.SwapParams{CrawlID: c.id, Swap: rank.Swap{Out: pages[2].PageID, In: in.PageID, Reason: why}})
	c.check(err)
	if !done {
		c.Fatal("no swap")
	}
	found, err := c.s.Standings(c.ctx, []int64{pages[0].PageID, pages[1].PageID, pages[2].PageID, held.PageID, 1 << 40})
	c.check(err)
	want(c, "standings", len(found), 4)
	if st := found[pages[1].PageID]; st.Promised.Before(c.soon().Add(30*time.Minute)) || st.Underway {
		c.Errorf("in line: %+v", st)
	}
	want(c, "trap", found[held.PageID].Trap, c.host(1)+"/x")
	out := found[pages[2].PageID].Evicted
	if out.At.IsZero() || out.By != in.URL || out.Reason.Code != "better" {
		c.Errorf("evicted: %+v", out)
	}
	if st := found[pages[0].PageID]; !st.Promised.IsZero() || st.Trap != "" || !st.Evicted.At.IsZero() {
		c.Errorf("in no line: %+v", st)
	}
}
