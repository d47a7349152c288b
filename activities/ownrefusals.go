package activities

import (
	"context"
	"sync"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/polite"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

const (
	// ownRefusalRest is how long an origin's robots.txt counts as unreachable for all crawls
	// because one crawl may not reach the host by its own spec. That says nothing about the
	// host, and another crawl may reach it.
	ownRefusalRest = 30 * time.Second
	// maxOwnRefusals bounds those that a process remembers. At the bound it forgets them all,
	// and each costs one try without a request.
	maxOwnRefusals = 2000
)

// ownRefusal names an origin that a crawl may not reach, and the spec that says so.
type ownRefusal struct {
	crawl, generation int64
	origin            string
}

func refusalOf(view *crawlView, u urlkey.URL) ownRefusal {
	return ownRefusal{view.ID, view.Generation, u.Origin()}
}

// ownRefusals remembers, in one process, the origins whose robots.txt a crawl may not reach.
// The store's record is that of all crawls: a crawl that was refused must neither keep others
// waiting for long nor try again each time before them.
type ownRefusals struct {
	mu    sync.Mutex
	known map[ownRefusal]refusedUntil
}

type refusedUntil struct {
	tries int // in a row
	until time.Time
}

// add notes that a crawl was refused once more, and doubles its wait.
func (r *ownRefusals) add(which ownRefusal, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tries := r.known[which].tries + 1
	if r.known == nil || len(r.known) >= maxOwnRefusals {
		r.known = map[ownRefusal]refusedUntil{}
	}
	r.known[which] = refusedUntil{tries, now.Add(polite.RobotsBackoff(tries, seedOf(which.origin, tries)))}
}

// forget notes that a crawl reached the origin.
func (r *ownRefusals) forget(which ownRefusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, which)
}

// wait returns how long a crawl should wait before it tries again, 0 if it may now.
func (r *ownRefusals) wait(which ownRefusal, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(0, r.known[which].until.Sub(now))
}

// noteReach notes whether a crawl could reach the origin whose robots.txt it asked for, and the
// hosts to which that redirects. A redirect alone says neither: the next hop may be refused.
func (a *Activities) noteReach(view *crawlView, u urlkey.URL, r fetch.Result, state store.RobotsState) {
	switch which := refusalOf(view, u); {
	case fetch.IsRefused(r.Err):
		a.refused.add(which, time.Now())
	case state != store.RobotsRedirected:
		a.refused.forget(which)
	}
}

// awaitsReach answers for a page whose origin its crawl may not reach, as this process has
// found out: the page leaves its line and waits, so that pages of other crawls come first.
func (a *Activities) awaitsReach(ctx context.Context, in contract.AcquireIn, view *crawlView, page store.PageRecord) (out contract.AcquireOut, is bool, err error) {
	u, err := urlkey.Canonical(page.URL)
	if err != nil || page.Visits >= in.Visit || page.State == crawl.Stopped || page.State == crawl.Evicted {
		return contract.AcquireOut{}, false, nil //nolint:nilerr // the gate's answer comes first
	}
	wait := a.refused.wait(refusalOf(view, u), time.Now())
	if wait <= 0 {
		return contract.AcquireOut{}, false, nil
	}
	effects, err := a.stores.Gate.Leave(ctx, page.PageID)
	if err != nil {
		return contract.AcquireOut{}, false, err
	}
	a.carryOut(ctx, effects)
	wait += polite.Jitter(polite.RobotsSpread(wait), uint64(page.PageID))
	return contract.AcquireOut{Answer: contract.AnswerWait, Wait: wait, Reason: polite.WaitWords(store.WaitRobots, 0)}, true, nil
}
