package activities

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

const (
	// handoverPatience is how long a permit that Acquire has begun waits for its Fetch. An
	// eager Fetch comes at once; one that waits for a slot, or that another worker got, must
	// not hold up the host.
	handoverPatience = 2 * time.Second
	// handoverRest is how long Acquire begins no permits after a permit for which no
	// Fetch came.
	handoverRest = 10 * time.Second
	// placePatience is how long Acquire waits for a place at an address, in a transaction that
	// others wait for. Fetch can wait longer.
	placePatience = time.Millisecond
	// giveBackLimit bounds the clean-up of a permit for which no Fetch came.
	giveBackLimit = 5 * time.Second
)

// handover is a permit that Acquire has begun, on its way to the Fetch of this process.
type handover struct {
	permit crawl.Permit
	visit  int
	page   store.PageRecord
	place  *fetch.Place
	begun  store.BeginResult
	timer  *time.Timer
}

// handovers are those of one process. Each is taken once: by its Fetch, or by the code that
// gives it back.
type handovers struct {
	mu      sync.Mutex
	byPage  map[int64]*handover
	resting time.Time // until then none is added
	closed  bool
	backs   sync.WaitGroup
}

// open reports whether one may be added now.
func (h *handovers) open(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.closed && !now.Before(h.resting)
}

// add keeps a handover; giveBack is called if nobody takes it in time. It reports false
// if the process is about to end: then the caller keeps it.
func (h *handovers) add(o *handover, giveBack func(*handover)) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	if h.byPage == nil {
		h.byPage = map[int64]*handover{}
	}
	h.byPage[o.page.PageID] = o
	h.backs.Add(1)
	o.timer = time.AfterFunc(handoverPatience, func() {
		defer h.backs.Done()
		if h.remove(o, time.Now().Add(handoverRest)) {
			giveBack(o)
		}
	})
	return true
}

// remove takes one out, unless it has been taken, and lets no others in until then.
func (h *handovers) remove(o *handover, resting time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byPage[o.page.PageID] != o {
		return false
	}
	delete(h.byPage, o.page.PageID)
	h.resting = resting
	return true
}

// take returns the handover for a Fetch with this permit, or nil if there is none.
func (h *handovers) take(in contract.FetchIn) *handover {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.byPage[in.Page.PageID]
	if o == nil || o.visit != in.Visit || o.permit.ID != in.Permit.ID || o.permit.HostID != in.Permit.HostID {
		return nil
	}
	delete(h.byPage, in.Page.PageID)
	h.stop(o)
	return o
}

// reclaim takes out the handover of a visit that asks again: its Fetch ran elsewhere, or was
// never scheduled. No others are let in for a while.
func (h *handovers) reclaim(in contract.AcquireIn, now time.Time) *handover {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.byPage[in.Page.PageID]
	if o == nil || o.visit != in.Visit {
		return nil
	}
	delete(h.byPage, in.Page.PageID)
	h.stop(o)
	h.resting = now.Add(handoverRest)
	return o
}

// stop ends the wait for a handover that was taken out.
func (h *handovers) stop(o *handover) {
	if o.timer.Stop() {
		h.backs.Done()
	}
}

// end lets no more in, and returns the remaining ones.
func (h *handovers) end() []*handover {
	h.mu.Lock()
	defer h.mu.Unlock()
	var left []*handover
	for _, o := range h.byPage {
		h.stop(o)
		left = append(left, o)
	}
	h.byPage, h.closed = nil, true
	return left
}

// Close gives back the permits for which no Fetch will come, when the worker has stopped.
func (a *Activities) Close() {
	a.wishes.close()
	for _, o := range a.handed.end() {
		a.giveBack(o)
	}
	a.handed.backs.Wait()
}

// giveBack gives back a permit whose request was not made.
func (a *Activities) giveBack(o *handover) {
	ctx, cancel := context.WithTimeout(context.Background(), giveBackLimit)
	defer cancel()
	a.carryOut(ctx, a.returned(ctx, o))
}

