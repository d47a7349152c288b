package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
)

const (
	// presenceMargin is added to the time that a waiter says it will wait in the
	// process, for the transaction of its last ask.
	presenceMargin = 250 * time.Millisecond
	// minWait is the shortest wait that is answered.
	minWait = 50 * time.Millisecond
	// promiseSlack is how far off a promise may be before it is written again: an ask
	// that changes nothing should cost no durable write.
	promiseSlack = time.Second
	// blockedWait is how long the pages of a blocked host sleep. Unblocking turns
	// the first of them; the others follow.
	blockedWait = 24 * time.Hour
)

// asked is the answer of one transaction.
type asked struct {
	store.AcquireResult
	// stays: the asker is recorded as present and checks again after retry.
	stays bool
	retry time.Duration
}

// errMoved: something changed before it was locked; the transaction must be run
// again.
var errMoved = errors.New("changed by another transaction")

// question is one ask within its transaction.
type question struct {
	store     *Store
	tx        Tx
	params    store.AcquireParams
	remaining time.Duration

	// giveUp undoes the Take of params.AtOnce, if it was called.
	giveUp func()

	page    asker
	robots  robotsRow
	gates   []*gateHost
	home    *gateHost
	was     place // the zero place if it stands in no line
	effects store.GateEffects
}

// class is the class of the asker's line, and age is by how much it counts as
// younger than it is: a page whose last visit caused a back-off stands behind the others.
func (q *question) class() (class crawl.Class, age time.Duration) {
	return polite.Behind(q.params.Class, span(q.page.held))
}

// rank is the asker's rank in its line. First visits come in the order of admission;
// the importance of other pages already counts in how often they are due.
func (q *question) rank() float64 {
	if q.params.Class == crawl.ClassFirst {
		return q.page.priority + q.params.Rank
	}
	return q.params.Rank
}

// answer is the whole of one ask.
func (q *question) answer(ctx context.Context) (asked, error) {
	if err := q.open(ctx); err != nil {
		return asked{}, err
	}
	a, err := q.decide(ctx)
	if err != nil {
		return asked{}, err
	}
	for _, g := range q.gates {
		if err := g.save(ctx); err != nil {
			return asked{}, err
		}
	}
	a.Effects = q.effects
	return a, nil
}

// open reads what the answer depends on and locks the hosts that it may change: the
// page's own, the one in whose line it stands, and the one that its robots.txt
// redirects to. They are nearly always the same.
func (q *question) open(ctx context.Context) error {
	id := q.params.Page.PageID
	var was place
	reads := []Step{askerOf(id, &q.page), placeOf(id, &was)}
	origin, err := originOf(q.params.Page.URL) // the page's, unless the caller has its URL wrong
	if err == nil {
		reads = append(reads, robotsOf(origin, &q.robots))
	}
	if err := q.page.found(id, q.tx.Pipeline(ctx, reads...)); err != nil {
		return err
	}
	if origin != q.page.origin {
		if err := q.tx.Pipeline(ctx, robotsOf(q.page.origin, &q.robots)); err != nil {
			return fmt.Errorf("read robots of %s: %w", q.page.origin, err)
		}
	}
	hosts := []int64{q.page.home}
	if was.page != 0 {
		hosts = append(hosts, was.host)
	}
	if q.robots.nextHost != "" {
		next, err := hostByKey(ctx, q.tx, q.robots.nextHost)
		if err != nil {
			return err
		}
		hosts = append(hosts, next)
	}
	reread := func(landed bool) []Step {
		if q.store.lock() == "" && !landed {
			return nil // the one writer is alone: nothing else has changed
		}
		return q.reread(&was)
	}
	if q.gates, err = q.store.openGate(ctx, q.tx, &q.effects, hosts, reread); err != nil {
		return err
	}
	if err := q.page.found(id, nil); err != nil {
		return err
	}
	q.home = q.gate(func(g *gateHost) bool { return g.row.id == q.page.home })
	q.was = was
	if q.was.page != 0 && q.standing() == nil {
		return errMoved
	}
	return nil
}

