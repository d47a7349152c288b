package storetest

import (
	"errors"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func (w *gateWorld) block(host string, blocked bool) store.GateEffects {
	w.t.Helper()
	return must(w.s.SetBlocked(w.t.Context(), host, blocked))(w.t)
}

// blocked is ask for an answer that must be a day's wait for a blocked host.
func (w *gateWorld) blocked(page crawl.PageRef, change ...func(*store.AcquireParams)) {
	w.t.Helper()
	if a := w.waits(page, change...); a.Reason != store.WaitBlocked || a.Wait < 23*time.Hour {
		w.t.Errorf("%s: %s for %v, want to be blocked for a day", page.URL, a.Reason, a.Wait)
	}
}

// Whatever the crawl and whatever else the host's line would say.
func blockedWaits(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 2)
	other := w.pages(w.crawl("other", time.Millisecond), "host.test", 1)[0]
	elsewhere := w.pages(w.crawl("other", time.Millisecond), "there.test", 1)[0]
	w.allow("http://there.test")
	for range 2 {
		if e := w.block("host.test", true); len(e.Turns) != 0 {
			w.t.Errorf("blocking turned %+v", e.Turns)
		}
		w.blocked(pages[0])
		w.blocked(pages[1], patient)
		w.blocked(other)
	}
	if h := w.host(pages[0].CrawlID); !h.Blocked || h.Waiting != 3 {
		w.t.Errorf("blocked %t with %d waiting", h.Blocked, h.Waiting)
	}
	if e := must(w.s.Nudge(w.t.Context()))(w.t); len(e.Turns) != 0 {
		w.t.Errorf("turned while blocked: %+v", e.Turns)
	}
	w.grant(elsewhere)
	w.block("host.test", false)
	if h := w.host(pages[0].CrawlID); h.Blocked {
		w.t.Error("still blocked")
	}
	w.request(other)
}

func blockedMayNotBegin(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 2)
	running, next := w.grant(pages[0]), w.grant(pages[1])
	w.begin(pages[0], running)
	w.block("host.test", true)
	w.refused(pages[1], next)
	w.blocked(pages[1])
	if h := w.host(pages[0].CrawlID); !h.InFlight {
		w.t.Error("the request in flight is gone")
	}
	w.release(running)
	w.record(pages[0], 1)
	w.blocked(pages[0], visit(2))
	w.block("host.test", false)
	w.refused(pages[1], next)
	w.request(pages[1])
}

// A waiter in the process has its answer as soon as the host is blocked.
func blockedWakes(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 3)
	w.grant(pages[0])
	w.grant(pages[1])
	answers := w.waitInProcess(w.t.Context(), pages[2])
	w.block("host.test", true)
	if a := <-answers; a.err != nil || a.Answer != store.GateWait || a.Reason != store.WaitBlocked {
		w.t.Errorf("answer %s (%s), %v", a.Answer, a.Reason, a.err)
	}
}

// The first comes with the unblocking, the others as if they had never been told
// to sleep for a day: with the requests before them, and with Nudge.
func unblockGivesTurns(w *gateWorld) {
	const delay, lead = 3 * time.Second, 2 * time.Second
	pages := w.open("news", delay, 4)
	ended := w.request(pages[0])
	w.block("host.test", true)
	for _, page := range pages[1:] {
		w.blocked(page)
	}
	w.turned(w.block("host.test", false), pages[1], delay-lead, ended)
	if e := w.block("host.test", false); len(e.Turns) != 0 {
		w.t.Errorf("turned again: %+v", e.Turns)
	}
	permit := w.grant(pages[1], patient)
	w.begin(pages[1], permit)
	ended = w.now()
	w.turned(must(w.s.Release(w.t.Context(), store.ReleaseParams{Permit: permit, Answer: store.HostOK}))(w.t), pages[2], delay-lead, ended)
	if err := w.s.SetPageState(w.t.Context(), pages[2].PageID, crawl.Stopped); err != nil {
		w.t.Fatal(err)
	}
	w.turned(must(w.s.Nudge(w.t.Context()))(w.t), pages[3], delay-lead, ended)
}

