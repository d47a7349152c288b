package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// gateTime is how long the load runs.
func gateTime() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("RECRAWL_GATE_LOAD")); err == nil {
		return d
	}
	return 4 * time.Second
}

// GateLoad is the load of RunGate on an empty store, in a bubble of synctest. There pages are
// never late, so it also judges for how many requests of others a page waits.
func GateLoad(t *testing.T, e sqlstore.Engine) {
	t.Helper()
	longest := runGateLoad(newGateWorld(t, sqlstore.New(e, sqlstore.Options{})), gateTime())
	if longest > loadTurns {
		t.Errorf("a page waited for %d requests of others, want at most %d", longest, loadTurns)
	}
}

// runGateLoad lets many pages of two crawls with different demands visit one
// host at once, for a while, with everything that goes wrong: pages that leave,
// calls whose caller dies before or after them, requests that are never
// released, crawls that pause. A log of the requests, as the site would see
// them, is checked afterwards. It returns the most requests of others that a page waited for.
func runGateLoad(w *gateWorld, long time.Duration) (longest int) {
	if testing.Short() {
		w.t.Skip("-short: a load takes its time")
	}
	l := &gateLoad{
		gateWorld: w, end: time.Now().Add(long),
		demands: map[int64]polite.Demand{}, resumed: make(chan struct{}), waitedFor: map[crawl.PageRef]int{},
	}
	l.crawls = []store.CrawlRecord{
		w.crawl("quick", time.Millisecond, func(s *crawl.Spec) { s.Politeness.Factor = 1 }),
		w.crawl("strict", 6*time.Millisecond),
	}
	w.allow("http://host.test")
	var pages []crawl.PageRef
	for _, c := range l.crawls {
		p := c.Spec.Politeness
		l.demands[c.ID] = polite.Demand{Delay: p.Delay.Std(), Factor: p.Factor, MaxCrawlDelay: p.MaxCrawlDelay.Std()}
		pages = append(pages, w.pages(c, "host.test", loadPages)...)
	}
	var running sync.WaitGroup
	for i, page := range pages {
		running.Go(func() { l.live(page, rand.New(rand.NewPCG(1, uint64(i)))) })
	}
	running.Go(func() { l.pause(rand.New(rand.NewPCG(2, 0))) })
	running.Wait()
	l.check()
	return l.longest
}

const (
	loadPages = 8                      // of each crawl
	loadLife  = 40 * time.Millisecond  // of a permit
	loadWait  = 250 * time.Millisecond // patience, and the longest sleep
	// loadRequests is how many requests the load makes at least.
	loadRequests = 10 * 2 * loadPages
	// loadTurns is the most requests of others before a page that keeps asking gets
	// its own: an eighth of the grants are by age, some are for nothing, and each time
	// that its crawl pauses it waits at the mercy of the test.
	loadTurns = 40 * loadPages
)

// gateLoad is the state of one load.
type gateLoad struct {
	*gateWorld
	end     time.Time
	crawls  []store.CrawlRecord
	demands map[int64]polite.Demand // by crawl; not changed while it runs

	mu        sync.Mutex
	resumed   chan struct{} // closed and replaced when the strict crawl is resumed
	log       []request
	waitedFor map[crawl.PageRef]int
	longest   int
}

// request is one as the site sees it.
type request struct {
	page     crawl.PageRef
	permit   int64
	begun    time.Time // the store's clock
	ended    time.Time // not later than the end that the store knows
	duration time.Duration
}

// over reports whether the load has run for its time and made enough requests to
// be worth checking: a slow disk takes longer.
func (l *gateLoad) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.t.Context().Err() != nil || time.Now().After(l.end) && len(l.log) >= loadRequests
}

// live makes visits of one page until the load ends.
func (l *gateLoad) live(page crawl.PageRef, rng *rand.Rand) {
	for n := 1; !l.over(); {
		done, err := l.attempt(page, n, rng)
		if err != nil {
			l.t.Errorf("%s, visit %d: %v", page.URL, n, err)
			return
		}
		if done {
			n++
		}
	}
}

// attempt is one way from Acquire to the end of a visit, or to where it broke
// off; it reports whether the visit is done.
func (l *gateLoad) attempt(page crawl.PageRef, n int, rng *rand.Rand) (done bool, err error) {
	ctx := l.t.Context()
	a, err := l.s.Acquire(ctx, store.AcquireParams{
		Page: page, Visit: n, Class: crawl.Class(rng.IntN(crawl.Classes)), Rank: float64(rng.IntN(3)),
		Patience: time.Duration(rng.Int64N(int64(loadWait))),
	})
	if err != nil {
		return false, err
	}
	switch a.Answer {
	case store.GateRecorded:
		return true, nil
	case store.GateParked:
		l.awaitResume()
		return false, nil
	case store.GateWait:
		l.mayLeave(page, rng)
		l.rest(min(a.Wait, loadWait))
		return false, nil
	case store.GateStopped:
		return false, errors.New("stopped")
	}
	return l.use(ctx, page, n, a.Permit, rng)
}

