package sqlstore

import (
	"context"
	"errors"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
)

// begun is the result of one transaction of Begin.
type begun struct {
	store.BeginResult
	refused string        // why, in plain words
	retry   time.Duration // when to check again while waiting
}

// begin decides whether the permit's request may start now, and starts it.
func (g *gateHost) begin(ctx context.Context, p store.BeginParams, page asker, held place) (begun, error) {
	why, err := g.refuse(ctx, p, page, held)
	if why != "" || err != nil {
		return begun{refused: why}, err
	}
	free := g.free(page.demand)
	if wait := g.until(free.At); wait > 0 || free.Estimated {
		b := begun{BeginResult: store.BeginResult{Wait: max(wait, time.Microsecond)}, retry: max(wait, time.Microsecond)}
		if free.Estimated { // the release of the request in flight wakes it
			b.retry = min(polite.PollEvery, g.until(fromMicros(g.row.expiresAt)))
		}
		return b, nil
	}
	return begun{BeginResult: store.BeginResult{At: g.at()}}, g.start(ctx, p.Permit, page, held)
}

// refuse returns why a permit gives no right to begin, "" if it does, and puts the
// place where it then belongs.
func (g *gateHost) refuse(ctx context.Context, p store.BeginParams, page asker, held place) (string, error) {
	switch {
	case g.row.blocked != 0:
		return "the host is blocked", nil
	case held.permit != p.Permit.ID || held.host != p.Permit.HostID || held.visit != int64(p.Visit):
		return "it was taken back", nil
	case held.state != placeGranted:
		return "it has begun already", nil
	case page.visits >= held.visit:
		return "the visit is recorded already", g.drop(ctx, held)
	case page.stopped():
		return "the crawl or the page is stopped", g.drop(ctx, held)
	case page.crawlState == crawl.CrawlPaused:
		is := held.withdrawn(kindPage)
		is.state = placeParked
		return "the crawl is paused", g.put(ctx, held, is)
	case g.outdated(held):
		return "it is too old", g.requeue(ctx, held, kindPage)
	}
	return "", nil
}

// outdated reports whether a place's permit is too old to begin. One for a robots.txt never
// is: it asks for what is in force.
func (g *gateHost) outdated(p place) bool {
	return p.kind == kindPage && polite.Outdated(fromMicros(p.grantedAt), g.at())
}

// start puts the permit's request in flight.
func (g *gateHost) start(ctx context.Context, permit crawl.Permit, page asker, held place) error {
	h := &g.row
	life := spanMicros(permit.Lifetime)
	if life == 0 {
		life = page.life
	}
	h.flightPermit, h.flightPage, h.flightRobots = held.permit, held.page, held.kind
	h.begunAt, h.expiresAt = g.now, g.now+life
	asked := g.state().Settled(page.demand)
	h.lastDelay, h.lastFactor, h.lastCap = spanMicros(asked.Delay), asked.Factor, spanMicros(asked.MaxCrawlDelay)
	is := held
	is.state = placeBegun
	return g.put(ctx, held, is)
}

// giveBack undoes start for a request that was not made. The host's last request and
// the gap after it are as before: when this one began, that gap was over.
func (g *gateHost) giveBack(ctx context.Context, permit crawl.Permit) error {
	h := &g.row
	if permit.ID == 0 || h.flightPermit != permit.ID {
		return nil
	}
	page := h.flightPage
	h.flightPermit, h.flightPage, h.flightRobots, h.begunAt, h.expiresAt = 0, 0, 0, 0, 0
	held, err := loadPlace(ctx, g.tx, page)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err == nil && held.host == h.id && held.permit == permit.ID && held.state == placeBegun {
		is := held
		is.state, is.grantedAt = placeGranted, g.now
		if err := g.put(ctx, held, is); err != nil {
			return err
		}
		if err := g.signal(ctx, page, g.at()); err != nil {
			return err
		}
	}
	if err := g.advance(ctx); err != nil {
		return err
	}
	return g.wakeGranted(ctx)
}

// meanShare is the part of the newest request in the mean duration.
const meanShare = 8

// release ends the permit's request. The answer of a permit that has expired
// still counts for the back-off, once; anything else about it, and everything
// about a permit released before, is ignored.
func (g *gateHost) release(ctx context.Context, p store.ReleaseParams) error {
	h := &g.row
	switch p.Permit.ID {
	case 0:
		return nil
	case h.flightPermit:
		duration := spanMicros(p.Duration)
		g.average(p.Answer, duration)
		end := g.now
		if p.Cut {
			end += polite.CutGrace.Microseconds()
		}
		if err := g.land(ctx, end, duration, true); err != nil {
			return err
		}
	case h.lost:
		h.lost = 0
	default:
		return nil
	}
	held := g.strain(p)
	g.resettle()
	if g.effects != nil {
		g.effects.Held = held
	}
	if err := g.advance(ctx); err != nil {
		return err
	}
	return g.wakeGranted(ctx) // also of those whom advance has granted nothing
}

// average adds a request's duration to the mean of those that the host was asked.
func (g *gateHost) average(answer store.HostAnswer, duration int64) {
	h := &g.row
	if answer == store.HostNone {
		return
	}
	if h.mean == 0 {
		h.mean = duration
	}
	h.mean += (duration - h.mean) / meanShare
}

// strain applies the back-off that the answer asks for to the host, and returns how
// long the host is left alone because of it.
func (g *gateHost) strain(p store.ReleaseParams) time.Duration {
	h := &g.row
	if p.Answer == store.HostNone {
		return 0
	}
	answer := polite.Answer{
		Throttled: p.Answer == store.HostThrottled, Failed: p.Answer == store.HostFailed,
		RetryAfter: p.RetryAfter, HasRetryAfter: p.HasRetryAfter,
	}
	backoff := polite.HostBackoff(
		polite.Strain{Level: int(h.backoffLevel), Failures: int(h.failures), Quiet: g.at().Sub(fromMicros(h.quietSince))},
		answer, uint64(h.id)<<32^uint64(p.Permit.ID))
	h.refusals = polite.Refusals(h.refusals, answer)
	h.backoffLevel, h.failures = int64(backoff.Level), int64(backoff.Failures)
	if until := g.now + spanMicros(backoff.For); backoff.For > 0 && until >= h.backoffUntil {
		h.backoffUntil, h.backoffReason = until, jsonText(backoff.Reason)
	}
	if backoff.For > 0 {
		h.quietSince = h.backoffUntil
	}
	if backoff.Forgiven {
		h.quietSince = g.now
	}
	return backoff.For
}

// resettle sets the automatic delay of the request that has just ended, by its answer.
func (g *gateHost) resettle() {
	for _, l := range g.lines {
		if l.Crawl == g.landed && l.demand.Auto {
			g.row.lastDelay = spanMicros(g.state().Floor(l.demand).Length)
			return
		}
	}
}

// wakeGranted wakes the Begins that wait for the host.
func (g *gateHost) wakeGranted(ctx context.Context) error {
	granted, err := g.granted(ctx)
	for _, p := range granted {
		g.tx.Wake(p.page)
	}
	return err
}