// reread reads again, under the locks, the data that others may have changed.
func (q *question) reread(was *place) []Step {
	id := q.page.id
	q.page.id = 0 // it may have been forgotten
	return []Step{
		placeOf(id, was),
		oneRow("SELECT f.page_id, f.state, f.visit, c.state FROM frontier f JOIN crawls c ON c.id = f.crawl_id WHERE f.page_id = $1",
			[]any{id}, &q.page.id, &q.page.state, &q.page.visits, &q.page.crawlState),
	}
}

// hostByKey returns the id of a host, which may be new: a redirect's target.
func hostByKey(ctx context.Context, tx Tx, key string) (int64, error) {
	if err := tx.Queue(ctx, "INSERT INTO hosts (host) VALUES ($1) ON CONFLICT (host) DO NOTHING", key); err != nil {
		return 0, fmt.Errorf("add host %s: %w", key, err)
	}
	var id int64
	if err := tx.QueryRow(ctx, "SELECT id FROM hosts WHERE host = $1", []any{key}, &id); err != nil {
		return 0, fmt.Errorf("read host %s: %w", key, err)
	}
	return id, nil
}

func (q *question) gate(is func(*gateHost) bool) *gateHost {
	for _, g := range q.gates {
		if is(g) {
			return g
		}
	}
	return nil
}

// standing is the host in whose line the place stands.
func (q *question) standing() *gateHost {
	return q.gate(func(g *gateHost) bool { return g.row.id == q.was.host })
}

// decide gives the answer and moves the place accordingly.
func (q *question) decide(ctx context.Context) (asked, error) {
	need := q.robots.need(q.page.origin, q.home.now)
	if !need.ready {
		if err := q.loadDuty(ctx); err != nil {
			return asked{}, err
		}
	}
	switch {
	case q.page.stopped():
		return answered(q.page.farewell()), q.leave(ctx)
	case q.page.visits >= int64(q.params.Visit):
		return q.recorded(ctx)
	case q.was.state == placeBegun && q.was.visit == int64(q.params.Visit):
		return q.inFlight(), nil
	case q.page.crawlState == crawl.CrawlPaused:
		return answered(store.GateParked), q.park(ctx)
	case need.unreachable > 0 && q.home.row.blocked == 0:
		a := q.waits(unreachableWait(need.unreachable, q.page.id), store.WaitRobots, 0)
		return a, q.leave(ctx)
	}
	return q.stand(ctx, need)
}

// loadDuty reads which page fetches the origin's robots.txt, if the asker needs the
// file or has to wait for it.
func (q *question) loadDuty(ctx context.Context) error {
	return q.robots.loadDuty(ctx, q.tx, q.page.origin, q.page.id)
}

func answered(a store.GateAnswer) asked {
	return asked{AcquireResult: store.AcquireResult{Answer: a}}
}

func (q *question) waits(wait time.Duration, reason string, position int) asked {
	a := answered(store.GateWait)
	a.Wait, a.Reason, a.Position = max(wait, minWait), reason, position
	return a
}

// leave takes the place out of its line; the next waiter may gain by that.
func (q *question) leave(ctx context.Context) error {
	if q.was.page == 0 {
		return nil
	}
	return q.standing().leave(ctx, q.was)
}

// recorded answers for a visit that is done. A place for a later visit stays.
func (q *question) recorded(ctx context.Context) (asked, error) {
	visit, err := q.store.visitIn(ctx, q.tx, q.page.id, q.params.Visit)
	if err != nil {
		return asked{}, err
	}
	a := answered(store.GateRecorded)
	a.Recorded = &visit
	if q.was.visit > int64(q.params.Visit) {
		return a, nil
	}
	return a, q.leave(ctx)
}

// inFlight answers for a visit whose permit was begun and has not expired: the
// asker has lost the attempt, but the request may still be on its way. After that
// the place waits again.
func (q *question) inFlight() asked {
	g := q.standing()
	free := fromMicros(g.row.expiresAt).Add(g.state().Gap(q.page.demand, q.page.demand, span(g.row.expiresAt-g.row.begunAt)).Length)
	a := q.waits(g.until(free), store.WaitDelay, 0)
	a.stays, a.retry = a.Wait <= q.remaining, a.Wait
	return a
}

