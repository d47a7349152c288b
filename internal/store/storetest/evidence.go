package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

func evidenceCases() []collectionCase {
	return []collectionCase{
		{"RobotsBeforeAreKept", robotsKept},
		{"SameRobotsAreOneEntry", robotsSame},
		{"RobotsBehindRedirects", robotsRedirects},
		{"RobotsKeptAreBounded", robotsBounded},
		{"RobotsGoWithTheirHost", robotsForgotten},
		{"RequestsOfAHost", requestsOfHost},
		{"RequestsOfAHostAmongOthers", requestsAmongOthers},
		{"CrawlsAtAHost", crawlsAtHost},
	}
}

// saidRobots stores that the robots.txt of a host says a text.
func (c *collection) saidRobots(host, text string) {
	c.Helper()
	c.check(c.s.SaveRobots(c.ctx, store.SaveRobotsParams{
		Origin: "https://" + host, State: store.RobotsParsed, Status: 200, Text: text, Expires: 24 * time.Hour, CrawlDelay: time.Duration(len(text)) * time.Second,
	}))
}

// history is the history of a host's robots.txt, as one text; of parsed files it has
// their texts.
func (c *collection) history(host string) string {
	c.Helper()
	epochs, err := c.s.RobotsHistory(c.ctx, host)
	c.check(err)
	var said []string
	for i, e := range epochs {
		last := i == len(epochs)-1
		if e.Since.IsZero() || last != e.Until.IsZero() || !last && epochs[i+1].Since.Before(e.Until) {
			c.Errorf("%d of %d is from %v to %v", i+1, len(epochs), e.Since, e.Until)
		}
		switch e.State {
		case store.RobotsParsed:
			want(c, "Crawl-delay of "+e.Text, e.CrawlDelay, time.Duration(len(e.Text))*time.Second)
			said = append(said, e.Text)
		default:
			want(c, "Crawl-delay without a text", e.CrawlDelay, 0)
			said = append(said, fmt.Sprintf("%d %s", e.Status, e.Problem))
		}
	}
	return strings.Join(said, ", ")
}

func robotsKept(c *collection) {
	host := c.host(1)
	want(c, "of a host that was never asked", c.history(host), "")
	c.saidRobots(host, "a")
	want(c, "at first", c.history(host), "a")
	c.check(c.s.SaveRobots(c.ctx, store.SaveRobotsParams{Origin: "https://" + host, State: store.RobotsUnreachable, Status: 503, Problem: "HTTP 503", Failures: 1}))
	c.saidRobots(host, "b")
	c.check(c.s.SaveRobots(c.ctx, store.SaveRobotsParams{Origin: "https://" + host, State: store.RobotsAllowAll, Status: 404}))
	c.saidRobots(host, "a")
	want(c, "at last", c.history(host), "a, 503 HTTP 503, b, 404 , a")
}

// A file that says the same again begins nothing new, whatever else came with it.
func robotsSame(c *collection) {
	host := c.host(1)
	c.saidRobots(host, "a")
	before, err := c.s.RobotsHistory(c.ctx, host)
	c.check(err)
	c.saidRobots(host, "a")
	for i := range 3 {
		c.check(c.s.SaveRobots(c.ctx, store.SaveRobotsParams{Origin: "https://" + host, State: store.RobotsUnreachable, Status: 500 + i, Problem: fmt.Sprint("HTTP ", 500+i), Failures: i}))
	}
	after, err := c.s.RobotsHistory(c.ctx, host)
	c.check(err)
	want(c, "entries", len(after), 2)
	want(c, "since", after[0].Since, before[0].Since)
	want(c, "the first failure tells until when", after[0].Until, after[1].Since)
}

// While a redirect is followed, nothing new is known of the robots.txt.
func robotsRedirects(c *collection) {
	host := c.host(1)
	c.saidRobots(host, "a")
	before, err := c.s.RobotsHistory(c.ctx, host)
	c.check(err)
	hop := store.SaveRobotsParams{
		Origin: "https://" + host, State: store.RobotsRedirected, Status: 301, Expires: time.Hour, Next: "https://" + c.host(2) + "/robots.txt", NextHost: c.host(2),
	}
	for range 3 {
		c.check(c.s.SaveRobots(c.ctx, hop))
		hop.Hops++
		c.check(c.s.SaveRobots(c.ctx, hop))
		c.saidRobots(host, "a")
	}
	after, err := c.s.RobotsHistory(c.ctx, host)
	c.check(err)
	want(c, "entries", len(after), 1)
	want(c, "since", after[0].Since, before[0].Since)
	c.check(c.s.SaveRobots(c.ctx, hop))
	c.saidRobots(host, "b")
	want(c, "another behind the redirect", c.history(host), "a, b")
}

