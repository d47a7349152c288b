package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// finishParams record visit 1 of a page as recordParams does.
func finishParams(page crawl.PageRef, permit crawl.Permit) store.FinishParams {
	return store.FinishParams{
		Release: store.ReleaseParams{Permit: permit, Answer: store.HostOK},
		Page:    page.PageID, Generation: permit.Generation,
		Plan: func(time.Duration) store.RecordParams { return recordParams(page, 1) },
	}
}

// releaseLooks: a release says whether the page is still there, if it is asked.
func releaseLooks(w *gateWorld) {
	pages := w.open("news", 0, 3)
	known := func(page crawl.PageRef, asked int64, forget bool) bool {
		w.t.Helper()
		permit := w.inFlight(page)
		if forget {
			must(w.s.Forget(w.t.Context(), store.ForgetParams{Target: store.Target{URL: page.URL}, Limit: 10}))(w.t)
		}
		return must(w.s.Release(w.t.Context(), store.ReleaseParams{Permit: permit, Answer: store.HostOK, Page: asked}))(w.t).Known
	}
	if !known(pages[0], pages[0].PageID, false) {
		w.t.Error("a page that is there is not known")
	}
	if known(pages[1], 0, false) {
		w.t.Error("no page is known")
	}
	if known(pages[2], pages[2].PageID, true) {
		w.t.Error("a forgotten page is known")
	}
}

// releaseNotes: what a request has brought goes with a page that is forgotten before its visit
// is recorded. After that the visit names it.
func releaseNotes(w *gateWorld) {
	pages := w.open("news", 0, 3)
	digest := func(i int) string { return fmt.Sprintf("%064x", pages[i].PageID) }
	release := func(i int) {
		w.t.Helper()
		params := store.ReleaseParams{Permit: w.inFlight(pages[i]), Answer: store.HostOK, Page: pages[i].PageID, Digest: digest(i)}
		must(w.s.Release(w.t.Context(), params))(w.t)
	}
	discards := func(what string, i int, want ...string) {
		w.t.Helper()
		gone := must(w.s.Forget(w.t.Context(), store.ForgetParams{Target: store.Target{URL: pages[i].URL}, Limit: 10}))(w.t)
		if !slices.Equal(gone.Digests, want) {
			w.t.Errorf("%s: discards %q, want %q", what, gone.Digests, want)
		}
	}
	discards("never fetched", 0)
	release(1)
	discards("fetched, and not recorded", 1, digest(1))
	release(2)
	recorded := recordParams(pages[2], 1) // its second look found the page as it was
	recorded.Visit.Digest = ""
	must(w.s.RecordVisit(w.t.Context(), recorded))(w.t)
	discards("recorded", 2)
}

// inFlight is a page whose request has begun.
func (w *gateWorld) inFlight(page crawl.PageRef) crawl.Permit {
	w.t.Helper()
	permit := w.grant(page)
	w.begin(page, permit)
	return permit
}

// Finish is Release and RecordVisit: the host is free after the gap, the next in line is
// turned, and the visit is recorded. Doing it again changes nothing.
func finishDoesBoth(w *gateWorld) {
	const delay = time.Minute
	pages := w.open("news", delay, 2)
	permit := w.inFlight(pages[0])
	w.waits(pages[1])
	ended := w.now()
	done := must(w.s.Finish(w.t.Context(), finishParams(pages[0], permit)))(w.t)
	if done.Already || done.Visit.Visit != 1 || done.Visit.Outcome != crawl.OutcomeUnchanged || done.Effects.Held != 0 {
		w.t.Errorf("finished %+v", done)
	}
	if page := must(w.s.Page(w.t.Context(), pages[0].PageID))(w.t); page.Visits != 1 || !page.NextAt.Equal(done.Visit.NextAt) {
		w.t.Errorf("the page has %d visits and is due at %v", page.Visits, page.NextAt)
	}
	if h := w.host(pages[0].CrawlID); h.InFlight || h.Waiting != 1 {
		w.t.Errorf("the host has a request in flight: %t; %d waiting", h.InFlight, h.Waiting)
	}
	w.about("the wait of the next", w.waits(pages[1]).Wait, delay, ended)
	again := must(w.s.Finish(w.t.Context(), finishParams(pages[0], permit)))(w.t)
	if !again.Already || !again.Visit.NextAt.Equal(done.Visit.NextAt) || len(again.Effects.Turns) != 0 {
		w.t.Errorf("finished again: %+v, want %+v", again, done)
	}
	w.about("the wait of the next", w.waits(pages[1]).Wait, delay, ended)
}

