package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// A line of sleepers: each is promised a step later than the one before it.
func promisesFollowLine(w *gateWorld) {
	const delay = time.Minute
	pages := w.open("news", delay, 100)
	ended := w.request(pages[0])
	for i, page := range pages[1:] {
		a := w.waits(page)
		if a.Position != i {
			w.t.Fatalf("page %d: position %d", i, a.Position)
		}
		w.about("the wait", a.Wait, time.Duration(i+1)*delay, ended)
	}
	if h := w.host(pages[0].CrawlID); h.Waiting != len(pages)-1 {
		w.t.Errorf("%d waiting", h.Waiting)
	}
}

// A crawl with a long line takes nothing from a crawl with a short one.
func promisesTakeTurns(w *gateWorld) {
	const delay = time.Minute
	long := w.open("long", delay, 20)
	short := w.pages(w.crawl("short", delay), "host.test", 2)
	w.request(long[0])
	for _, page := range long[1:] {
		w.waits(page)
	}
	for i, page := range short {
		if a := w.waits(page); a.Position > 2*i+1 {
			w.t.Errorf("page %d of the short line has position %d", i, a.Position)
		}
	}
	manual := func(p *store.AcquireParams) { p.Class = crawl.ClassManual }
	if a := w.waits(long[19], manual); a.Position != 0 {
		w.t.Errorf("a visit that a person asked for has position %d", a.Position)
	}
}

func rankGoesFirst(w *gateWorld) {
	pages := w.open("news", time.Minute, 80)
	w.request(pages[0])
	for _, page := range pages[1:79] {
		w.waits(page, ranked(1))
	}
	if a := w.waits(pages[79], ranked(2)); a.Position != 0 {
		w.t.Errorf("the highest rank has position %d", a.Position)
	}
	if a := w.waits(pages[0], visit(2), ranked(0)); a.Position != 79 {
		w.t.Errorf("the lowest rank has position %d", a.Position)
	}
}

// First visits wait in the order of admission, by importance; revisits by age, however
// important their pages are.
func importanceGoesFirst(w *gateWorld) {
	var urls []store.NewURL
	for i := range 8 {
		urls = append(urls, store.NewURL{URL: fmt.Sprintf("http://host.test/%d", i), Host: "host.test", Level: 1})
	}
	pages := w.register(w.crawl("news", time.Minute), urls)
	w.allow("http://host.test")
	w.request(pages[0])
	var ranks []store.PageRank
	for i, page := range pages {
		ranks = append(ranks, store.PageRank{ID: page.PageID, Rank: 1, Weight: 1 + float64(i)})
	}
	for _, class := range []crawl.Class{crawl.ClassRevisit, crawl.ClassFirst} {
		as := as(class)
		line := pages[1:4]
		if class == crawl.ClassFirst {
			line = pages[4:]
		}
		// Ranked while they wait: the ranks count when they ask again.
		for _, page := range line {
			w.waits(page, as)
		}
		if err := w.s.SaveRanks(w.t.Context(), pages[0].CrawlID, ranks); err != nil {
			w.t.Fatal(err)
		}
		for i := range 2 * len(line) {
			w.waits(line[i%len(line)], as)
		}
		behind := -1
		for i := range line {
			next := i
			if class == crawl.ClassFirst {
				next = len(line) - 1 - i // with revisits in between
			}
			a := w.waits(line[next], as)
			if a.Position <= behind || class == crawl.ClassRevisit && a.Position != i {
				w.t.Errorf("class %d: page %d has position %d, the one before it %d", class, next, a.Position, behind)
			}
			behind = a.Position
		}
		if class == crawl.ClassFirst && behind != 3+len(line)-1 {
			w.t.Errorf("the least important first visit has position %d", behind)
		}
	}
}

func ranked(rank float64) func(*store.AcquireParams) {
	return func(p *store.AcquireParams) { p.Rank = rank }
}

// waiting is somebody in the line of a case that checks the order.
type waiting struct {
	page  crawl.PageRef
	class crawl.Class
	rank  float64
}

// served is somebody who had a permit.
type served struct {
	waiting
	permit int64
	err    error
}

