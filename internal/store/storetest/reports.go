package storetest

import (
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func reportCases() []collectionCase {
	return []collectionCase{
		{"StatusOfNewCrawl", statusEmpty},
		{"StatusCounts", statusCounts},
		{"StatusOfUnknownCrawl", statusUnknown},
		{"PagesByState", pagesByState},
		{"PagesByHost", pagesByHost},
		{"PagesChangedSince", pagesChanged},
		{"PagesOfAllCrawls", pagesAllCrawls},
		{"HostsByName", hostsByName},
		{"HostsInTrouble", hostsInTrouble},
		{"Standings", standings},
		{"RecentVisits", recentVisits},
		{"Foresight", foresight},
		{"Days", daysCounted},
		{"SampleOfPages", sampleOfPages},
		{"SlowestHosts", slowestHosts},
	}
}

func statusEmpty(c *collection) {
	c.open()
	st := c.status()
	want(c, "numbers", st.Visits+st.Versions+st.Links+st.Waiting+st.Overdue+st.Backoff+st.Hosts+st.LastHour, 0)
	want(c, "maps", len(st.Pages)+len(st.Outcomes), 0)
	if st.Lag != 0 || !st.NextDue.IsZero() {
		c.Fatalf("lag %v, next due %v", st.Lag, st.NextDue)
	}
}

func statusCounts(c *collection) {
	c.with(10, 0)
	pages := c.admitted(1, 5)
	c.known(2, 2)
	c.visit(pages[0].PageID, crawl.OutcomeNew, crawl.Active)
	c.visit(pages[1].PageID, crawl.OutcomeFailed, crawl.Failing)
	c.visit(pages[1].PageID, crawl.OutcomeFailed, crawl.Failing)
	st := c.status()
	want(c, "active", st.Pages[crawl.Active], 4)
	want(c, "failing", st.Pages[crawl.Failing], 1)
	want(c, "known", st.Pages[crawl.Known], 2)
	want(c, "visits", st.Visits, 3)
	want(c, "failed", st.Outcomes[crawl.OutcomeFailed], 2)
	want(c, "last hour", st.LastHour, 3)
	want(c, "hosts", st.Hosts, 2)
	want(c, "overdue", st.Overdue, 3)
	if st.Lag <= 0 || st.Lag > time.Minute {
		c.Fatalf("lag %v", st.Lag)
	}
	if first := c.page(pages[0].PageID).NextAt; st.NextDue != first {
		c.Fatalf("next due %v, want %v", st.NextDue, first)
	}
}

func statusUnknown(c *collection) {
	_, err := c.s.Status(c.ctx, 1<<40)
	c.wantError(err, store.ErrNotFound)
}

func pagesByState(c *collection) {
	c.with(100, 0)
	pages := c.admitted(1, 20)
	c.known(2, 15)
	for i, p := range pages {
		if i%3 == 0 {
			c.setState(p.PageID, crawl.Gone)
		}
	}
	count := func(states ...crawl.PageState) int {
		return len(c.list(store.PageFilter{CrawlID: c.id, States: states}))
	}
	want(c, "gone", count(crawl.Gone), 7)
	want(c, "gone and active", count(crawl.Gone, crawl.Active), 20)
	want(c, "the same state twice", count(crawl.Gone, crawl.Gone), 7)
	want(c, "stopped", count(crawl.Stopped), 0)
	want(c, "all", count(), 35)
}

func pagesByHost(c *collection) {
	c.with(100, 0)
	pages := c.admitted(1, 12)
	c.known(2, 5)
	c.setState(pages[3].PageID, crawl.Evicted)
	count := func(host string, states ...crawl.PageState) int {
		return len(c.list(store.PageFilter{CrawlID: c.id, Host: host, States: states}))
	}
	want(c, "of host 1", count(c.host(1)), 12)
	want(c, "of host 2", count(c.host(2)), 5)
	want(c, "evicted of host 1", count(c.host(1), crawl.Evicted), 1)
	want(c, "of no host", count("no.such.host"), 0)
}

func pagesChanged(c *collection) {
	c.with(100, 0)
	pages := c.admitted(1, 12)
	for i, p := range pages[:10] {
		c.visit(p.PageID, []crawl.Outcome{crawl.OutcomeNew, crawl.OutcomeUnchanged}[i%2], crawl.Active)
	}
	since := c.soon().Add(-time.Hour)
	got := sortedIDs(c.list(store.PageFilter{CrawlID: c.id, ChangedSince: since}))
	expected := sortedIDs([]store.PageRecord{pages[0], pages[2], pages[4], pages[6], pages[8]})
	want(c, "changed", fmt.Sprint(got), fmt.Sprint(expected))
	want(c, "changed on the host", len(c.list(store.PageFilter{CrawlID: c.id, Host: c.host(1), ChangedSince: since})), 5)
	want(c, "changed on another host", len(c.list(store.PageFilter{CrawlID: c.id, Host: "no.such.host", ChangedSince: since})), 0)
	want(c, "changed and gone", len(c.list(store.PageFilter{CrawlID: c.id, States: []crawl.PageState{crawl.Gone}, ChangedSince: since})), 0)
	want(c, "changed later", len(c.list(store.PageFilter{CrawlID: c.id, ChangedSince: c.soon()})), 0)
}

func pagesAllCrawls(c *collection) {
	c.open()
	c.known(1, 3)
	other := newCollection(c.T, c.s)
	other.name, other.spec.Name = c.name+"-2", c.name+"-2"
	other.open()
	// The same host in another crawl.
	other.register(0, c.urls(1, 4, 0)...)
	want(c, "of the host in all crawls", len(c.list(store.PageFilter{Host: c.host(1)})), 7)
	want(c, "of the host in one", len(c.list(store.PageFilter{CrawlID: other.id, Host: c.host(1)})), 4)
}

func hostsByName(c *collection) {
	c.spec.Politeness.Delay = crawl.Duration(20 * time.Second)
	c.with(10, 0)
	for _, h := range []int{3, 1, 10, 2} {
		c.register(0, c.urls(h, 1, 0)...)
	}
	c.check(c.s.SaveRobots(c.ctx, store.SaveRobotsParams{
		Origin: "https://" + c.host(2), State: store.RobotsParsed, Status: 200, Text: "User-agent: *", Expires: time.Hour, CrawlDelay: 30 * time.Second,
	}))
	var names []string
	for after := ""; ; after = names[len(names)-1] {
		hosts, err := c.s.ListHosts(c.ctx, store.HostFilter{CrawlID: c.id, After: after, Limit: 3})
		c.check(err)
		if len(hosts) == 0 {
			break
		}
		for _, h := range hosts {
			names = append(names, h.Host)
			if h.Host == c.host(2) {
				want(c, "delay asked by the site", h.CrawlDelay, 30*time.Second)
				want(c, "delay that holds", h.Delay, 30*time.Second)
				want(c, "robots", len(h.Robots), 1)
				want(c, "robots text", h.Robots[0].Text, "")
			} else {
				want(c, "delay", h.Delay, 20*time.Second)
			}
		}
	}
	expected := []string{c.host(1), c.host(10), c.host(2), c.host(3)}
	slices.Sort(expected)
	want(c, "hosts", fmt.Sprint(names), fmt.Sprint(expected))
}

func robotsCases() []collectionCase {
	return []collectionCase{
		{"SavedIsFound", robotsFound},
		{"UnknownIsNotFound", robotsUnknown},
		{"LargestCrawlDelayHolds", robotsDelay},
		{"TroubleKeepsTheDelay", robotsTrouble},
		{"OldDelayIsForgotten", robotsOldDelay},
		{"HostileText", robotsHostile},
		{"BadOriginIsRefused", robotsBadOrigin},
	}
}

func robotsFound(c *collection) {
	now, err := c.s.Now(c.ctx)
	c.check(err)
	p := store.SaveRobotsParams{
		Origin: "https://" + c.host(1) + ":8443", State: store.RobotsParsed, Status: 200, Text: "User-agent: *\nDisallow: /x\n",
		Expires: 24 * time.Hour, CrawlDelay: 3 * time.Second, Sitemaps: []string{"https://x.test/sitemap.xml"},
	}
	c.check(c.s.SaveRobots(c.ctx, p))
	r, err := c.s.Robots(c.ctx, p.Origin)
	c.check(err)
	want(c, "text", r.Text, p.Text)
	want(c, "state", r.State, p.State)
	want(c, "status", r.Status, 200)
	want(c, "crawl delay", r.CrawlDelay, 3*time.Second)
	want(c, "sitemaps", fmt.Sprint(r.Sitemaps), fmt.Sprint(p.Sitemaps))
	want(c, "life", r.ExpiresAt.Sub(r.FetchedAt), 24*time.Hour)
	if r.FetchedAt.Before(now) || len(r.TextDigest) != 64 {
		c.Fatalf("fetched at %v, not after %v, or text digest %q", r.FetchedAt, now, r.TextDigest)
	}
	digest := r.TextDigest
	p.State, p.Text, p.Status, p.Failures, p.Problem, p.Sitemaps = store.RobotsUnreachable, "", 503, 2, "503 Service Unavailable", nil
	c.check(c.s.SaveRobots(c.ctx, p))
	r, err = c.s.Robots(c.ctx, p.Origin)
	c.check(err)
	want(c, "state", r.State, store.RobotsUnreachable)
	want(c, "failures", r.Failures, 2)
	want(c, "problem", r.Problem, p.Problem)
	want(c, "sitemaps", len(r.Sitemaps), 0)
	want(c, "digest changed", r.TextDigest != digest, true)
}

func robotsUnknown(c *collection) {
	_, err := c.s.Robots(c.ctx, "https://"+c.host(1))
	c.wantError(err, store.ErrNotFound)
}

// crawlDelay is the Crawl-delay that holds for a host of the case.
func (c *collection) crawlDelay(host int) time.Duration {
	c.Helper()
	hosts, err := c.s.ListHosts(c.ctx, store.HostFilter{CrawlID: c.id})
	c.check(err)
	for _, h := range hosts {
		if h.Host == c.host(host) {
			return h.CrawlDelay
		}
	}
	c.Fatalf("host %s is not listed", c.host(host))
	return 0
}

func (c *collection) saveRobots(scheme string, state store.RobotsState, delay time.Duration) {
	c.Helper()
	c.saveRobotsFor(scheme, state, delay, time.Hour)
}

func (c *collection) saveRobotsFor(scheme string, state store.RobotsState, delay, expires time.Duration) {
	c.Helper()
	c.check(c.s.SaveRobots(c.ctx, store.SaveRobotsParams{
		Origin: scheme + "://" + c.host(1), State: state, CrawlDelay: delay, Expires: expires,
	}))
}

func robotsDelay(c *collection) {
	c.open()
	c.register(0, c.urls(1, 1, 0)...)
	c.saveRobots("http", store.RobotsParsed, 5*time.Second)
	c.saveRobots("https", store.RobotsParsed, 3*time.Second)
	want(c, "crawl delay", c.crawlDelay(1), 5*time.Second)
	c.saveRobots("http", store.RobotsAllowAll, 0)
	want(c, "crawl delay after one was given up", c.crawlDelay(1), 3*time.Second)
}

func robotsTrouble(c *collection) {
	c.open()
	c.register(0, c.urls(1, 1, 0)...)
	c.saveRobots("https", store.RobotsParsed, 7*time.Second)
	c.saveRobots("https", store.RobotsUnreachable, 0)
	want(c, "crawl delay while unreachable", c.crawlDelay(1), 7*time.Second)
	c.saveRobots("https", store.RobotsRedirected, 0)
	want(c, "crawl delay while redirected", c.crawlDelay(1), 7*time.Second)
	c.saveRobots("https", store.RobotsParsed, 0)
	want(c, "crawl delay after recovery", c.crawlDelay(1), 0)
}

// The file of an origin that is hardly ever asked for any more does not slow down its host for
// ever, and counts as soon as it is read again.
func robotsOldDelay(c *collection) {
	c.open()
	c.register(0, c.urls(1, 1, 0)...)
	c.saveRobotsFor("http", store.RobotsParsed, time.Minute, -time.Hour)
	c.saveRobots("https", store.RobotsParsed, 3*time.Second)
	want(c, "crawl delay while the other file has just expired", c.crawlDelay(1), time.Minute)
	c.saveRobotsFor("http", store.RobotsParsed, time.Minute, -25*time.Hour)
	want(c, "crawl delay of the file itself", c.crawlDelay(1), time.Minute)
	c.saveRobots("https", store.RobotsParsed, 3*time.Second)
	want(c, "crawl delay a day after the other file expired", c.crawlDelay(1), 3*time.Second)
	c.saveRobots("http", store.RobotsParsed, time.Minute)
	want(c, "crawl delay once it is read again", c.crawlDelay(1), time.Minute)
}

func robotsHostile(c *collection) {
	for i, text := range hostile() {
		origin := fmt.Sprintf("https://%s:%d", c.host(1), i+1)
		c.check(c.s.SaveRobots(c.ctx, store.SaveRobotsParams{
			Origin: origin, State: store.RobotsRedirected, Text: text, Problem: text, Sitemaps: []string{text}, Next: text, NextHost: text,
		}))
		_, err := c.s.Robots(c.ctx, origin)
		c.check(err)
	}
}

func robotsBadOrigin(c *collection) {
	if err := c.s.SaveRobots(c.ctx, store.SaveRobotsParams{Origin: "nonsense"}); err == nil {
		c.Fatal("a robots.txt of no origin was saved")
	}
}

func recentVisits(c *collection) {
	c.with(10, 0)
	pages := sortedIDs(c.admitted(1, 3))
	for _, o := range []crawl.Outcome{crawl.OutcomeNew, crawl.OutcomeChanged, crawl.OutcomeFailed} {
		c.visit(pages[0], o, crawl.Active)
	}
	c.visit(pages[1], crawl.OutcomeGone, crawl.Gone)
	short := func(each int, pages ...int64) string {
		c.Helper()
		looks, err := c.s.RecentVisits(c.ctx, pages, each)
		c.check(err)
		text := ""
		for _, v := range looks {
			stored, err := c.s.Visit(c.ctx, v.PageID, v.Visit)
			c.check(err)
			want(c, "time", v.At, stored.At)
			text += fmt.Sprintf("%d/%d %s %s; ", slices.Index(pages, v.PageID), v.Visit, v.Outcome, v.State)
		}
		return text
	}
	want(c, "the last two", short(2, pages...), "0/2 changed active; 0/3 failed active; 1/1 gone gone; ")
	want(c, "the last", short(1, pages[1], pages[0], 1<<50), "1/3 failed active; 0/1 gone gone; ")
	want(c, "none", short(0, pages...), "")
	want(c, "of none", short(5), "")
}

// What was foreseen of visits is counted by its chance, together with their outcomes.
func foresight(c *collection) {
	c.with(10, 0)
	page := c.admitted(1, 1)[0]
	c.visit(page.PageID, crawl.OutcomeNew, crawl.Active)
	for _, v := range []struct {
		chance  float64
		outcome crawl.Outcome
	}{
		{0, crawl.OutcomeChanged}, {0.05, crawl.OutcomeUnchanged}, {0.0999, crawl.OutcomeChanged}, {0.31, crawl.OutcomeCosmetic}, {1, crawl.OutcomeChanged},
	} {
		_, err := c.s.RecordVisit(c.ctx, store.RecordParams{
			Visit:    store.VisitRecord{PageID: page.PageID, Visit: c.page(page.PageID).Visits + 1, Outcome: v.outcome, State: crawl.Active},
			Interval: time.Hour, Foreseen: v.chance,
		})
		c.check(err)
	}
	want(c, "foresight", c.status().Foresight, [store.ForesightBins]store.Foresight{
		0: {Visits: 2, Chance: 0.1499, Found: 1}, 3: {Visits: 1, Chance: 0.31}, 9: {Visits: 1, Chance: 1, Found: 1},
	})
}