// The plan is made knowing how long its visit has the host held.
func finishTellsTheBackoff(w *gateWorld) {
	pages := w.open("news", time.Minute, 1)
	p := finishParams(pages[0], w.inFlight(pages[0]))
	p.Release.Answer, p.Release.RetryAfter, p.Release.HasRetryAfter = store.HostThrottled, time.Hour, true
	p.Plan = func(held time.Duration) store.RecordParams {
		record := recordParams(pages[0], 1)
		record.Interval = 8 * held
		return record
	}
	done := must(w.s.Finish(w.t.Context(), p))(w.t)
	if done.Effects.Held != time.Hour || done.Visit.NextAt.Sub(done.Visit.At) != 8*time.Hour {
		w.t.Errorf("held for %v, next visit after %v", done.Effects.Held, done.Visit.NextAt.Sub(done.Visit.At))
	}
}

// If a visit cannot be recorded, its permit is not released either: the caller releases
// it separately.
func finishIsWhole(w *gateWorld) {
	later := func(p *store.FinishParams) {
		plan := p.Plan
		p.Plan = func(held time.Duration) store.RecordParams {
			record := plan(held)
			record.Visit.Visit = 3
			return record
		}
	}
	for name, spoil := range map[string]func(*store.FinishParams){
		"older-spec": func(p *store.FinishParams) { p.Generation-- }, "later-visit": later,
	} {
		page := w.open(name, time.Millisecond, 1)[0]
		permit := w.inFlight(page)
		p := finishParams(page, permit)
		spoil(&p)
		if _, err := w.s.Finish(w.t.Context(), p); !errors.Is(err, store.ErrConflict) {
			w.t.Errorf("%s: %v, want a conflict", name, err)
		}
		if got := must(w.s.Page(w.t.Context(), page.PageID))(w.t); got.Visits != 0 || !w.host(page.CrawlID).InFlight {
			w.t.Errorf("%s: %d visits, in flight: %t", name, got.Visits, w.host(page.CrawlID).InFlight)
		}
		w.release(permit)
		if w.host(page.CrawlID).InFlight {
			w.t.Errorf("%s: the permit was not released", name)
		}
	}
}

// The visit of a permit that has expired is still recorded, and the host keeps its gap.
func finishAfterExpiry(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 2)
	permit := w.grant(pages[0])
	permit.Lifetime = time.Millisecond
	w.begin(pages[0], permit)
	w.begin(pages[1], w.grant(pages[1], patient)) // the first has expired
	done := must(w.s.Finish(w.t.Context(), finishParams(pages[0], permit)))(w.t)
	if done.Already || done.Visit.Visit != 1 || !w.host(pages[0].CrawlID).InFlight {
		w.t.Errorf("finished %+v; the other's request must stay in flight", done)
	}
}

// Of a page that is forgotten, nothing is recorded, and its request can be released.
func finishForgotten(w *gateWorld) {
	page := w.open("news", time.Millisecond, 1)[0]
	permit := w.inFlight(page)
	w.forget(page)
	if _, err := w.s.Finish(w.t.Context(), finishParams(page, permit)); !errors.Is(err, store.ErrNotFound) {
		w.t.Errorf("%v, want not found", err)
	}
	w.release(permit)
}
