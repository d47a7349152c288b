package storetest

import (
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func robotsForOne(w *gateWorld) {
	pages := w.pages(w.crawl("news", 20*time.Millisecond), "host.test", 3)
	secure := w.secure(w.crawl("news", 20*time.Millisecond), "host.test")
	permit := w.grant(pages[0])
	if permit.Kind != crawl.PermitRobots || permit.URL != "http://host.test/robots.txt" {
		w.t.Fatalf("permit %+v", permit)
	}
	if again := w.grant(pages[0]); again != permit {
		w.t.Errorf("asking again: %+v", again)
	}
	w.waits(pages[1])
	w.waits(secure) // the host's gap may change by what robots.txt says
	w.begin(pages[0], permit)
	w.waits(pages[1])
	w.robots(store.SaveRobotsParams{
		Origin: "http://host.test", State: store.RobotsParsed, Status: 200, Text: "User-agent: *", Expires: time.Hour,
		Sitemaps: []string{"http://host.test/map.xml"},
	})
	ended := w.release(permit)
	a := w.ask(pages[0], patient)
	if a.Robots.Text != "" || len(a.Robots.Sitemaps) > 0 {
		w.t.Errorf("each ask reads what only registering needs: %+v", a.Robots)
	}
	if a.Answer != store.GateGranted || a.Permit.Kind != crawl.PermitPage || a.Robots.State != store.RobotsParsed || a.Robots.TextDigest == "" {
		w.t.Fatalf("answer %s, permit %+v, robots %+v", a.Answer, a.Permit, a.Robots)
	}
	if at := w.begin(pages[0], a.Permit); at.Before(ended.Add(20 * time.Millisecond)) {
		w.t.Errorf("robots.txt had no gap: %v", at.Sub(ended))
	}
	w.release(a.Permit)
	w.request(pages[1])
	if permit := w.grant(secure, patient); permit.Kind != crawl.PermitRobots || permit.URL != "https://host.test/robots.txt" {
		w.t.Errorf("the other origin's permit is %+v", permit)
	}
}

// Between the release of a robots permit and the next ask of its page nobody
// else gets one for the same origin: the answer may not be stored yet.
func robotsDuty(w *gateWorld) {
	pages := w.pages(w.crawl("news", time.Millisecond), "host.test", 2)
	permit := w.grant(pages[0])
	w.begin(pages[0], permit)
	w.release(permit)
	w.waits(pages[1])
	next := w.grant(pages[0], patient)
	if next.Kind != crawl.PermitRobots || next.ID == permit.ID {
		w.t.Fatalf("permit %+v", next)
	}
	w.leave(pages[0])
	if taken := w.grant(pages[1], patient); taken.Kind != crawl.PermitRobots {
		w.t.Errorf("permit %+v", taken)
	}
}

// redirected makes the robots.txt of host.test a redirect to another host.
func (w *gateWorld) redirected(to string) {
	w.t.Helper()
	w.robots(store.SaveRobotsParams{
		Origin: "http://host.test", State: store.RobotsRedirected, Status: 301, Expires: time.Hour,
		Next: "http://" + to + "/robots.txt", NextHost: to, Hops: 1,
	})
}

func robotsRedirect(w *gateWorld) {
	const delay = 100 * time.Millisecond
	c := w.crawl("news", delay)
	page := w.pages(c, "host.test", 1)[0]
	there := w.pages(c, "there.test", 1)[0]
	w.allow("http://there.test")
	w.redirected("there.test")
	busy := w.grant(there)
	w.begin(there, busy)
	permit := w.grant(page, patient)
	if permit.Kind != crawl.PermitRobots || permit.URL != "http://there.test/robots.txt" || permit.HostID != busy.HostID {
		w.t.Fatalf("permit %+v", permit)
	}
	if b := w.tryBegin(page, permit); b.Wait == 0 {
		w.t.Fatal("two requests in flight to the redirect's target")
	}
	ended := w.release(busy)
	if at := w.begin(page, permit); at.Before(ended.Add(delay)) {
		w.t.Errorf("the hop began %v after the end", at.Sub(ended))
	}
	w.allow("http://host.test")
	w.release(permit)
	home := w.grant(page)
	if home.Kind != crawl.PermitPage || home.HostID == busy.HostID || home.URL != page.URL {
		w.t.Errorf("permit %+v", home)
	}
}

func robotsRedirectForOne(w *gateWorld) {
	pages := w.pages(w.crawl("news", time.Millisecond), "host.test", 2)
	w.redirected("there.test")
	permit := w.grant(pages[0])
	w.waits(pages[1])
	w.leave(pages[0])
	if taken := w.grant(pages[1]); taken.Kind != crawl.PermitRobots || taken.HostID != permit.HostID {
		w.t.Errorf("permit %+v", taken)
	}
}

// A page that was to fetch the robots.txt, and parks with its crawl, leaves that to the pages of
// other crawls.
func robotsDutyParked(w *gateWorld) {
	page := w.pages(w.crawl("news", time.Millisecond), "host.test", 1)[0]
	other := w.pages(w.crawl("other", time.Millisecond), "host.test", 1)[0]
	w.grant(page)
	w.waits(other)
	w.state("news", crawl.CrawlPaused)
	if a := w.ask(page); a.Answer != store.GateParked {
		w.t.Fatalf("answer %s", a.Answer)
	}
	if permit := w.grant(other); permit.Kind != crawl.PermitRobots {
		w.t.Errorf("permit %+v", permit)
	}
}

// The others wait for as long as the one that follows a redirect to a host that is busy.
func robotsRedirectBusy(w *gateWorld) {
	c := w.crawl("news", time.Hour)
	there := w.pages(c, "there.test", 1)[0]
	w.allow("http://there.test")
	w.request(there)
	pages := w.pages(c, "host.test", 2)
	w.redirected("there.test")
	for _, page := range pages {
		if a := w.waits(page); a.Wait < 50*time.Minute {
			w.t.Errorf("%s waits %v, want an hour", page.URL, a.Wait)
		}
	}
}

func robotsUnreachable(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 2)
	permit := w.grant(pages[0])
	w.ask(pages[1])
	w.robots(store.SaveRobotsParams{Origin: "http://host.test", State: store.RobotsUnreachable, Expires: time.Hour, Problem: "HTTP 500"})
	for _, page := range pages {
		a := w.waits(page, patient)
		if a.Reason != store.WaitRobots || a.Wait < 59*time.Minute || a.Wait > 61*time.Minute {
			w.t.Errorf("%s for %v", a.Reason, a.Wait)
		}
	}
	w.refused(pages[0], permit)
	if h := w.host(pages[0].CrawlID); h.Waiting != 0 {
		w.t.Errorf("%d waiting", h.Waiting)
	}
}

