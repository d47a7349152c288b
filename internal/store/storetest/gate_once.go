package storetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// once lets a permit begin at once, and counts the holds that were not given up.
func once(held *int, ready bool) func(*store.AcquireParams) {
	return func(p *store.AcquireParams) {
		p.AtOnce = &store.AtOnce{
			Take: func(context.Context) (func(), error) {
				*held++
				return func() { *held-- }, nil
			},
			Ready: func(a store.AcquireResult) bool { return ready && a.Permit.ID != 0 && a.Robots.Origin != "" },
		}
	}
}

// A page that is alone at a free host may begin as it is granted. It is a begin like any
// other: it succeeds once, and the gap follows its end.
func atOnceBegins(w *gateWorld) {
	const delay = time.Minute
	pages, held := w.open("news", delay, 2), 0
	before := time.Now()
	a := w.ask(pages[0], once(&held, true))
	if a.Answer != store.GateGranted || a.Begun == nil || held != 1 {
		w.t.Fatalf("answer %s, begun %+v, %d held", a.Answer, a.Begun, held)
	}
	if a.Begun.At.IsZero() || a.Begun.Sent.Before(before) || a.Begun.Wait != 0 {
		w.t.Errorf("begun %+v", a.Begun)
	}
	if !w.host(pages[0].CrawlID).InFlight {
		w.t.Error("no request is in flight")
	}
	w.refused(pages[0], a.Permit)
	w.waits(pages[0])
	ended := w.now()
	must(w.s.Finish(w.t.Context(), finishParams(pages[0], a.Permit)))(w.t)
	w.about("the wait of the next", w.waits(pages[1], once(&held, true)).Wait, delay, ended)
	if held != 1 {
		w.t.Errorf("%d held after a wait", held)
	}
}

// Where others have a permit or wait, the grant alone is given: a begun permit on its way
// would keep the host idle. Who does not begin holds nothing, not even while it asks.
func atOnceLeavesTheHostBusy(w *gateWorld) {
	pages, held, taken := w.open("news", 0, 4), 0, 0
	counted := func(p *store.AcquireParams) {
		take := p.AtOnce.Take
		p.AtOnce.Take = func(ctx context.Context) (func(), error) { taken++; return take(ctx) }
	}
	first := w.grant(pages[0])
	if a := w.ask(pages[1], once(&held, true), counted); a.Answer != store.GateGranted || a.Begun != nil {
		w.t.Errorf("beside a granted permit: %s, begun %+v", a.Answer, a.Begun)
	}
	w.waits(pages[2], once(&held, true), counted)
	w.begin(pages[0], first)
	if a := w.ask(pages[2], once(&held, true), counted); a.Begun != nil {
		w.t.Errorf("beside a request in flight: %+v", a.Begun)
	}
	if held != 0 || taken != 0 {
		w.t.Errorf("%d held, and %d were, but nothing has begun", held, taken)
	}
}

// Nothing begins for an asker that is not ready, cannot hold what the request needs, or
// must fetch the robots.txt first.
func atOnceNeedsAll(w *gateWorld) {
	pages, held := w.open("news", 0, 1), 0
	if a := w.ask(pages[0], once(&held, false)); a.Answer != store.GateGranted || a.Begun != nil {
		w.t.Errorf("not ready: %s, begun %+v", a.Answer, a.Begun)
	}
	w.leave(pages[0])
	fails := func(p *store.AcquireParams) {
		p.AtOnce.Take = func(context.Context) (func(), error) { return nil, errors.New("no place") }
	}
	if a := w.ask(pages[0], once(&held, true), fails); a.Answer != store.GateGranted || a.Begun != nil {
		w.t.Errorf("without a place: %s, begun %+v", a.Answer, a.Begun)
	}
	w.leave(pages[0])
	unknown := w.secure(w.crawl("other", 0), "host.test")
	if a := w.ask(unknown, once(&held, true)); a.Permit.Kind != crawl.PermitRobots || a.Begun != nil {
		w.t.Errorf("without a robots.txt: %+v, begun %+v", a.Permit, a.Begun)
	}
	if held != 0 {
		w.t.Errorf("%d held, but nothing has begun", held)
	}
}