// serve has all of them wait, one coming after the other, before the first is
// granted a permit, and returns them in the order of their permits.
func (w *gateWorld) serve(blocker crawl.PageRef, line []waiting) []waiting {
	w.t.Helper()
	// No permit is granted while a robots.txt is being fetched.
	robots := w.grant(blocker)
	w.begin(blocker, robots)
	done := make(chan served, len(line))
	for i, l := range line {
		go func() {
			permit, err := w.visit(l)
			done <- served{l, permit, err}
		}()
		for w.host(blocker.CrawlID).Waiting <= i && len(done) == 0 {
			if err := w.t.Context().Err(); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	w.release(robots)
	w.leave(blocker)
	all := make([]served, len(line))
	for i := range all {
		if all[i] = <-done; all[i].err != nil {
			w.t.Fatal(all[i].err)
		}
	}
	slices.SortFunc(all, func(a, b served) int { return cmp.Compare(a.permit, b.permit) })
	order := make([]waiting, len(all))
	for i, s := range all {
		order[i] = s.waiting
	}
	return order
}

// visit makes one request and returns its permit.
func (w *gateWorld) visit(l waiting) (int64, error) {
	ctx := w.t.Context()
	a, err := w.s.Acquire(ctx, store.AcquireParams{Page: l.page, Visit: 1, Class: l.class, Rank: l.rank, Patience: gatePatience})
	if err != nil {
		return 0, err
	}
	_, err = w.s.Begin(ctx, store.BeginParams{Permit: a.Permit, Page: l.page, Visit: 1, Patience: gatePatience})
	if err != nil {
		return 0, err
	}
	_, err = w.s.Release(ctx, store.ReleaseParams{Permit: a.Permit, Answer: store.HostOK})
	return a.Permit.ID, err
}

func servedInOrder(w *gateWorld) {
	a, b := w.open("first", 5*time.Millisecond, 6), w.pages(w.crawl("second", 5*time.Millisecond), "host.test", 3)
	line := []waiting{
		{a[0], crawl.ClassProbe, 0},
		{a[1], crawl.ClassRevisit, 1},
		{a[2], crawl.ClassRevisit, 2},
		{a[3], crawl.ClassRevisit, 2},
		{b[0], crawl.ClassRevisit, 0},
		{b[1], crawl.ClassManual, 0},
	}
	got := w.serve(w.secure(w.crawl("first", 5*time.Millisecond), "host.test"), line)
	// The person's first; then the crawls in turn, the one before was the second's;
	// within the first by rank and age; the probe last.
	want := []waiting{line[5], line[2], line[4], line[3], line[1], line[0]}
	if !slices.Equal(got, want) {
		w.t.Errorf("served in the order %v, want %v", got, want)
	}
}

func eighthToOldest(w *gateWorld) {
	pages := w.open("news", 5*time.Millisecond, 14)
	line := []waiting{{pages[0], crawl.ClassProbe, 0}}
	for _, page := range pages[1:] {
		line = append(line, waiting{page, crawl.ClassManual, 0})
	}
	got := w.serve(w.secure(w.crawl("news", 5*time.Millisecond), "host.test"), line)
	if i := slices.Index(got, line[0]); i > 8 {
		w.t.Errorf("the oldest was served after %d younger ones", i)
	}
}

// turned checks that the effects turn one page, to come in about the wait.
func (w *gateWorld) turned(e store.GateEffects, page crawl.PageRef, in time.Duration, since time.Time) {
	w.t.Helper()
	if len(e.Turns) != 1 || e.Turns[0].Page != page {
		w.t.Fatalf("turns %+v, want one of %+v", e.Turns, page)
	}
	w.about("the turn", e.Turns[0].In, in, since)
}

func leavingTurns(w *gateWorld) {
	const delay, lead = time.Minute, 2 * time.Second
	pages := w.open("news", delay, 4)
	ended := w.request(pages[0])
	w.waits(pages[1])
	w.waits(pages[2])
	w.waits(pages[3])
	w.turned(w.leave(pages[1]), pages[2], delay-lead, ended)
	if e := w.leave(pages[3]); len(e.Turns) != 0 {
		w.t.Errorf("turned again: %+v", e.Turns)
	}
	if a := w.waits(pages[2]); len(a.Effects.Turns) != 0 || a.Position != 0 {
		w.t.Errorf("position %d, turns %+v", a.Position, a.Effects.Turns)
	}
}

// A request that ends sooner than it was expected to brings the next forward.
func releaseTurns(w *gateWorld) {
	pages := w.pages(w.crawl("news", time.Minute, func(s *crawl.Spec) { s.Politeness.Factor = 1 }), "host.test", 3)
	w.allow("http://host.test")
	w.request(pages[0], func(p *store.ReleaseParams) { p.Duration = time.Hour })
	w.waits(pages[1])
	w.waits(pages[2]) // two hours later: the host takes an hour, and rests for one
	ended := w.now()
	w.turned(w.leave(pages[1]), pages[2], time.Hour-2*time.Second, ended.Add(-time.Minute))
}

// A page that leaves the line by its state turns nobody; maintenance does.
func nudgeTurns(w *gateWorld) {
	const delay = time.Minute
	pages := w.open("news", delay, 3)
	ended := w.request(pages[0])
	w.waits(pages[1])
	w.waits(pages[2])
	if err := w.s.SetPageState(w.t.Context(), pages[1].PageID, crawl.Stopped); err != nil {
		w.t.Fatal(err)
	}
	w.turned(must(w.s.Nudge(w.t.Context()))(w.t), pages[2], delay-2*time.Second, ended)
	if e := must(w.s.Nudge(w.t.Context()))(w.t); len(e.Turns) != 0 {
		w.t.Errorf("turned again: %+v", e.Turns)
	}
}

// A waiter in the process has its permit as soon as the slot is free, long
// before it would look by itself.
func waiterIsWoken(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 3)
	w.grant(pages[0])
	w.grant(pages[1])
	answers := w.waitInProcess(w.t.Context(), pages[2])
	w.leave(pages[0])
	if a := <-answers; a.err != nil || a.Answer != store.GateGranted {
		w.t.Errorf("answer %s, %v", a.Answer, a.err)
	}
}

func cancelledWaiter(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 3)
	w.grant(pages[0])
	w.grant(pages[1])
	ctx, cancel := context.WithCancel(w.t.Context())
	answers := w.waitInProcess(ctx, pages[2])
	cancel()
	if a := <-answers; a.err == nil {
		w.t.Error("a cancelled Acquire answers")
	}
}