// A permit whose holder is gone does not keep the others from their turns.
func unblockLostPermit(w *gateWorld) {
	pages := w.open("news", time.Minute, 2)
	w.grant(pages[0])
	w.block("host.test", true)
	w.grantedNone(pages[0].CrawlID, 1)
	w.leave(pages[0])
	w.blocked(pages[1])
	w.grantedNone(pages[0].CrawlID, 1)
	w.turned(w.block("host.test", false), pages[1], 0, w.now())

	pages = w.pages(w.crawl("more", time.Minute), "there.test", 2)
	w.allow("http://there.test")
	w.grant(pages[0])
	w.block("there.test", true)
	w.blocked(pages[1])
	for _, turn := range w.block("there.test", false).Turns {
		if turn.Page == pages[1] {
			return
		}
	}
	// The other, who was to come at once, has the first turn; when it does not come
	// the second is next.
	w.turned(w.leave(pages[0]), pages[1], 0, w.now())
}

// grantedNone checks that all of a host's places wait.
func (w *gateWorld) grantedNone(crawlID int64, waiting int) {
	w.t.Helper()
	if h := w.host(crawlID); h.Waiting != waiting {
		w.t.Errorf("%d waiting, want %d", h.Waiting, waiting)
	}
}

// That robots.txt cannot be had, or is elsewhere, changes nothing.
func blockedWithoutRobots(w *gateWorld) {
	pages := w.pages(w.crawl("news", time.Millisecond), "host.test", 2)
	w.block("host.test", true)
	w.blocked(pages[0])
	w.robots(store.SaveRobotsParams{Origin: "http://host.test", State: store.RobotsUnreachable, Expires: time.Hour})
	w.blocked(pages[0])
	w.redirected("there.test")
	w.blocked(pages[0])
	w.blocked(pages[1])
	w.block("host.test", false)
	w.block("there.test", true)
	if a := w.waits(pages[1]); a.Reason != store.WaitRobotsBlocked || a.Wait < 23*time.Hour {
		w.t.Errorf("%s for %v, want that the host of its robots.txt is blocked", a.Reason, a.Wait)
	}
	w.block("there.test", false)
	if permit := w.grant(pages[1]); permit.Kind != crawl.PermitRobots || permit.URL != "http://there.test/robots.txt" {
		w.t.Errorf("permit %+v", permit)
	}
}

// Who names a host that no crawl has may mean one that sounds the same.
func hostsNamed(w *gateWorld) {
	c := w.crawl("news", time.Millisecond)
	for _, host := range []string{
		"host.test:81", "www.host.test", "host.test:8080", "host.test-8080.test", "host.tests", "a.host.test", "other.test:81", "host.test.other.test",
	} {
		w.pages(c, host, 1)
	}
	w.block("host.test", true) // which makes it no host of a crawl
	for _, l := range []struct {
		host  string
		limit int
		want  []string
	}{
		{"host.test", 9, []string{"host.test:8080", "host.test:81", "www.host.test"}},
		{"host.test:9", 9, []string{"host.test:8080", "host.test:81", "www.host.test"}},
		{"host.test", 2, []string{"host.test:8080", "host.test:81"}},
		{"www.host.test", 9, []string{"www.host.test", "host.test:8080", "host.test:81"}},
		{"host.test:81", 9, []string{"host.test:81", "host.test:8080", "www.host.test"}},
		{"www.other.test", 9, []string{"other.test:81"}},
		{"nobody.test", 9, nil},
	} {
		if got := must(w.s.HostsNamed(w.t.Context(), l.host, l.limit))(w.t); !slices.Equal(got, l.want) {
			w.t.Errorf("%d hosts named %s: %q, want %q", l.limit, l.host, got, l.want)
		}
	}
}

func unknownIsBlocked(w *gateWorld) {
	if _, err := w.s.SetBlocked(w.t.Context(), "host.test", false); !errors.Is(err, store.ErrNotFound) {
		w.t.Fatalf("unblocking an unknown host: %v", err)
	}
	if _, err := w.s.SetBlocked(w.t.Context(), "", true); err == nil {
		w.t.Fatal("no host was blocked")
	}
	w.block("host.test", true)
	w.blocked(w.open("news", time.Millisecond, 1)[0])
	w.block("host.test", false)
	w.block("host.test", false)
}

