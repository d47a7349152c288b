package storetest

import (
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// daysCounted: a day has its visits, those that found a change, and how late the due ones
// came: all except first visits. Removed visits stay counted.
func daysCounted(c *collection) {
	c.with(10, 0)
	pages := c.admitted(1, 2)
	at := c.page(pages[0].PageID).NextAt
	record := func(page int64, visit int, at time.Time, outcome crawl.Outcome) store.VisitRecord {
		res, err := c.s.RecordVisit(c.ctx, store.RecordParams{
			Visit:    store.VisitRecord{PageID: page, Visit: visit, At: at, Outcome: outcome, State: crawl.Active},
			Interval: time.Minute,
		})
		c.check(err)
		return res.Visit
	}
	first := record(pages[0].PageID, 1, at.Add(time.Hour), crawl.OutcomeNew)
	late := record(pages[0].PageID, 2, first.NextAt.Add(90*time.Second), crawl.OutcomeChanged)
	record(pages[0].PageID, 3, late.NextAt.Add(-30*time.Second), crawl.OutcomeUnchanged)
	record(pages[1].PageID, 1, at, crawl.OutcomeFailed)
	days := c.status().Days
	var sum store.Day
	for _, d := range days { // midnight may have been in between
		if d.Start != d.Start.UTC().Truncate(24*time.Hour) {
			c.Fatalf("a day begins at %v", d.Start)
		}
		sum.Visits, sum.Changes, sum.Due, sum.Late = sum.Visits+d.Visits, sum.Changes+d.Changes, sum.Due+d.Due, sum.Late+d.Late
	}
	want(c, "days", sum, store.Day{Visits: 4, Changes: 1, Due: 2, Late: 90 * time.Second})
	if len(days) == 0 || len(days) > 2 {
		c.Fatalf("%d days", len(days))
	}
}

// sampleOfPages: a sample is all pages of its states if they are few, and otherwise about as
// many as are wanted, each once, spread over all ids, the states by their shares.
func sampleOfPages(c *collection) {
	c.with(1000, 0)
	pages := c.admitted(1, 120)
	for i, p := range pages {
		if i%4 == 0 {
			c.setState(p.PageID, crawl.Failing)
		}
		if i%12 == 1 {
			c.setState(p.PageID, crawl.Gone)
		}
	}
	c.known(2, 5)
	sample := func(n int, states ...crawl.PageState) []store.PageRecord {
		c.Helper()
		found, err := c.s.ListPages(c.ctx, store.PageFilter{CrawlID: c.id, States: states, Sample: n})
		c.check(err)
		return found
	}
	all := sample(200, crawl.Active, crawl.Failing)
	want(c, "all pages", len(all), 110)
	for _, p := range all {
		whole := c.page(p.PageID)
		if p.URL != whole.URL || p.Host != whole.Host || p.HostID != whole.HostID || p.State != whole.State || p.Visits != whole.Visits || p.CrawlID != c.id ||
			!p.LastAt.Equal(whole.LastAt) || !p.NextAt.Equal(whole.NextAt) || p.Weight != whole.Weight || p.Last.ID != whole.Last.ID || string(p.Belief) != string(whole.Belief) {
			c.Fatalf("%+v, want what says how fresh it is of %+v", p, whole)
		}
	}
	want(c, "no pages", len(sample(10, crawl.Duplicate)), 0)
	want(c, "no state", len(sample(10)), 0)
	found := sample(22, crawl.Active, crawl.Failing)
	if len(found) < 20 || len(found) > 24 {
		c.Fatalf("%d pages, want about 22", len(found))
	}
	byState, ids := map[crawl.PageState]int{}, make([]int64, 0, len(found))
	for _, p := range found {
		byState[p.State]++
		ids = append(ids, p.PageID)
	}
	if n := byState[crawl.Failing]; n < 5 || n > 7 || n+byState[crawl.Active] != len(found) {
		c.Fatalf("%v, want 6 failing pages and 16 active ones", byState)
	}
	if !slices.IsSorted(ids) || len(slices.Compact(ids)) != len(found) {
		c.Fatalf("ids %v", ids)
	}
	if ids[0] > pages[20].PageID || ids[len(ids)-1] < pages[100].PageID {
		c.Fatalf("ids %v of %d to %d are not spread", ids, pages[0].PageID, pages[119].PageID)
	}
}

// slowestHosts: hosts stand in the order of how long their pages take, by the gap that is
// kept there; of first visits, only those that have some left.
func slowestHosts(c *collection) {
	c.spec.Politeness.Delay, c.spec.Politeness.MaxCrawlDelay = crawl.Duration(10*time.Second), crawl.Duration(time.Minute)
	c.with(100, 0)
	few := c.admitted(1, 2)
	c.known(2, 9)
	c.known(3, 4)
	c.known(4, 1)
	for host, delay := range map[int]time.Duration{3: 30 * time.Second, 4: time.Hour} { // that of 4 is cut to a minute
		c.check(c.s.SaveRobots(c.ctx, store.SaveRobotsParams{
			Origin: "https://" + c.host(host), State: store.RobotsParsed, Status: 200, Text: "User-agent: *", Expires: time.Hour, CrawlDelay: delay,
		}))
	}
	for _, p := range few {
		c.visit(p.PageID, crawl.OutcomeNew, crawl.Active)
	}
	list := func(work store.HostWork, limit int) string {
		c.Helper()
		hosts, err := c.s.ListHosts(c.ctx, store.HostFilter{CrawlID: c.id, Limit: limit, Slowest: work})
		c.check(err)
		var names []string
		for _, h := range hosts {
			names = append(names, h.Host)
		}
		return fmt.Sprint(names)
	}
	want(c, "by a pass", list(store.WorkPass, 10), fmt.Sprint([]string{c.host(3), c.host(2), c.host(4), c.host(1)}))
	want(c, "the slowest two", list(store.WorkPass, 2), fmt.Sprint([]string{c.host(3), c.host(2)}))
	want(c, "by first visits", list(store.WorkFirst, 10), fmt.Sprint([]string{c.host(3), c.host(2), c.host(4)}))
}