// reclaim gives back the permit of a visit that asks again. It may then begin anywhere.
func (a *Activities) reclaim(ctx context.Context, in contract.AcquireIn) {
	o := a.handed.reclaim(in, time.Now())
	if o == nil {
		return
	}
	effects := a.returned(ctx, o)
	effects.Turns = slices.DeleteFunc(effects.Turns, func(t store.Turn) bool { return t.Page.PageID == in.Page.PageID })
	a.carryOut(ctx, effects)
}

// returned gives a permit back and returns the turns that follow.
func (a *Activities) returned(ctx context.Context, o *handover) store.GateEffects {
	o.place.Release()
	effects, err := a.stores.Gate.GiveBack(ctx, o.permit)
	if err != nil {
		a.log.Warn("a permit that nobody used could not be given back; its host rests until it expires", "url", o.page.URL, "error", err)
	}
	return effects
}

// errNotAtOnce: the request cannot begin at once; that is not an error.
var errNotAtOnce = errors.New("not at once")

// atOnce describes how Acquire may begin the permit of a page, with the data that it
// then has for Fetch; nil if it may not. It checks everything that Fetch would check
// before Begin.
func (a *Activities) atOnce(ctx context.Context, view *crawlView, page store.PageRecord, visit int) (*handover, *store.AtOnce) {
	if !a.settings.AtOnce || !a.handed.open(time.Now()) {
		return nil, nil
	}
	req, err := a.newRequest(ctx, view, crawl.Permit{URL: page.URL})
	if err != nil {
		return nil, nil // Fetch says what is wrong
	}
	o := &handover{page: page, visit: visit}
	return o, &store.AtOnce{
		Take: func(ctx context.Context) (giveUp func(), err error) {
			if o.place, err = a.fetcher.Reserve(ctx, req, placePatience); err == nil && o.place == nil {
				err = errNotAtOnce // it may need one: its address is not known yet
			}
			return o.place.Release, err
		},
		Ready: func(granted store.AcquireResult) bool {
			return granted.Permit.Generation == view.Generation && page.Visits == visit-1 && a.allowedByCache(view, page.Kind, req.URL, granted.Robots)
		},
	}
}

// allowedByCache reports whether cached files of the page's site allow it, and ask the crawl's
// agent for no longer Crawl-delay than the gate keeps.
func (a *Activities) allowedByCache(view *crawlView, kind crawl.PageKind, u urlkey.URL, rec store.RobotsRecord) bool {
	if !a.termsByCache(view, kind, u) {
		return false
	}
	if rec.State != store.RobotsParsed {
		a.parsed(rec)
		return rec.State == store.RobotsAllowAll
	}
	file, ok := a.robots.get(rec.Origin, rec.TextDigest, rec.ExpiresAt)
	if !ok {
		return false
	}
	_, longer := longerDelay(file.File, rec, view.Spec.Identity.Agent)
	return !longer && file.CheckFor(view.Spec.Identity.Agent, view.purposeOf(kind), u).Allowed
}

// handOver keeps a begun permit for its Fetch, and answers with it.
func (a *Activities) handOver(o *handover, result store.AcquireResult) contract.AcquireOut {
	o.permit, o.begun = result.Permit, *result.Begun
	if !a.handed.add(o, a.giveBack) {
		a.giveBack(o)
	}
	return permitted(result.Permit)
}

// permitted is the answer of Acquire with a page's permit.
func permitted(permit crawl.Permit) contract.AcquireOut {
	return contract.AcquireOut{Answer: contract.AnswerPermit, Permit: permit, Plans: true}
}

// use reports whether a Fetch may make the request of a permit that Acquire has begun.
// If not, the permit is given back.
func (a *Activities) use(ctx context.Context, o *handover) bool {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		a.giveBack(o)
		return false
	default:
	}
	if ctx.Err() != nil || time.Since(o.begun.Sent) > 2*handoverPatience {
		a.giveBack(o) // cancelled, or this process stood still
		return false
	}
	if _, held := a.settings.Room.Begin(); held {
		a.giveBack(o)
		a.leaveForRoom(ctx, o.page.PageRef)
		return false
	}
	return true
}