func robotsBounded(c *collection) {
	host := c.host(1)
	for i := range store.MaxRobotsKept + 5 {
		c.saidRobots(host, strings.Repeat("x", i+1))
	}
	epochs, err := c.s.RobotsHistory(c.ctx, host)
	c.check(err)
	want(c, "entries", len(epochs), store.MaxRobotsKept+1)
	want(c, "the oldest", len(epochs[0].Text), 5)
	long := c.host(2)
	for i := range 4 {
		c.saidRobots(long, strings.Repeat(string(rune('a'+i)), store.MaxRobotsTextKept/2))
	}
	epochs, err = c.s.RobotsHistory(c.ctx, long)
	c.check(err)
	want(c, "entries of long files", len(epochs), 3)
	want(c, "the oldest long file", epochs[0].Text[:1], "b")
}

func robotsForgotten(c *collection) {
	c.open()
	host := c.host(1)
	c.known(1, 1)
	c.saidRobots(host, "a")
	c.saidRobots(host, "b")
	c.forget(store.ForgetParams{Target: store.Target{Host: host}})
	want(c, "history", c.history(host), "")
}

func requestsOfHost(c *collection) {
	c.with(100, 0)
	pages := c.admitted(1, 5)
	outcomes := []crawl.Outcome{crawl.OutcomeNew, crawl.OutcomeThrottled, crawl.OutcomeExcluded, crawl.OutcomeSkipped}
	for i, outcome := range outcomes {
		visit := store.VisitRecord{PageID: pages[i].PageID, Visit: 1, Outcome: outcome, State: crawl.Active, Status: 200}
		switch outcome {
		case crawl.OutcomeExcluded:
			visit.State, visit.Status = crawl.Excluded, 0
		case crawl.OutcomeSkipped:
			visit.Status = 0
		}
		_, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: visit, Interval: time.Hour})
		c.check(err)
	}
	c.visit(pages[0].PageID, crawl.OutcomeUnchanged, crawl.Active)
	c.visit(pages[4].PageID, crawl.OutcomeExcluded, crawl.Excluded) // by what it said
	at, err := c.s.CrawlsAt(c.ctx, c.host(1))
	c.check(err)
	all := func(since time.Time) []string {
		var found []string
		p := store.HostRequestParams{HostID: at[0].HostID, Since: since, Pages: 2}
		for {
			part, err := c.s.HostRequests(c.ctx, p)
			c.check(err)
			for _, r := range part.Requests {
				want(c, "crawl", r.CrawlID, c.id)
				if r.At.IsZero() || strings.Contains(r.URL, c.host(2)) {
					c.Errorf("%+v", r)
				}
				found = append(found, r.Outcome.String())
			}
			if part.Pages < 1 || part.Pages > p.Pages {
				c.Errorf("%d pages were looked at, %d were asked for", part.Pages, p.Pages)
			}
			if part.Next == nil {
				return found
			}
			p.After = *part.Next
		}
	}
	want(c, "requests", fmt.Sprint(all(time.Time{})), "[new unchanged throttled excluded]")
	want(c, "requests from now on", len(all(c.soon())), 0)
}

// All crawls' pages of a host are gone through, in however many parts, and no other host's.
func requestsAmongOthers(c *collection) {
	other := newCollection(c.T, c.s)
	other.name, other.spec.Name = c.name+"-2", c.name+"-2"
	c.with(100, 0)
	other.with(100, 0)
	visited := func(of *collection, urls ...store.NewURL) {
		of.register(0, urls...)
		for _, u := range urls {
			of.visit(of.admit(of.find(u.URL).PageID)[0].PageID, crawl.OutcomeNew, crawl.Active)
		}
	}
	visited(other, c.urls(1, 2, 0)...) // the crawl that is younger has the older pages
	for host := range 3 {
		visited(c, c.urls(host, 3, 0)...)
	}
	visited(other, c.urls(2, 2, 0)...)
	at, err := c.s.CrawlsAt(c.ctx, c.host(1))
	c.check(err)
	for pages := 1; pages <= 6; pages++ {
		var found []string
		looked := 0
		p := store.HostRequestParams{HostID: at[0].HostID, Pages: pages}
		for more := true; more; {
			part, err := c.s.HostRequests(c.ctx, p)
			c.check(err)
			looked += part.Pages
			for _, r := range part.Requests {
				found = append(found, fmt.Sprint(r.CrawlID == c.id, " ", r.URL))
			}
			if more = part.Next != nil; more {
				p.After = *part.Next
			}
		}
		var all []string
		for i, of := range []bool{true, true, true, false, false} {
			all = append(all, fmt.Sprint(of, " ", c.url(1, i%3, 0).URL))
		}
		want(c, fmt.Sprintf("pages looked at, %d at a time", pages), looked, len(all))
		slices.Sort(found)
		slices.Sort(all)
		want(c, fmt.Sprintf("requests, %d pages at a time", pages), strings.Join(found, "\n"), strings.Join(all, "\n"))
	}
}