// park keeps the place, with its age, until the crawl is resumed.
func (q *question) park(ctx context.Context) error {
	g := q.home
	is := q.newPlace(g)
	if q.was.page != 0 {
		g = q.standing()
		if is.visit == q.was.visit {
			is = q.was
		}
		is.host = g.row.id
	}
	return g.park(ctx, q.was, is)
}

// newPlace is the asker's place on its arrival.
func (q *question) newPlace(g *gateHost) place {
	class, age := q.class()
	return place{
		page: q.page.id, host: g.row.id, home: q.page.home, crawl: q.page.crawl, visit: int64(q.params.Visit),
		class: int64(class), rank: q.rank(), state: placeWaiting, origin: q.page.origin, arrived: g.now + spanMicros(age),
	}
}

// stand puts the asker into its line, or leaves it there, grants what can be
// granted, and answers with its permit or its wait.
func (q *question) stand(ctx context.Context, need robotsNeed) (asked, error) {
	g, is, err := q.join(ctx, need)
	if err != nil {
		return asked{}, err
	}
	if is.state == placeGranted {
		return q.granted(is), nil
	}
	w := &waiter{was: q.was, place: is, robots: q.robots}
	pump, err := g.pump(ctx, w)
	if err != nil {
		return asked{}, err
	}
	if w.place.state == placeGranted {
		return q.grantedNow(ctx, g, w.place, pump)
	}
	return q.wait(ctx, g, w, pump)
}

// join returns the host whose line the asker belongs to, and its place there,
// not stored yet.
func (q *question) join(ctx context.Context, need robotsNeed) (*gateHost, place, error) {
	g := q.home
	follows := need.host != "" && q.robots.duty == 0 && q.home.row.blocked == 0
	if follows {
		g = q.gate(func(g *gateHost) bool { return g.row.host == need.host })
	}
	is := q.was
	if is.page == 0 || is.visit != int64(q.params.Visit) || is.state == placeBegun {
		is = q.newPlace(g)
	}
	if is.state == placeGranted && q.keeps(g, is, need) {
		return g, is, nil
	}
	if is.state != placeWaiting {
		is = is.withdrawn(is.kind)
	}
	if q.was.state == placeBooked {
		is.arrived = min(is.arrived, g.now) // a person may ask before the page is due
	}
	class, _ := q.class()
	is.class, is.rank, is.lapsed = int64(class), q.rank(), 0
	if is.kind = kindPage; !need.ready && (follows || q.was.kind == kindRobots && q.robots.duty == 0) {
		is.kind = kindRobots
	}
	is.host = g.row.id
	if from := q.standingElsewhere(g); from != nil {
		if err := from.recount(ctx, q.was, is); err != nil {
			return nil, place{}, err
		}
	}
	own, err := g.line(ctx, is.crawl, class)
	if err != nil {
		return nil, place{}, err
	}
	if !q.was.counted() || q.was.host != is.host || q.was.class != is.class || q.was.visit != is.visit {
		is.ahead, is.departed = own.Waiting, own.Departed
	}
	return g, is, nil
}

// standingElsewhere is the host whose line the place leaves for g's, if any.
func (q *question) standingElsewhere(g *gateHost) *gateHost {
	if q.was.page == 0 || q.was.host == g.row.id {
		return nil
	}
	return q.standing()
}

// keeps reports whether an un-begun permit would still be granted: not if its host
// has gone into back-off or was blocked, or rests for longer than its owner can wait to begin; if its
// robots.txt has been fetched or has expired meanwhile; or if the permit is too old.
func (q *question) keeps(g *gateHost, is place, need robotsNeed) bool {
	if g.row.id != is.host || g.row.blocked != 0 {
		return false
	}
	if free := g.free(q.page.demand); free.Backoff || g.until(free.At) > polite.GrantAhead {
		return false
	}
	if is.kind == kindRobots {
		return need.url == is.url
	}
	return need.ready && !g.outdated(is)
}

// granted answers with the place's permit.
func (q *question) granted(is place) asked {
	a := answered(store.GateGranted)
	a.Permit = crawl.Permit{
		ID: is.permit, HostID: is.host, Kind: crawl.PermitPage, URL: q.page.url,
		Lifetime: span(q.page.life), Generation: q.page.generation,
	}
	if is.kind == kindRobots {
		a.Permit.Kind, a.Permit.URL = crawl.PermitRobots, is.url
		return a
	}
	a.Robots = q.robots.record
	return a
}

