package storetest

import (
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// RunOldGrants tests, on an empty engine, that a permit which lay about for long, as while all
// workers were down, is no longer good: the robots.txt that allowed it may be out of date. Its
// page keeps its place and is granted another, by what is in force then.
func RunOldGrants(t *testing.T, e sqlstore.Engine) {
	clock, err := stopClock(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	w := newGateWorld(t, sqlstore.New(clock, sqlstore.Options{}))
	page := w.open("news", time.Millisecond, 1)[0]
	allow := func() {
		t.Helper()
		w.robots(store.SaveRobotsParams{Origin: "http://host.test", State: store.RobotsAllowAll, Status: 404, Expires: 24 * time.Hour})
	}
	pass := func(d time.Duration) { clock.at += d.Microseconds() }
	allow()
	first := w.grant(page)
	pass(polite.GrantLimit)
	w.begin(page, first) // just in time
	w.release(first)

	pass(time.Second)
	lost := w.grant(page)
	pass(polite.GrantLimit + time.Second)
	w.refused(page, lost)
	if h := w.host(page.CrawlID); h.Waiting != 1 {
		t.Errorf("%d wait for the host after the refusal, want the page", h.Waiting)
	}
	again := w.grant(page)
	if again.ID == lost.ID {
		t.Error("the page was granted the permit that was refused")
	}
	pass(polite.GrantLimit + time.Second)
	if fresh := w.grant(page); fresh.ID == again.ID {
		t.Error("a page that asks again is answered with a permit that is no longer good")
	} else {
		again = fresh
	}
	w.refused(page, lost)
	w.begin(page, again)
	w.release(again)

	// What it was granted by is out of date by now.
	pass(20 * time.Hour)
	old := w.grant(page)
	pass(5 * time.Hour)
	w.refused(page, old)
	robots := w.grant(page)
	if robots.Kind != crawl.PermitRobots {
		t.Errorf("permit %+v, want one for the robots.txt", robots)
	}
	pass(polite.GrantLimit + time.Second)
	w.begin(page, robots) // it asks for the file itself
}

// A page whose visit was recorded although its permit was never given back does not wait again
// for that visit.
func lostButRecorded(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 2)
	w.lost(pages[0], 200*time.Millisecond)
	w.record(pages[0], 1)
	w.begin(pages[1], w.grant(pages[1], patient)) // the other one has expired
	if h := w.host(pages[0].CrawlID); h.Waiting != 0 {
		w.t.Errorf("%d waiting", h.Waiting)
	}
}

// A permit gives no right to begin once its visit is recorded.
func recordedMayNotBegin(w *gateWorld) {
	page := w.open("news", time.Millisecond, 1)[0]
	permit := w.grant(page)
	w.record(page, 1)
	w.refused(page, permit)
}
