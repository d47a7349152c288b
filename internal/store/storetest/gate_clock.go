package storetest

import (
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// RunClockBack tests, on an empty engine, that hosts do not stand still when the clock goes
// back, however far: each rests one gap from then on.
func RunClockBack(t *testing.T, e sqlstore.Engine) {
	const delay, wrong = 10 * time.Second, 10 * 365 * 24 * time.Hour
	clock, err := stopClock(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	w := newGateWorld(t, sqlstore.New(clock, sqlstore.Options{}))
	pages := w.open("news", delay, 6)
	pass := func(d time.Duration) { clock.at += d.Microseconds() }
	// asks lets a page ask anew, and returns how long its host rests.
	asks := func(page crawl.PageRef) time.Duration {
		t.Helper()
		w.allow("http://host.test")
		return w.ask(page).Wait
	}
	request := func(page crawl.PageRef, change ...func(*store.ReleaseParams)) {
		t.Helper()
		w.allow("http://host.test")
		permit := w.grant(page)
		w.begin(page, permit)
		w.release(permit, change...)
	}

	request(pages[0])
	pass(-wrong)
	if h := w.host(pages[0].CrawlID); h.NextFree.After(w.now().Add(delay)) {
		t.Errorf("the host is shown as free in %v", h.NextFree.Sub(w.now()))
	}
	if got := asks(pages[1]); got != delay {
		t.Errorf("after the clock went back the host rests %v, want %v", got, delay)
	}
	pass(delay / 2)
	if got := asks(pages[1]); got != delay/2 {
		t.Errorf("half a gap later the host rests %v, want %v", got, delay/2)
	}
	pass(delay / 2)

	permit := w.grant(pages[1])
	w.begin(pages[1], permit) // and is lost
	pass(-wrong)
	other := store.BeginParams{Permit: crawl.Permit{ID: permit.ID + 1, HostID: permit.HostID}, Page: pages[2], Visit: 1, Take: new(holding).take}
	if b := must(w.s.Begin(t.Context(), other))(t); b.Wait > permit.Lifetime {
		t.Errorf("whoever would begin has to wait for %v", b.Wait)
	}
	asks(pages[2])
	pass(permit.Lifetime - time.Second)
	if !w.host(pages[1].CrawlID).InFlight {
		t.Error("a request that may be under way is forgotten")
	}
	pass(time.Second)
	asks(pages[2])
	pass(2 * permit.Lifetime)

	w.leave(pages[1])
	w.leave(pages[2])
	request(pages[3], func(p *store.ReleaseParams) { p.Answer = store.HostThrottled })
	pass(-wrong)
	if got := asks(pages[4]); got > polite.MaxRetryAfter {
		t.Errorf("a back-off of a minute lasts %v", got)
	}
	pass(2 * polite.MaxRetryAfter)
	permitAfter(w, pages[4], pages[5], func() {
		pass(-wrong)
		w.ask(pages[5])
		pass(polite.MaxRetryAfter) // the clock cannot say that the back-off has ended
	})
	careAfter(w, func() { pass(-wrong) })
}

// permitAfter tests that a permit whose owner is gone, and a robots.txt, from the time ahead keep no
// other page of the host waiting once the clock has gone back.
func permitAfter(w *gateWorld, gone, other crawl.PageRef, wentBack func()) {
	w.t.Helper()
	w.allow("http://host.test")
	w.grant(gone)
	wentBack()
	if a := w.ask(other); a.Answer != store.GateGranted || a.Permit.Kind != crawl.PermitRobots {
		w.t.Errorf("%s (%s, %v) with %+v, want a permit for the robots.txt", a.Answer, a.Reason, a.Wait, a.Permit)
	}
}

// careAfter tests that a crawl is looked after again once the clock has gone back.
func careAfter(w *gateWorld, wentBack func()) {
	w.t.Helper()
	claims := func(when string, want int) {
		w.t.Helper()
		if got := must(w.s.ClaimCare(w.t.Context(), time.Minute, 0))(w.t); len(got) != want {
			w.t.Errorf("%s: %d crawls to be looked after, want %d", when, len(got), want)
		}
	}
	claims("at first", 1)
	claims("at once", 0)
	wentBack()
	claims("after the clock went back", 1)
	claims("at once", 0)
}

// RunForgiving tests, on an empty engine, that a host's back-offs are forgiven one after the
// other, each after a quiet time of its own.
func RunForgiving(t *testing.T, e sqlstore.Engine) {
	clock, err := stopClock(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	w := newGateWorld(t, sqlstore.New(clock, sqlstore.Options{}))
	page := w.open("news", time.Millisecond, 1)[0]
	after := func(d time.Duration, answer store.HostAnswer) (level int) {
		clock.at += d.Microseconds()
		w.allow("http://host.test")
		w.request(page, func(p *store.ReleaseParams) { p.Answer, p.RetryAfter, p.HasRetryAfter = answer, time.Second, true })
		return w.host(page.CrawlID).BackoffLevel
	}
	for want := range 3 {
		if level := after(time.Minute, store.HostThrottled); level != want+1 {
			t.Fatalf("level %d after %d refusals", level, want+1)
		}
	}
	for _, c := range []struct {
		quiet time.Duration
		want  int
	}{{time.Second, 3}, {3 * time.Hour, 2}, {time.Second, 2}, {3 * time.Hour, 1}, {time.Second, 1}} {
		if level := after(c.quiet+time.Second, store.HostOK); level != c.want {
			t.Errorf("level %d after another %v, want %d", level, c.quiet, c.want)
		}
	}
}
