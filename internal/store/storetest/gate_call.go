package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

func callable(p *store.AcquireParams) { p.Callable = true }

// called reports whether a page is among the turns, and the time it is given.
func called(e store.GateEffects, page crawl.PageRef) (in time.Duration, is bool) {
	i := slices.IndexFunc(e.Turns, func(t store.Turn) bool { return t.Page == page })
	if i < 0 {
		return 0, false
	}
	return e.Turns[i].In, true
}

// A page that can be called and has two or more before it sleeps for longer than its turn
// will take, and is called when the turn comes.
func farWaiterSleeps(w *gateWorld) {
	const delay = time.Minute
	pages := w.open("news", delay, 6)
	ended := w.request(pages[0])
	w.about("the first one's wait", w.waits(pages[1], callable).Wait, delay, ended)
	w.about("the second one's wait", w.waits(pages[2], callable).Wait, 2*delay, ended)
	far := w.waits(pages[3], callable)
	if far.Wait <= 3*delay || far.Reason != store.WaitLine || far.Position != 2 {
		w.t.Errorf("the third one is told to wait %v: %s, position %d", far.Wait, far.Reason, far.Position)
	}
	if alone := w.waits(pages[4]); alone.Wait > 4*delay {
		w.t.Errorf("one that cannot be called is told to wait %v", alone.Wait)
	}
	w.leave(pages[1])
	in, is := called(w.leave(pages[2]), pages[3])
	if !is {
		w.t.Fatal("the third one was not called when it became the first")
	}
	w.about("its turn", in, delay-polite.Lead, ended)
}

// saturatedLine is a host with a line of revisits, and a page whose second visit was made
// an hour late.
func (w *gateWorld) saturatedLine(interval time.Duration) (page crawl.PageRef, line []crawl.PageRef, last store.RecordParams) {
	w.t.Helper()
	pages := w.open("news", time.Minute, 5)
	page, line = pages[0], pages[1:]
	if err := w.s.SetPageState(w.t.Context(), page.PageID, crawl.Active); err != nil {
		w.t.Fatal(err)
	}
	w.request(page)
	w.record(page, 1)
	w.waitAll(line, callable)
	last = recordParams(page, 2)
	last.Late, last.Interval = time.Hour, interval
	return page, line, last
}

// The next visit of a page that waited for its last one has its place before it is due.
// There it delays nobody.
func placeIsBooked(w *gateWorld) {
	page, line, last := w.saturatedLine(time.Hour)
	r := must(w.s.RecordVisit(w.t.Context(), last))(w.t)
	if !r.InLineUntil.After(r.Visit.NextAt) {
		w.t.Fatalf("the page may sleep until %v, and is due at %v", r.InLineUntil, r.Visit.NextAt)
	}
	if again := must(w.s.RecordVisit(w.t.Context(), last))(w.t); !again.Already || !again.InLineUntil.Equal(r.InLineUntil) {
		w.t.Errorf("asked again the answer is %v, not %v", again.InLineUntil, r.InLineUntil)
	}
	if n := w.host(page.CrawlID).Waiting; n != len(line) {
		w.t.Errorf("%d wait, want %d", n, len(line))
	}
	if e := must(w.s.Nudge(w.t.Context()))(w.t); len(e.Turns) > 0 {
		w.t.Errorf("turns %+v", e.Turns)
	}
	a := w.waits(page, visit(3), as(crawl.ClassManual), callable)
	if n := w.host(page.CrawlID).Waiting; a.Position != 0 || n != len(line)+1 {
		w.t.Errorf("asked for by a person it has position %d, and %d wait", a.Position, n)
	}
}

// No place is booked if the page would not wait, or had its host held.
func placeIsNotBooked(w *gateWorld) {
	page, line, last := w.saturatedLine(time.Hour)
	for i, change := range []func(*store.RecordParams){
		func(p *store.RecordParams) { p.Late = time.Second },
		func(p *store.RecordParams) { p.Held = time.Second },
		func(p *store.RecordParams) { p.Interval = 24 * time.Hour },
		func(p *store.RecordParams) { p.Visit.State = crawl.Stopped },
	} {
		p := last
		p.Visit.Visit = 2 + i
		change(&p)
		if r := must(w.s.RecordVisit(w.t.Context(), p))(w.t); !r.InLineUntil.IsZero() {
			w.t.Errorf("case %d: a place is booked until %v", i, r.InLineUntil)
		}
	}
	if err := w.s.SetPageState(w.t.Context(), page.PageID, crawl.Active); err != nil {
		w.t.Fatal(err)
	}
	w.leave(line[0])
	w.leave(line[1])
	last.Visit.Visit = 6
	if r := must(w.s.RecordVisit(w.t.Context(), last))(w.t); !r.InLineUntil.IsZero() {
		w.t.Errorf("without a line a place is booked until %v", r.InLineUntil)
	}
}