// use makes the request of a permit, unless its worker dies before.
func (l *gateLoad) use(ctx context.Context, page crawl.PageRef, n int, permit crawl.Permit, rng *rand.Rand) (bool, error) {
	permit.Lifetime = loadLife
	switch rng.IntN(20) {
	case 0: // lost before Begin; the page asks again
		return false, nil
	case 1: // stopped before Begin
		_, err := l.s.Leave(ctx, page.PageID)
		return false, err
	}
	b, err := l.s.Begin(ctx, store.BeginParams{Permit: permit, Page: page, Visit: n, Patience: loadWait})
	if errors.Is(err, store.ErrRefused) || err == nil && b.Wait > 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	started := time.Now()
	if rng.IntN(20) == 0 { // the worker dies in the request
		l.note(request{page, permit.ID, b.At, b.At.Add(loadLife), loadLife})
		return false, nil
	}
	if _, err := l.s.Begin(ctx, store.BeginParams{Permit: permit, Page: page, Visit: n}); !errors.Is(err, store.ErrRefused) {
		return false, fmt.Errorf("permit %d begun twice: %w", permit.ID, err)
	}
	l.rest(time.Duration(rng.Int64N(int64(3 * time.Millisecond))))
	return true, l.finish(ctx, page, n, permit, b.At, time.Since(started))
}

// finish records the visit and releases the permit.
func (l *gateLoad) finish(ctx context.Context, page crawl.PageRef, n int, permit crawl.Permit, begun time.Time, duration time.Duration) error {
	now, err := l.s.Now(ctx)
	if err != nil {
		return err
	}
	r := request{page, permit.ID, begun, now, duration}
	if expiry := begun.Add(loadLife); now.After(expiry) {
		r.ended, r.duration = expiry, loadLife
	}
	l.note(r)
	if _, err := l.s.Release(ctx, store.ReleaseParams{Permit: permit, Answer: store.HostOK, Duration: duration}); err != nil {
		return err
	}
	_, err = l.s.RecordVisit(ctx, recordParams(page, n))
	return err
}

// note logs a request and counts it as one that all others waited for.
func (l *gateLoad) note(r request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.log = append(l.log, r)
	for page := range l.waitedFor {
		l.waitedFor[page]++
	}
	l.longest = max(l.longest, l.waitedFor[r.page])
	l.waitedFor[r.page] = 0
}

// mayLeave gives up the place now and then.
func (l *gateLoad) mayLeave(page crawl.PageRef, rng *rand.Rand) {
	if rng.IntN(10) > 0 {
		return
	}
	if _, err := l.s.Leave(l.t.Context(), page.PageID); err != nil {
		l.t.Errorf("leave: %v", err)
	}
}

// rest is a worker's or a workflow's timer.
func (l *gateLoad) rest(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.t.Context().Done():
	}
}

// awaitResume waits as a parked page does.
func (l *gateLoad) awaitResume() {
	l.mu.Lock()
	resumed := l.resumed
	l.mu.Unlock()
	select {
	case <-resumed:
	case <-l.t.Context().Done():
	}
}

// pause pauses and resumes the strict crawl until the load ends.
func (l *gateLoad) pause(rng *rand.Rand) {
	strict := l.crawls[1]
	for !l.over() {
		l.rest(time.Duration(rng.Int64N(int64(200 * time.Millisecond))))
		l.set(strict, crawl.CrawlPaused)
		l.rest(time.Duration(rng.Int64N(int64(50 * time.Millisecond))))
		l.set(strict, crawl.CrawlRunning)
		for more := true; more; {
			e, err := l.s.Unpark(l.t.Context(), strict.ID, 3)
			if err != nil {
				l.t.Errorf("unpark: %v", err)
			}
			more = len(e.Turns) > 0
		}
		l.mu.Lock()
		close(l.resumed)
		l.resumed = make(chan struct{})
		l.mu.Unlock()
	}
	// A page that parked after the last resume has nobody to wait for.
	l.mu.Lock()
	close(l.resumed)
	l.mu.Unlock()
}

func (l *gateLoad) set(c store.CrawlRecord, state crawl.CrawlState) {
	if _, err := l.s.SetCrawlState(l.t.Context(), c.Spec.Name, state); err != nil {
		l.t.Errorf("set %s %s: %v", c.Spec.Name, state, err)
	}
}

// check looks through the log as the site's owner would.
func (l *gateLoad) check() {
	slices.SortFunc(l.log, func(a, b request) int { return a.begun.Compare(b.begun) })
	permits := map[int64]bool{}
	for i, r := range l.log {
		if permits[r.permit] {
			l.t.Errorf("permit %d was begun twice", r.permit)
		}
		permits[r.permit] = true
		if i > 0 {
			l.checkGap(l.log[i-1], r)
		}
	}
	l.t.Logf("%d requests; the longest wait was for %d of others", len(l.log), l.longest)
}

func (l *gateLoad) checkGap(prev, next request) {
	if next.begun.Before(prev.ended) {
		l.t.Errorf("permit %d begun %v before the end of permit %d", next.permit, prev.ended.Sub(next.begun), prev.permit)
	}
	gap := polite.Host{Refusals: polite.RefusalsAtFirst}.Gap(l.demands[prev.page.CrawlID], l.demands[next.page.CrawlID], prev.duration).Length
	if rest := next.begun.Sub(prev.ended); rest < gap.Truncate(time.Microsecond) {
		l.t.Errorf("permit %d begun %v after permit %d, which took %v; want a gap of %v", next.permit, rest, prev.permit, prev.duration, gap)
	}
}