// A begin that is given back costs the host nothing: its page is turned, its permit may
// begin once, and others come after it. Giving back a permit that is not in flight changes
// nothing.
func givenBackBeginsAgain(w *gateWorld) {
	pages, held := w.open("news", time.Minute, 2), 0
	a := w.ask(pages[0], once(&held, true))
	back := must(w.s.GiveBack(w.t.Context(), a.Permit))(w.t)
	if len(back.Turns) != 1 || back.Turns[0].Page != pages[0] || w.host(pages[0].CrawlID).InFlight {
		w.t.Errorf("given back with %+v", back.Turns)
	}
	if again := must(w.s.GiveBack(w.t.Context(), a.Permit))(w.t); len(again.Turns) != 0 {
		w.t.Errorf("given back again with %+v", again.Turns)
	}
	w.begin(pages[0], a.Permit)
	w.refused(pages[0], a.Permit)
	ended := w.release(a.Permit)
	must(w.s.GiveBack(w.t.Context(), a.Permit))(w.t)
	w.about("the wait of the next", w.waits(pages[1]).Wait, time.Minute, ended)
}

// A page that left the line while its begun permit was on its way frees the host when that
// is given back.
func givenBackAfterLeaving(w *gateWorld) {
	pages, held := w.open("news", time.Millisecond, 2), 0
	a := w.ask(pages[0], once(&held, true))
	w.leave(pages[0])
	must(w.s.GiveBack(w.t.Context(), a.Permit))(w.t)
	w.refused(pages[0], a.Permit)
	w.begin(pages[1], w.grant(pages[1], patient))
}

// atOnceInAnyOrder makes the steps of visits in random order, by workers that lose begun
// permits, give them back and die: a permit's owner is the only one who makes a request,
// and the gap lies between any two.
func atOnceInAnyOrder(w *gateWorld) {
	const delay = 2 * time.Millisecond
	rng := rand.New(rand.NewPCG(1, 2))
	pages := w.open("news", delay, 6)
	type owned struct {
		permit crawl.Permit
		begun  bool
	}
	all := map[crawl.PageRef]*owned{}
	visits := map[crawl.PageRef]int{}
	var flying *owned
	var ended time.Time
	starts := func(o *owned, at time.Time) {
		if flying != nil {
			w.t.Fatal("two requests at a time")
		}
		if gap := at.Sub(ended); gap < delay {
			w.t.Fatalf("a gap of %v", gap)
		}
		o.begun, flying = true, o
	}
	requests, backs := 0, 0
	for range 600 {
		page := pages[rng.IntN(len(pages))]
		o, n := all[page], visits[page]+1
		switch step := rng.IntN(5); {
		case o == nil:
			held := 0
			a := w.ask(page, visit(n), once(&held, rng.IntN(4) > 0), func(p *store.AcquireParams) { p.Patience = time.Duration(rng.IntN(2)) * delay })
			if a.Answer != store.GateGranted {
				continue
			}
			o = &owned{permit: a.Permit}
			all[page] = o
			if a.Begun != nil {
				starts(o, a.Begun.At)
			}
		case !o.begun && step == 0: // its worker has died
			delete(all, page)
		case !o.begun:
			b, err := w.s.Begin(w.t.Context(), store.BeginParams{Permit: o.permit, Page: page, Visit: n})
			switch {
			case errors.Is(err, store.ErrRefused):
				delete(all, page)
			case err != nil:
				w.t.Fatal(err)
			case b.Wait == 0:
				starts(o, b.At)
			}
		case step == 0: // no Fetch came
			must(w.s.GiveBack(w.t.Context(), o.permit))(w.t)
			o.begun, flying = false, nil
			backs++
		case step == 1:
			continue // it takes its time
		default:
			p := finishParams(page, o.permit)
			p.Plan = func(time.Duration) store.RecordParams { return recordParams(page, n) }
			ended = w.now()
			must(w.s.Finish(w.t.Context(), p))(w.t)
			flying, visits[page] = nil, n
			delete(all, page)
			requests++
		}
	}
	if requests < 20 || backs < 5 {
		w.t.Errorf("only %d requests and %d given back", requests, backs)
	}
}