// forget removes one page.
func (w *gateWorld) forget(page crawl.PageRef) {
	w.t.Helper()
	r := must(w.s.Forget(w.t.Context(), store.ForgetParams{Target: store.Target{URL: page.URL}}))(w.t)
	if len(r.Pages) != 1 || r.Pages[0] != page || r.More {
		w.t.Fatalf("forgot %+v, want %s", r, page.URL)
	}
}

// A page that is forgotten leaves its line, whatever it was there, and asks in
// vain.
func forgottenLeaves(w *gateWorld) {
	const delay, lead = time.Minute, 2 * time.Second
	pages := w.open("news", delay, 5)
	ended := w.request(pages[0])
	w.waits(pages[1])
	w.waits(pages[2])
	w.waits(pages[3])
	w.forget(pages[1])
	w.grantedNone(pages[0].CrawlID, 2)
	w.turned(must(w.s.Nudge(w.t.Context()))(w.t), pages[2], delay-lead, ended)
	if a := w.waits(pages[3]); a.Position != 1 {
		w.t.Errorf("position %d", a.Position)
	}
	if a, err := w.s.Acquire(w.t.Context(), store.AcquireParams{Page: pages[1], Visit: 1, Class: crawl.ClassRevisit}); !errors.Is(err, store.ErrNotFound) {
		w.t.Errorf("a forgotten page asks: %s, %v", a.Answer, err)
	}
	w.forget(pages[4]) // stands in no line
	r := must(w.s.Forget(w.t.Context(), store.ForgetParams{Target: store.Target{Host: "host.test"}}))(w.t)
	if len(r.Pages) != 3 {
		w.t.Errorf("forgot %+v with the host", r.Pages)
	}
	if e := must(w.s.Nudge(w.t.Context()))(w.t); len(e.Turns) != 0 {
		w.t.Errorf("forgotten pages are turned: %+v", e.Turns)
	}
}

// The site got the request, so the next one keeps its distance.
func forgottenInFlight(w *gateWorld) {
	const delay = time.Minute
	pages := w.open("news", delay, 3)
	permit := w.grant(pages[0])
	w.begin(pages[0], permit)
	w.forget(pages[0])
	w.refusedOrGone(pages[0], permit)
	if h := w.host(pages[1].CrawlID); !h.InFlight {
		w.t.Error("the request in flight is gone")
	}
	ended := w.release(permit)
	w.about("the wait", w.waits(pages[1]).Wait, delay, ended)
	w.forget(pages[1])
	w.about("the wait", w.waits(pages[2]).Wait, delay, ended)
}

func (w *gateWorld) refusedOrGone(page crawl.PageRef, permit crawl.Permit) {
	w.t.Helper()
	_, err := w.s.Begin(w.t.Context(), store.BeginParams{Permit: permit, Page: page, Visit: 1})
	if !errors.Is(err, store.ErrRefused) && !errors.Is(err, store.ErrNotFound) {
		w.t.Errorf("Begin for a forgotten page: %v", err)
	}
}

// A page that is forgotten while it waits in the process gets its answer, and the
// pages that it held up go on.
func forgottenWaiter(w *gateWorld) {
	pages := w.open("news", 10*time.Second, 2)
	w.grant(pages[0])
	failed := make(chan error, 1)
	go func() {
		_, err := w.s.Acquire(w.t.Context(), store.AcquireParams{Page: pages[1], Visit: 1, Class: crawl.ClassRevisit, Patience: gatePatience})
		failed <- err
	}()
	for w.host(pages[0].CrawlID).Waiting == 0 {
		if err := w.t.Context().Err(); err != nil {
			w.t.Fatal(err)
		}
	}
	w.forget(pages[1])
	if err := <-failed; !errors.Is(err, store.ErrNotFound) {
		w.t.Errorf("the waiter of a forgotten page: %v", err)
	}
	w.forget(pages[0])
	other := w.pages(w.crawl("other", time.Millisecond), "host.test", 1)[0]
	w.begin(other, w.grant(other))
}
