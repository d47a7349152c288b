package storetest

import (
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
)

func as(class crawl.Class) func(*store.AcquireParams) {
	return func(p *store.AcquireParams) { p.Class = class }
}

// waitAll has pages wait in their order.
func (w *gateWorld) waitAll(pages []crawl.PageRef, change ...func(*store.AcquireParams)) {
	w.t.Helper()
	for _, page := range pages {
		w.waits(page, change...)
	}
}

// The page that has waited longest is promised the next grant that goes by age,
// however many of better classes come before it, and others are promised the ones
// after it.
func eldestIsPromised(w *gateWorld) {
	pages := w.open("news", time.Minute, 103)
	w.request(pages[0])
	w.waitAll(pages[1:3], as(crawl.ClassProbe))
	w.waitAll(pages[3:])
	for i, page := range pages[1:3] {
		want := polite.ByAge(i, 0, polite.Ledger{Aged: 1})
		if a := w.waits(page, as(crawl.ClassProbe)); a.Position != want {
			w.t.Errorf("position %d of the one that is older than all but %d, want %d", a.Position, i, want)
		}
	}
	if a := w.waits(pages[102]); a.Position != 99 {
		w.t.Errorf("the youngest has position %d", a.Position)
	}
}

// A page that becomes the one that has waited longest is told to come sooner.
func eldestIsTurned(w *gateWorld) {
	const delay = 125 * time.Millisecond // as many as may be are turned at once
	pages := w.open("news", delay, 64)
	w.request(pages[0], throttled(time.Hour))
	older, eldest, younger := pages[1:32], pages[32], pages[33:]
	w.waitAll(older)
	w.waits(eldest, as(crawl.ClassProbe))
	w.waitAll(younger)
	var turned bool
	for _, page := range older {
		turned = slices.ContainsFunc(w.leave(page).Turns, func(t store.Turn) bool { return t.Page == eldest }) || turned
	}
	if !turned {
		w.t.Error("it was not turned")
	}
	if a := w.waits(eldest, as(crawl.ClassProbe)); a.Position >= polite.AgeEvery {
		w.t.Errorf("its position is %d", a.Position)
	}
}

// A paused crawl's waiters do not count: they may be older than all others.
func pausedAreNotElders(w *gateWorld) {
	old, pages := w.open("old", time.Minute, 40), w.open("news", time.Minute, 24)
	w.request(pages[0])
	w.waitAll(old)
	w.state("old", crawl.CrawlPaused)
	w.waits(pages[1], as(crawl.ClassProbe))
	w.waitAll(pages[2:])
	if a := w.waits(pages[1], as(crawl.ClassProbe)); a.Position >= polite.AgeEvery {
		w.t.Errorf("the one that has waited longest of a running crawl has position %d", a.Position)
	}
}

// First visits wait for their share of the grants, not for all revisits; revisits let
// them pass.
func firstVisitsPass(w *gateWorld) {
	pages := w.open("news", time.Minute, 44) // none of them was ever visited
	w.request(pages[0])
	w.waitAll(pages[1:41])
	w.waitAll(pages[41:], as(crawl.ClassFirst))
	for i, page := range pages[41:] {
		if a := w.waits(page, as(crawl.ClassFirst)); a.Position != 2*i {
			w.t.Errorf("the first visit of %d has position %d", i, a.Position)
		}
	}
	for i, want := range map[int]int{1: 1, 2: 3, 3: 5, 4: 6, 40: 42} {
		if a := w.waits(pages[i]); a.Position != want {
			w.t.Errorf("revisit %d has position %d, want %d", i, a.Position, want)
		}
	}
}

// A page that had its host held stands behind all others, and counts as younger than
// pages that come soon after it, until a visit of it no longer does that.
func heldGoesBehind(w *gateWorld) {
	const held = time.Hour
	pages := w.open("news", time.Minute, 12)
	w.request(pages[11])
	bad := pages[0]
	params := recordParams(bad, 1)
	params.Visit.Outcome, params.Failures, params.Held = crawl.OutcomeThrottled, 1, held
	must(w.s.RecordVisit(w.t.Context(), params))(w.t)
	w.waits(bad, visit(2))
	w.waitAll(pages[1:5])
	w.waitAll(pages[5:8], as(crawl.ClassFirst))
	w.waits(pages[8], as(crawl.ClassProbe))
	if a := w.waits(bad, visit(2)); a.Position != 8 {
		w.t.Errorf("position %d behind four revisits, three first visits and a probe", a.Position)
	}
	if a := w.waits(pages[8], as(crawl.ClassProbe)); a.Position != 7 {
		w.t.Errorf("the probe that came later has position %d", a.Position)
	}
	if a := w.waits(bad, visit(2), as(crawl.ClassManual)); a.Position != 0 {
		w.t.Errorf("position %d when a person asks for it", a.Position)
	}
	must(w.s.RecordVisit(w.t.Context(), recordParams(bad, 2)))(w.t)
	w.waits(bad, visit(3))
	if a := w.waits(bad, visit(3)); a.Position != 7 {
		w.t.Errorf("position %d after a visit without a hold", a.Position)
	}
}

// Releasing a permit returns how long the host is held because of it.
func backoffIsTold(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 6)
	held := func(page crawl.PageRef, change ...func(*store.ReleaseParams)) time.Duration {
		permit := w.grant(page, patient)
		w.begin(page, permit)
		p := store.ReleaseParams{Permit: permit, Answer: store.HostOK}
		for _, c := range change {
			c(&p)
		}
		return must(w.s.Release(w.t.Context(), p))(w.t).Held
	}
	for i, want := range []time.Duration{0, 0, 0, time.Minute} {
		answer := store.HostFailed
		if i == 0 {
			answer = store.HostOK
		}
		if got := held(pages[i], answered(answer)); (got - want).Abs() > want/10 {
			w.t.Errorf("request %d, answered %s, had the host held for %v, want about %v", i, answer, got, want)
		}
	}
	other := w.pages(w.crawl("other", time.Millisecond), "other.test", 1)[0]
	w.allow("http://other.test")
	if got := held(other, throttled(time.Hour)); got != time.Hour {
		w.t.Errorf("held for %v, the host asked for an hour", got)
	}
}