func crawlsAtHost(c *collection) {
	c.open()
	c.known(1, 3)
	other := newCollection(c.T, c.s)
	other.name, other.spec.Name = c.name+"-2", c.name+"-2"
	other.open()
	other.register(0, c.urls(1, 4, 0)...)
	at, err := c.s.CrawlsAt(c.ctx, c.host(1))
	c.check(err)
	want(c, "crawls", len(at), 2)
	want(c, "pages", fmt.Sprint(at[0].Pages, at[1].Pages), "3 4")
	want(c, "names", at[0].Spec.Name+" "+at[1].Spec.Name, c.name+" "+other.name)
	want(c, "the same host", at[0].HostID, at[1].HostID)
	if _, err := c.s.CrawlsAt(c.ctx, "no.such.host"); !errors.Is(err, store.ErrNotFound) {
		c.Errorf("of a host that nobody knows: %v", err)
	}
}

// The automatic delay is that of the host's row: its answers move it, whichever crawl asks.
// A crawl with a fixed delay keeps to that.
func autoDelay(w *gateWorld) {
	auto := w.crawl("auto", time.Second, func(s *crawl.Spec) { s.Politeness.AutoDelay = true })
	page, hand := w.pages(auto, "host.test", 1)[0], w.crawl("hand", 20*time.Millisecond)
	other := w.pages(hand, "host.test", 1)[0]
	w.allow("http://host.test")
	refused := func(when string, want float64) {
		w.t.Helper()
		h := w.host(auto.ID)
		if h.GapReason.Code != polite.GapAuto || h.Delay != time.Second || h.GapReason.Num["refused"] != want {
			w.t.Errorf("%s: %v between two requests, %+v; want a share of %v", when, h.Delay, h.GapReason, want)
		}
	}
	refused("never asked", polite.RefusalsAtFirst)
	w.request(page)
	good := polite.Refusals(polite.RefusalsAtFirst, polite.Answer{})
	refused("after a good answer", good)
	if h := w.host(hand.ID); h.Delay != time.Second {
		w.t.Errorf("after a request of the automatic crawl the other one comes after %v", h.Delay)
	}
	permit := w.grant(other, patient)
	w.begin(other, permit)
	w.release(permit, func(p *store.ReleaseParams) { p.Answer = store.HostFailed })
	refused("after a failure", polite.Refusals(good, polite.Answer{Failed: true}))
	if h := w.host(hand.ID); h.Delay != 20*time.Millisecond {
		w.t.Errorf("set by hand: %v", h.Delay)
	}
}

// RunAutoDelay tests, on an empty engine, that the gap before another crawl's request follows
// from the answer to the last one, too.
func RunAutoDelay(t *testing.T, e sqlstore.Engine) {
	const most = 10 * time.Second
	clock, err := stopClock(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	w := newGateWorld(t, sqlstore.New(clock, sqlstore.Options{}))
	auto := w.crawl("auto", most, func(s *crawl.Spec) { s.Politeness.AutoDelay = true })
	page, other := w.pages(auto, "host.test", 1)[0], w.pages(w.crawl("hand", 0), "host.test", 1)[0]
	w.allow("http://host.test")
	for range 60 { // good answers, until the delay is short
		w.request(page)
		clock.at += most.Microseconds()
	}
	w.request(page)
	if wait := w.waits(other).Wait; wait > 2*polite.AutoLeast {
		t.Errorf("after many good answers another crawl waits %v", wait)
	}
	w.leave(other)
	clock.at += most.Microseconds()
	w.request(page, func(p *store.ReleaseParams) { p.Duration = most })
	if wait := w.waits(other).Wait; wait != most {
		t.Errorf("after an answer that took %v another crawl waits %v, want %v", most, wait, most)
	}
}