// After a long wait pages come back one after the other: each ask costs a task.
func robotsSpread(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 30)
	w.robots(store.SaveRobotsParams{Origin: "http://host.test", State: store.RobotsUnreachable, Expires: 12 * time.Hour, Problem: "HTTP 500"})
	first, last := 24*time.Hour, time.Duration(0)
	for _, page := range pages {
		a := w.waits(page, patient)
		first, last = min(first, a.Wait), max(last, a.Wait)
	}
	if first < 12*time.Hour-time.Minute || last > 12*time.Hour+13*time.Minute || last-first < 4*time.Minute {
		w.t.Errorf("they wait from %v to %v", first, last)
	}
}

func robotsExpires(w *gateWorld) {
	pages := w.pages(w.crawl("news", time.Millisecond), "host.test", 1)
	w.robots(store.SaveRobotsParams{Origin: "http://host.test", State: store.RobotsParsed, Status: 200, Expires: -time.Second})
	if permit := w.grant(pages[0]); permit.Kind != crawl.PermitRobots {
		w.t.Errorf("permit %+v", permit)
	}
}

// A longer Crawl-delay than that of the crawl which fetched the file holds at once, for a
// permit that is granted already too, until the file is stored again.
func crawlDelayRaised(w *gateWorld) {
	const origin, long = "http://host.test", 300 * time.Millisecond
	page := w.pages(w.crawl("news", time.Millisecond), "host.test", 1)[0]
	file := store.SaveRobotsParams{Origin: origin, State: store.RobotsParsed, Status: 200, Text: "User-agent: *", CrawlDelay: 2 * time.Millisecond, Expires: time.Hour}
	w.robots(file)
	raise := func(digest string, delay time.Duration) {
		w.t.Helper()
		if err := w.s.RaiseCrawlDelay(w.t.Context(), origin, digest, delay); err != nil {
			w.t.Fatal(err)
		}
	}
	want := func(after string, want time.Duration) {
		w.t.Helper()
		stored := must(w.s.Robots(w.t.Context(), origin))(w.t)
		if host := w.host(page.CrawlID); host.CrawlDelay != want || stored.CrawlDelay != want {
			w.t.Errorf("after %s: the host's Crawl-delay is %s, the file's %s, want %s", after, host.CrawlDelay, stored.CrawlDelay, want)
		}
	}
	ended := w.request(page)
	a := w.ask(page, patient, visit(2))
	raise("another", long)
	want("another text's", 2*time.Millisecond)
	raise(a.Robots.TextDigest, long)
	want("a longer one", long)
	raise(a.Robots.TextDigest, time.Millisecond)
	want("a shorter one", long)
	b := must(w.s.Begin(w.t.Context(), store.BeginParams{Permit: a.Permit, Page: page, Visit: 2, Patience: gatePatience}))(w.t)
	if rest := b.At.Sub(ended); rest < long {
		w.t.Errorf("the permit began %v after the last request", rest)
	}
	w.release(a.Permit)
	w.robots(file)
	want("the file was stored again", 2*time.Millisecond)
	w.robots(store.SaveRobotsParams{Origin: origin, State: store.RobotsAllowAll, Status: 404, Expires: time.Hour})
	raise("", long)
	want("there is no file", 0)
}

// A request that a crawl's own spec kept from its host says nothing about the host: it ends no
// row of failures, lengthens none, and does not count in the mean duration.
func refusedByUs(w *gateWorld) {
	page := w.open("news", time.Millisecond, 1)[0]
	fail := func(p *store.ReleaseParams) { p.Answer, p.Duration = store.HostFailed, time.Second }
	refuse := func(p *store.ReleaseParams) { p.Answer, p.Duration = store.HostNone, time.Microsecond }
	w.request(page, fail)
	before := w.host(page.CrawlID)
	for range 3 {
		w.request(page, refuse)
	}
	if after := w.host(page.CrawlID); after.Failures != 1 || after.Mean != before.Mean || !after.BackoffUntil.IsZero() {
		w.t.Errorf("the host was %+v, and is %+v", before, after)
	}
}