// A booked page that is due stands in the line with its age since then.
func bookedArrives(w *gateWorld) {
	page, line, last := w.saturatedLine(0)
	r := must(w.s.RecordVisit(w.t.Context(), last))(w.t)
	if r.InLineUntil.IsZero() {
		w.t.Fatal("no place is booked")
	}
	var turned bool
	for _, other := range line {
		if n := w.host(page.CrawlID).Waiting; n == 0 {
			w.t.Fatalf("%s: nobody waits", other.URL)
		}
		_, is := called(w.leave(other), page)
		turned = turned || is
	}
	if n := w.host(page.CrawlID).Waiting; n != 1 || !turned {
		w.t.Errorf("%d wait; the booked page was called: %t", n, turned)
	}
	if a := w.waits(page, visit(3), callable); a.Position != 0 {
		w.t.Errorf("its position is %d", a.Position)
	}
}

// If no page is left that could call the booked page that is due first, it is told once to
// come by itself, but not before it is due.
func bookedComesAlone(w *gateWorld) {
	page, line, last := w.saturatedLine(time.Hour)
	recorded := w.now()
	must(w.s.RecordVisit(w.t.Context(), last))(w.t)
	var in time.Duration
	calls := 0
	for _, other := range line {
		if t, is := called(w.leave(other), page); is { // before the last one if that was called already
			in, calls = t, calls+1
		}
	}
	if calls != 1 {
		w.t.Fatalf("it was called %d times", calls)
	}
	w.about("its turn", in, time.Hour+polite.Lead, recorded)
	if e := must(w.s.Nudge(w.t.Context()))(w.t); len(e.Turns) > 0 {
		w.t.Errorf("it was called again: %+v", e.Turns)
	}
}

// A page that is stopped gives up its booked place.
func bookedStops(w *gateWorld) {
	page, line, last := w.saturatedLine(time.Hour)
	must(w.s.RecordVisit(w.t.Context(), last))(w.t)
	if err := w.s.SetPageState(w.t.Context(), page.PageID, crawl.Stopped); err != nil {
		w.t.Fatal(err)
	}
	for _, other := range line {
		if _, is := called(w.leave(other), page); is {
			w.t.Error("it was called")
		}
	}
	if a := w.ask(page, visit(3)); a.Answer != store.GateStopped {
		w.t.Errorf("answer %s", a.Answer)
	}
}

// While a crawl is paused nobody is called. Those who sleep are when it is resumed,
// though none of them has asked meanwhile.
func sleepersResume(w *gateWorld) {
	pages := w.open("news", time.Minute, 6)
	ended := w.request(pages[0])
	w.waitAll(pages[1:], callable)
	w.state("news", crawl.CrawlPaused)
	for _, page := range pages[1:3] {
		if e := w.leave(page); len(e.Turns) > 0 {
			w.t.Errorf("turns %+v", e.Turns)
		}
	}
	w.state("news", crawl.CrawlRunning)
	in, is := called(must(w.s.Unpark(w.t.Context(), pages[0].CrawlID, 10))(w.t), pages[3])
	if !is {
		w.t.Fatal("the first of the line was not called")
	}
	w.about("its turn", in, time.Minute-polite.Lead, ended)
	if e := must(w.s.Unpark(w.t.Context(), pages[0].CrawlID, 10))(w.t); len(e.Turns) > 0 {
		w.t.Errorf("called again: %+v", e.Turns)
	}
}

// RunResume tests that a resume looks at each line once. It turns a batch of pages at a time, and a
// crawl may have lines at very many hosts.
func RunResume(t *testing.T, e sqlstore.Engine) {
	counter := Count(e)
	w := newGateWorld(t, sqlstore.New(counter, sqlstore.Options{}))
	const hosts = 9
	news := w.crawl("news", time.Hour)
	var lines [][]crawl.PageRef
	for i := range hosts {
		host := fmt.Sprintf("host%d.test", i)
		w.allow("http://" + host)
		pages := w.pages(news, host, 5)
		w.request(pages[0])
		w.waitAll(pages[1:], callable)
		lines = append(lines, pages)
	}
	w.state("news", crawl.CrawlPaused)
	for _, pages := range lines {
		w.leave(pages[1])
		w.leave(pages[2])
	}
	w.state("news", crawl.CrawlRunning)
	counter.Take()
	turns := 0
	for more := true; more; {
		e := must(w.s.Unpark(t.Context(), news.ID, 2))(t)
		turns += len(e.Turns)
		more = len(e.Turns) > 0
	}
	if counts, _ := counter.Take(); turns != hosts || counts.Lazy > hosts {
		t.Errorf("%d pages of %d hosts were turned, in %d transactions", turns, hosts, counts.Lazy)
	}
}

// A lost turn is looked for only when its page is late.
func recallWaits(w *gateWorld) {
	pages := w.open("news", time.Minute, 5)
	w.request(pages[0])
	w.waitAll(pages[1:], callable)
	w.leave(pages[1])
	w.leave(pages[2])
	if e := must(w.s.Recall(w.t.Context(), 10))(w.t); len(e.Turns) > 0 {
		w.t.Errorf("turns %+v", e.Turns)
	}
}
