package storetest

import (
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func pausedIsParked(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 2)
	w.state("news", crawl.CrawlPaused)
	if a := w.ask(pages[0]); a.Answer != store.GateParked {
		w.t.Fatalf("answer %s", a.Answer)
	}
	if h := w.host(pages[0].CrawlID); h.Waiting != 0 {
		w.t.Errorf("%d waiting", h.Waiting)
	}
	if e := must(w.s.Unpark(w.t.Context(), pages[0].CrawlID, 10))(w.t); len(e.Turns) != 0 {
		w.t.Errorf("unparked while paused: %+v", e.Turns)
	}
	w.state("news", crawl.CrawlRunning)
	w.grant(pages[0])
}

func pausedMayNotBegin(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 1)
	permit := w.grant(pages[0])
	w.state("news", crawl.CrawlPaused)
	w.refused(pages[0], permit)
	if a := w.ask(pages[0]); a.Answer != store.GateParked {
		w.t.Errorf("answer %s", a.Answer)
	}
	w.state("news", crawl.CrawlRunning)
	if e := must(w.s.Unpark(w.t.Context(), pages[0].CrawlID, 10))(w.t); len(e.Turns) != 1 {
		w.t.Errorf("unparked %+v", e.Turns)
	}
	w.refused(pages[0], permit)
	w.begin(pages[0], w.grant(pages[0]))
}

// The parked come back in their order, spread over the time that they take, and
// a call with a small limit takes the rest later.
func unparkGivesTurns(w *gateWorld) {
	const delay, lead = time.Minute, 2 * time.Second
	pages := w.open("news", delay, 6)
	ended := w.request(pages[0])
	w.state("news", crawl.CrawlPaused)
	for _, page := range pages[1:] {
		w.ask(page)
	}
	w.state("news", crawl.CrawlRunning)
	var turns []store.Turn
	for _, want := range []int{3, 2, 0} {
		e := must(w.s.Unpark(w.t.Context(), pages[0].CrawlID, 3))(w.t)
		if len(e.Turns) != want {
			w.t.Fatalf("unparked %d, want %d", len(e.Turns), want)
		}
		turns = append(turns, e.Turns...)
	}
	for i, turn := range turns {
		if turn.Page != pages[i+1] {
			w.t.Errorf("turn %d is of %s", i, turn.Page.URL)
		}
		w.about("the turn", turn.In, time.Duration(i+1)*delay-lead, ended)
	}
}

// A page that parked while its crawl was being resumed would sleep until the next resume.
func nudgeUnparks(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 2)
	other := w.open("olds", time.Millisecond, 1)
	for _, name := range []string{"news", "olds"} {
		w.state(name, crawl.CrawlPaused)
	}
	w.ask(pages[1])
	w.ask(other[0])
	w.state("news", crawl.CrawlRunning)
	for _, turns := range []int{1, 0} {
		e := must(w.s.Nudge(w.t.Context()))(w.t)
		if len(e.Turns) != turns || turns > 0 && e.Turns[0].Page != pages[1] {
			w.t.Errorf("turned %+v, want %d, the page of the crawl that runs", e.Turns, turns)
		}
	}
	w.grant(pages[1])
}

func stoppedLeaves(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 2)
	permit := w.grant(pages[0])
	w.state("news", crawl.CrawlStopped)
	w.refused(pages[0], permit)
	for _, page := range pages {
		if a := w.ask(page); a.Answer != store.GateStopped {
			w.t.Errorf("answer %s", a.Answer)
		}
	}
}

func stoppedPageLeaves(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 1)
	permit := w.grant(pages[0])
	if err := w.s.SetPageState(w.t.Context(), pages[0].PageID, crawl.Stopped); err != nil {
		w.t.Fatal(err)
	}
	w.refused(pages[0], permit)
	if a := w.ask(pages[0]); a.Answer != store.GateStopped {
		w.t.Errorf("answer %s", a.Answer)
	}
}

func (w *gateWorld) record(page crawl.PageRef, n int) {
	w.t.Helper()
	must(w.s.RecordVisit(w.t.Context(), recordParams(page, n)))(w.t)
}

func recordParams(page crawl.PageRef, n int) store.RecordParams {
	return store.RecordParams{
		Visit:    store.VisitRecord{PageID: page.PageID, Visit: n, Outcome: crawl.OutcomeUnchanged, State: crawl.Active},
		Interval: time.Hour,
	}
}

func recordedVisit(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 1)
	permit := w.grant(pages[0])
	w.record(pages[0], 1)
	a := w.ask(pages[0])
	if a.Answer != store.GateRecorded || a.Recorded == nil || a.Recorded.Outcome != crawl.OutcomeUnchanged {
		w.t.Fatalf("answer %s with %+v", a.Answer, a.Recorded)
	}
	w.refused(pages[0], permit)
	w.grant(pages[0], visit(2))
	if a := w.ask(pages[0]); a.Answer != store.GateRecorded {
		w.t.Errorf("answer %s", a.Answer)
	}
	if again := w.ask(pages[0], visit(2)); again.Answer != store.GateGranted {
		w.t.Errorf("the next visit lost its permit: %s", again.Answer)
	}
}

func newVisitReplaces(w *gateWorld) {
	pages := w.open("news", time.Minute, 3)
	w.request(pages[0])
	w.waits(pages[1])
	w.waits(pages[2])
	if a := w.waits(pages[1], visit(2)); a.Position != 1 {
		w.t.Errorf("position %d, want to be behind the others", a.Position)
	}
	if h := w.host(pages[0].CrawlID); h.Waiting != 2 {
		w.t.Errorf("%d waiting", h.Waiting)
	}
}