// grantedNow answers with a permit that the pump has just granted, and begins it if the
// asker may: the host is free, and nobody waits or has a permit there. If others want the
// host, a begun permit on its way through Temporal would keep it idle; two granted ones do
// not.
func (q *question) grantedNow(ctx context.Context, g *gateHost, is place, pump pumped) (asked, error) {
	a := q.granted(is)
	free := g.free(q.page.demand)
	contended := g.waiters() > 0 || len(pump.granted) > 1 || g.row.flightPermit != 0
	if q.params.AtOnce == nil || is.kind != kindPage || contended || free.Estimated || g.until(free.At) > 0 || !q.params.AtOnce.Ready(a.AcquireResult) {
		return a, g.write(ctx, is)
	}
	// Only now, or everybody who waits in the line would hold what others need to begin.
	giveUp, err := q.params.AtOnce.Take(ctx)
	if err != nil {
		return a, g.write(ctx, is) // it begins later, by Begin
	}
	q.giveUp = giveUp
	a.Begun = &store.BeginResult{At: g.at()}
	return a, g.start(ctx, a.Permit, q.page, is)
}

// wait stores the place with its promise, and turns others whose promise is too
// late.
func (q *question) wait(ctx context.Context, g *gateHost, w *waiter, pump pumped) (asked, error) {
	position, err := g.position(ctx, &w.place, pump.granted)
	if err != nil {
		return asked{}, err
	}
	if err := q.loadDuty(ctx); err != nil {
		return asked{}, err
	}
	free, step := g.free(q.page.demand), g.expected(q.page.demand)
	at := polite.Promise(free.At, position, step)
	reason := waitReason(free, position)
	switch {
	case g.row.blocked != 0:
		if at, reason = g.at().Add(blockedWait), store.WaitBlocked; g != q.home {
			reason = store.WaitRobotsBlocked
		}
	case q.robots.duty != 0 && q.robots.dutyUntil > micros(at):
		at, reason = fromMicros(q.robots.dutyUntil), store.WaitLine
	}
	if reason == store.WaitLine && q.sleeps(g, w, at, position) {
		at, w.place.called = polite.Uncalled(at, g.at()), sleeps
	} else {
		w.place.called = comesAlone
	}
	stays := q.promise(g, w, at)
	if err := g.put(ctx, w.was, w.place); err != nil {
		return asked{}, err
	}
	if !stays {
		if own, err := g.turn(ctx, pump, q.page.id); err != nil {
			return asked{}, err
		} else if !own.IsZero() {
			at = own
		}
	}
	a := q.waits(g.until(at)-min(polite.Lead, q.params.Patience), reason, position)
	a.stays = stays
	a.retry = polite.PollAfter(position, pump.soon, g.until(at), step)
	return a, nil
}

// sleeps reports whether the waiter sleeps until it is called. One that was called and
// came too early comes again by itself.
func (q *question) sleeps(g *gateHost, w *waiter, at time.Time, position int) bool {
	return q.params.Callable && polite.Called(position) && w.was.called != wasCalled && !q.canStay(g, at)
}

// canStay reports whether the asker can wait in the process until it is promised.
func (q *question) canStay(g *gateHost, at time.Time) bool {
	return q.remaining > 0 && g.until(at)-polite.Horizon <= q.remaining && g.row.blocked == 0
}

// promise records when the waiter should come, and until when it is present, and
// reports whether it is.
func (q *question) promise(g *gateHost, w *waiter, at time.Time) bool {
	promised := ceilMicros(at)
	if off := span(promised - w.place.promised); off > promiseSlack || off < -promiseSlack {
		w.place.promised = promised
	}
	stays := q.canStay(g, at)
	switch leaves := g.now + spanMicros(q.remaining); {
	case !stays:
		w.place.present = 0
	case w.place.present < leaves:
		w.place.present = leaves + spanMicros(presenceMargin)
	}
	return stays
}

func waitReason(free polite.Free, position int) string {
	switch {
	case free.Backoff:
		return store.WaitBackoff
	case position > 0:
		return store.WaitLine
	}
	return store.WaitDelay
}
