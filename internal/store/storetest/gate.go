package storetest

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
)

// RunGate tests the host gate: each promise of interface store.Gate, and all of
// them together under load. open returns an empty store that is closed after the
// test. It takes a few seconds more than the
// load, which RECRAWL_GATE_LOAD makes longer ("10m").
func RunGate(t *testing.T, open func(t *testing.T) store.Store) {
	cases := map[string]func(*gateWorld){
		"GrantsAFreeHost":             grantsFreeHost,
		"IsReEntrant":                 isReEntrant,
		"GrantsTwoAtMost":             grantsTwoAtMost,
		"BeginsOnce":                  beginsOnce,
		"OneRequestInFlight":          oneInFlight,
		"GapIsTheLargestDemand":       gapIsLargest,
		"GapCountsTheDuration":        gapCountsDuration,
		"GapIsKeptInTime":             gapIsKept,
		"ExpiryIsAnEnd":               expiryIsAnEnd,
		"LostAttemptWaitsAndAsks":     lostAttempt,
		"LateReleaseChangesNoGap":     lateRelease,
		"LateThrottleStillHolds":      lateThrottle,
		"UnstartedGrantCostsNothing":  unstartedGrant,
		"LateBeginSucceeds":           lateBegin,
		"AbandonedGrantIsTakenBack":   abandonedGrant,
		"RetryAfterHolds":             retryAfterHolds,
		"ThrottleHoldsWithoutHeader":  throttleHolds,
		"ThirdFailureHolds":           thirdFailureHolds,
		"PromisesFollowTheLine":       promisesFollowLine,
		"PromisesTakeTurns":           promisesTakeTurns,
		"RankGoesFirst":               rankGoesFirst,
		"LineIsServedInOrder":         servedInOrder,
		"EighthGoesToTheOldest":       eighthToOldest,
		"LeavingTurnsTheNext":         leavingTurns,
		"ReleaseTurnsTheHead":         releaseTurns,
		"NudgeTurnsTheHead":           nudgeTurns,
		"PausedIsParked":              pausedIsParked,
		"PausedMayNotBegin":           pausedMayNotBegin,
		"UnparkGivesTurns":            unparkGivesTurns,
		"BlockedWaits":                blockedWaits,
		"BlockedMayNotBegin":          blockedMayNotBegin,
		"BlockedWakesWaiters":         blockedWakes,
		"UnblockGivesTurns":           unblockGivesTurns,
		"UnblockForgetsLostPermits":   unblockLostPermit,
		"BlockedWithoutRobots":        blockedWithoutRobots,
		"UnknownHostIsBlocked":        unknownIsBlocked,
		"ForgottenLeaves":             forgottenLeaves,
		"ForgottenInFlightKeepsGap":   forgottenInFlight,
		"ForgottenWaiterReturns":      forgottenWaiter,
		"StoppedLeaves":               stoppedLeaves,
		"StoppedPageLeaves":           stoppedPageLeaves,
		"RecordedVisitIsAnswered":     recordedVisit,
		"NewVisitReplacesThePlace":    newVisitReplaces,
		"RobotsForOneWaiter":          robotsForOne,
		"RobotsDutyOutlivesItsPermit": robotsDuty,
		"RobotsRedirectIsFollowed":    robotsRedirect,
		"RobotsRedirectForOneWaiter":  robotsRedirectForOne,
		"RobotsUnreachableWaits":      robotsUnreachable,
		"RobotsExpires":               robotsExpires,
		"WaiterIsWoken":               waiterIsWoken,
		"CancelledWaiterReturns":      cancelledWaiter,
	}
	for name, run := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(newGateWorld(t, open(t)))
		})
	}
	t.Run("Load", func(t *testing.T) {
		t.Parallel()
		runGateLoad(newGateWorld(t, open(t)), gateTime())
	})
}

func grantsFreeHost(w *gateWorld) {
	pages := w.open("news", time.Minute, 1)
	a := w.ask(pages[0])
	if a.Answer != store.GateGranted || a.Permit.Kind != crawl.PermitPage || a.Permit.URL != pages[0].URL {
		w.t.Fatalf("answer %s with %+v", a.Answer, a.Permit)
	}
	if a.Robots.State != store.RobotsAllowAll || a.Robots.Origin != "http://host.test" {
		w.t.Errorf("robots %+v", a.Robots)
	}
	if a.Permit.Lifetime < crawl.DefaultSpec().Fetch.TimeLimit.Std() || a.Permit.Generation != 1 {
		w.t.Errorf("lifetime %v, generation %d", a.Permit.Lifetime, a.Permit.Generation)
	}
}

func isReEntrant(w *gateWorld) {
	pages := w.open("news", time.Minute, 3)
	first := w.grant(pages[0])
	w.waits(pages[1])
	before := w.waits(pages[2])
	w.waits(pages[1])
	if again := w.grant(pages[0]); again != first {
		w.t.Errorf("asking again: %+v, was %+v", again, first)
	}
	if again := w.waits(pages[2]); again.Position != before.Position {
		w.t.Errorf("asking again: position %d, was %d", again.Position, before.Position)
	}
	w.begin(pages[0], first)
}

// The second permit is on its way while the first one's request runs; a third
// would only keep somebody from being chosen later. On a host with a gap beyond
// the hand-over there is not even a second.
func grantsTwoAtMost(w *gateWorld) {
	pages := w.open("quick", time.Millisecond, 3)
	w.grant(pages[0])
	w.grant(pages[1])
	if a := w.waits(pages[2]); a.Position != 2 || a.Reason != store.WaitLine {
		w.t.Errorf("position %d, reason %s", a.Position, a.Reason)
	}
	slow := w.pages(w.crawl("slow", time.Minute), "slow.test", 2)
	w.allow("http://slow.test")
	w.grant(slow[0])
	w.waits(slow[1])
}

func beginsOnce(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 1)
	permit := w.grant(pages[0])
	w.begin(pages[0], permit)
	w.refused(pages[0], permit)
	w.release(permit)
	w.refused(pages[0], permit)
	forged := permit
	forged.ID += 7
	w.refused(pages[0], forged)
}

func oneInFlight(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 2)
	first, second := w.grant(pages[0]), w.grant(pages[1])
	w.begin(pages[0], first)
	if b := w.tryBegin(pages[1], second); b.Wait == 0 {
		w.t.Fatal("two requests in flight")
	}
	ended := w.release(first)
	if at := w.begin(pages[1], second); at.Before(ended.Add(time.Millisecond)) {
		w.t.Errorf("begun %v after the end, within the gap", at.Sub(ended))
	}
}

// The demands of both crawls count, whichever comes first, and the site's.
func gapIsLargest(w *gateWorld) {
	const delay, strict, site = time.Minute, 2 * time.Minute, 3 * time.Hour
	tests := []struct {
		name        string
		prev, next  time.Duration
		crawlDelay  time.Duration
		want        time.Duration
		maxOfCrawls time.Duration // max_crawl_delay
	}{
		{name: "equal", prev: delay, next: delay, want: delay},
		{name: "prev", prev: strict, next: delay, want: strict},
		{name: "next", prev: delay, next: strict, want: strict},
		{name: "site", prev: delay, next: delay, crawlDelay: site, maxOfCrawls: 4 * time.Hour, want: site},
		{name: "cap", prev: delay, next: delay, crawlDelay: site, maxOfCrawls: time.Hour, want: time.Hour},
		{name: "low", prev: delay, next: strict, crawlDelay: site, maxOfCrawls: time.Second, want: strict},
	}
	for _, tc := range tests {
		host, ceiling := tc.name+".test", func(s *crawl.Spec) { s.Politeness.MaxCrawlDelay = crawl.Duration(tc.maxOfCrawls) }
		prev := w.pages(w.crawl(tc.name+"-prev", tc.prev, ceiling), host, 1)[0]
		next := w.pages(w.crawl(tc.name+"-next", tc.next, ceiling), host, 1)[0]
		w.robots(store.SaveRobotsParams{
			Origin: "http://" + host, State: store.RobotsParsed, Status: 200, Expires: time.Hour, CrawlDelay: tc.crawlDelay,
		})
		ended := w.request(prev)
		a := w.waits(next)
		if a.Reason != store.WaitDelay || a.Position != 0 {
			w.t.Errorf("%s: reason %s, position %d", tc.name, a.Reason, a.Position)
		}
		w.about(tc.name, a.Wait, tc.want, ended)
	}
}

func gapCountsDuration(w *gateWorld) {
	pages := w.pages(w.crawl("news", time.Second, func(s *crawl.Spec) { s.Politeness.Factor = 2 }), "host.test", 2)
	w.allow("http://host.test")
	ended := w.request(pages[0], func(p *store.ReleaseParams) { p.Duration = time.Minute })
	w.about("the wait", w.waits(pages[1]).Wait, 2*time.Minute, ended)
}

// In real time, by the store's clock, and with nobody asking in between.
func gapIsKept(w *gateWorld) {
	const delay = 150 * time.Millisecond
	pages := w.open("news", delay, 4)
	ended := w.request(pages[0])
	for _, page := range pages[1:] {
		permit := w.grant(page, patient)
		if at := w.begin(page, permit); at.Before(ended.Add(delay)) {
			w.t.Errorf("begun %v after the end", at.Sub(ended))
		}
		ended = w.release(permit)
	}
}

// begun is a request that was begun and is never heard of again.
func (w *gateWorld) lost(page crawl.PageRef, life time.Duration) (crawl.Permit, time.Time) {
	w.t.Helper()
	permit := w.grant(page, patient)
	permit.Lifetime = life
	return permit, w.begin(page, permit)
}

func expiryIsAnEnd(w *gateWorld) {
	const delay, life = 50 * time.Millisecond, 100 * time.Millisecond
	pages := w.open("news", delay, 2)
	_, begun := w.lost(pages[0], life)
	permit := w.grant(pages[1], patient)
	if at := w.begin(pages[1], permit); at.Before(begun.Add(life + delay)) {
		w.t.Errorf("begun %v after a request that lasts %v", at.Sub(begun), life)
	}
}

func lostAttempt(w *gateWorld) {
	const delay, life = 50 * time.Millisecond, 200 * time.Millisecond
	pages := w.open("news", delay, 1)
	lost, begun := w.lost(pages[0], life)
	a := w.waits(pages[0])
	w.about("the wait", a.Wait, life+delay, begun)
	permit := w.grant(pages[0], patient)
	if permit.ID == lost.ID {
		w.t.Fatal("the same permit again")
	}
	if at := w.begin(pages[0], permit); at.Before(begun.Add(life + delay)) {
		w.t.Errorf("begun again after %v", at.Sub(begun))
	}
}

func lateRelease(w *gateWorld) {
	const delay, life = time.Minute, time.Millisecond
	pages := w.open("news", delay, 2)
	permit, begun := w.lost(pages[0], life)
	w.waits(pages[1])
	w.expired(begun, life)
	w.release(permit)
	w.release(permit)
	// First in the line again, with the age it had.
	w.about("the wait", w.waits(pages[0]).Wait, life+delay, begun)
}

// expired returns when a permit's life is over by the store's clock.
func (w *gateWorld) expired(begun time.Time, life time.Duration) {
	w.t.Helper()
	for w.now().Before(begun.Add(life)) {
		if err := w.t.Context().Err(); err != nil {
			w.t.Fatal(err)
		}
	}
}

func lateThrottle(w *gateWorld) {
	const life = time.Millisecond
	pages := w.open("news", time.Millisecond, 2)
	permit, begun := w.lost(pages[0], life)
	w.expired(begun, life)
	held := w.release(permit, throttled(time.Hour))
	w.leave(pages[0]) // it would come first
	a := w.waits(pages[1])
	w.about("the wait", a.Wait, time.Hour, held)
	if a.Reason != store.WaitBackoff {
		w.t.Errorf("reason %s", a.Reason)
	}
}

func unstartedGrant(w *gateWorld) {
	pages := w.open("news", time.Hour, 2)
	permit := w.grant(pages[0])
	w.leave(pages[0])
	if b := w.tryBegin(pages[1], w.grant(pages[1])); b.Wait != 0 {
		w.t.Errorf("a grant that was not begun costs %v", b.Wait)
	}
	w.refused(pages[0], permit)
}

// While nobody else is granted the slot, a permit holds; here others ask for it,
// and the host rests, and asks again, before it is begun.
func lateBegin(w *gateWorld) {
	pages := w.open("news", 20*time.Millisecond, 3)
	w.request(pages[0])
	permit := w.grant(pages[1], patient)
	w.request(pages[2])
	w.begin(pages[1], permit)
}

// Who has a permit and does not begin holds the host up for a while only.
func abandonedGrant(w *gateWorld) {
	pages := w.open("news", polite.Horizon+time.Second, 2)
	permit := w.grant(pages[0])
	granted := w.now()
	w.grant(pages[1], func(p *store.AcquireParams) { p.Patience = 2 * polite.GrantLife })
	if held := w.now().Sub(granted); held < polite.GrantLife {
		w.t.Errorf("taken back after %v", held)
	}
	w.refused(pages[0], permit)
}

func throttled(retryAfter time.Duration) func(*store.ReleaseParams) {
	return func(p *store.ReleaseParams) {
		p.Answer, p.RetryAfter, p.HasRetryAfter = store.HostThrottled, retryAfter, true
	}
}

func answered(a store.HostAnswer) func(*store.ReleaseParams) {
	return func(p *store.ReleaseParams) { p.Answer = a }
}

// The whole host is held: other crawls, and who has a permit already.
func retryAfterHolds(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 3)
	other := w.pages(w.crawl("other", time.Millisecond), "host.test", 1)[0]
	first, second := w.grant(pages[0]), w.grant(pages[1])
	w.begin(pages[0], first)
	held := w.release(first, throttled(time.Hour))
	w.about("the wait of a permit", w.tryBegin(pages[1], second).Wait, time.Hour, held)
	for _, page := range []crawl.PageRef{pages[1], pages[2], other} {
		a := w.waits(page)
		if a.Reason != store.WaitBackoff || a.Wait < 59*time.Minute {
			w.t.Errorf("%s: %s for %v", page.URL, a.Reason, a.Wait)
		}
	}
	w.refused(pages[1], second)
	if h := w.host(other.CrawlID); h.BackoffUntil.Before(held.Add(time.Hour)) || h.BackoffLevel != 1 {
		w.t.Errorf("the host is held until %v at level %d", h.BackoffUntil, h.BackoffLevel)
	}
}

func throttleHolds(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 2)
	w.request(pages[0], answered(store.HostThrottled))
	if a := w.waits(pages[1]); a.Reason != store.WaitBackoff || a.Wait < 50*time.Second || a.Wait > 70*time.Second {
		w.t.Errorf("%s for %v, want about a minute of back-off", a.Reason, a.Wait)
	}
}

func thirdFailureHolds(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 6)
	w.request(pages[0], answered(store.HostFailed))
	w.request(pages[1], answered(store.HostFailed))
	w.request(pages[2]) // ends the row
	w.request(pages[3], answered(store.HostFailed))
	w.request(pages[4], answered(store.HostFailed))
	if h := w.host(pages[0].CrawlID); h.BackoffLevel != 0 {
		w.t.Fatalf("level %d after two failures in a row", h.BackoffLevel)
	}
	w.request(pages[5], answered(store.HostFailed))
	if a := w.waits(pages[0], visit(2)); a.Reason != store.WaitBackoff {
		w.t.Errorf("%s for %v after three failures in a row", a.Reason, a.Wait)
	}
}

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

// Who leaves the line with the page's state turns nobody; maintenance does.
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

func robotsForOne(w *gateWorld) {
	pages := w.pages(w.crawl("news", 20*time.Millisecond), "host.test", 3)
	secure := w.secure(w.crawl("news", 20*time.Millisecond), "host.test")
	permit := w.grant(pages[0])
	if permit.Kind != crawl.PermitRobots || permit.URL != "http://host.test/robots.txt" {
		w.t.Fatalf("permit %+v", permit)
	}
	if again := w.grant(pages[0]); again != permit {
		w.t.Errorf("asking again: %+v", again)
	}
	w.waits(pages[1])
	w.waits(secure) // the host's gap may change by what robots.txt says
	w.begin(pages[0], permit)
	w.waits(pages[1])
	w.robots(store.SaveRobotsParams{
		Origin: "http://host.test", State: store.RobotsParsed, Status: 200, Text: "User-agent: *", Expires: time.Hour,
	})
	ended := w.release(permit)
	a := w.ask(pages[0], patient)
	if a.Answer != store.GateGranted || a.Permit.Kind != crawl.PermitPage || a.Robots.State != store.RobotsParsed || a.Robots.TextDigest == "" {
		w.t.Fatalf("answer %s, permit %+v, robots %+v", a.Answer, a.Permit, a.Robots)
	}
	if at := w.begin(pages[0], a.Permit); at.Before(ended.Add(20 * time.Millisecond)) {
		w.t.Errorf("robots.txt had no gap: %v", at.Sub(ended))
	}
	w.release(a.Permit)
	w.request(pages[1])
	if permit := w.grant(secure, patient); permit.Kind != crawl.PermitRobots || permit.URL != "https://host.test/robots.txt" {
		w.t.Errorf("the other origin's permit is %+v", permit)
	}
}

// Between the release of a robots permit and the next ask of its page nobody
// else gets one for the same origin: the answer may not be stored yet.
func robotsDuty(w *gateWorld) {
	pages := w.pages(w.crawl("news", time.Millisecond), "host.test", 2)
	permit := w.grant(pages[0])
	w.begin(pages[0], permit)
	w.release(permit)
	w.waits(pages[1])
	next := w.grant(pages[0], patient)
	if next.Kind != crawl.PermitRobots || next.ID == permit.ID {
		w.t.Fatalf("permit %+v", next)
	}
	w.leave(pages[0])
	if taken := w.grant(pages[1], patient); taken.Kind != crawl.PermitRobots {
		w.t.Errorf("permit %+v", taken)
	}
}

// redirected makes the robots.txt of host.test a redirect to another host.
func (w *gateWorld) redirected(to string) {
	w.t.Helper()
	w.robots(store.SaveRobotsParams{
		Origin: "http://host.test", State: store.RobotsRedirected, Status: 301, Expires: time.Hour,
		Next: "http://" + to + "/robots.txt", NextHost: to, Hops: 1,
	})
}

func robotsRedirect(w *gateWorld) {
	const delay = 100 * time.Millisecond
	c := w.crawl("news", delay)
	page := w.pages(c, "host.test", 1)[0]
	there := w.pages(c, "there.test", 1)[0]
	w.allow("http://there.test")
	w.redirected("there.test")
	busy := w.grant(there)
	w.begin(there, busy)
	permit := w.grant(page, patient)
	if permit.Kind != crawl.PermitRobots || permit.URL != "http://there.test/robots.txt" || permit.HostID != busy.HostID {
		w.t.Fatalf("permit %+v", permit)
	}
	if b := w.tryBegin(page, permit); b.Wait == 0 {
		w.t.Fatal("two requests in flight to the redirect's target")
	}
	ended := w.release(busy)
	if at := w.begin(page, permit); at.Before(ended.Add(delay)) {
		w.t.Errorf("the hop began %v after the end", at.Sub(ended))
	}
	w.allow("http://host.test")
	w.release(permit)
	home := w.grant(page)
	if home.Kind != crawl.PermitPage || home.HostID == busy.HostID || home.URL != page.URL {
		w.t.Errorf("permit %+v", home)
	}
}

func robotsRedirectForOne(w *gateWorld) {
	pages := w.pages(w.crawl("news", time.Millisecond), "host.test", 2)
	w.redirected("there.test")
	permit := w.grant(pages[0])
	w.waits(pages[1])
	w.leave(pages[0])
	if taken := w.grant(pages[1]); taken.Kind != crawl.PermitRobots || taken.HostID != permit.HostID {
		w.t.Errorf("permit %+v", taken)
	}
}

func robotsUnreachable(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 2)
	permit := w.grant(pages[0])
	w.ask(pages[1])
	w.robots(store.SaveRobotsParams{Origin: "http://host.test", State: store.RobotsUnreachable, Expires: time.Hour, Problem: "HTTP 500"})
	for _, page := range pages {
		a := w.waits(page, patient)
		if a.Reason != store.WaitRobots || a.Wait < 59*time.Minute || a.Wait > 61*time.Minute {
			w.t.Errorf("%s for %v", a.Reason, a.Wait)
		}
	}
	w.refused(pages[0], permit)
	if h := w.host(pages[0].CrawlID); h.Waiting != 0 {
		w.t.Errorf("%d waiting", h.Waiting)
	}
}

func robotsExpires(w *gateWorld) {
	pages := w.pages(w.crawl("news", time.Millisecond), "host.test", 1)
	w.robots(store.SaveRobotsParams{Origin: "http://host.test", State: store.RobotsParsed, Status: 200, Expires: -time.Second})
	if permit := w.grant(pages[0]); permit.Kind != crawl.PermitRobots {
		w.t.Errorf("permit %+v", permit)
	}
}

// A waiter in the process has its permit as soon as the slot is free, long
// before it would look by itself.
func waiterIsWoken(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 3)
	w.grant(pages[0])
	w.grant(pages[1])
	answers := make(chan store.AcquireResult, 1)
	go func() {
		a, err := w.s.Acquire(w.t.Context(), store.AcquireParams{Page: pages[2], Visit: 1, Class: crawl.ClassRevisit, Patience: gatePatience})
		if err != nil {
			w.t.Error(err)
		}
		answers <- a
	}()
	for w.host(pages[0].CrawlID).Waiting == 0 { // until the waiter is there
		if err := w.t.Context().Err(); err != nil {
			w.t.Fatal(err)
		}
	}
	w.leave(pages[0])
	if a := <-answers; a.Answer != store.GateGranted {
		w.t.Errorf("answer %s", a.Answer)
	}
}

func cancelledWaiter(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 3)
	w.grant(pages[0])
	w.grant(pages[1])
	ctx, cancel := context.WithCancel(w.t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := w.s.Acquire(ctx, store.AcquireParams{Page: pages[2], Visit: 1, Class: crawl.ClassRevisit, Patience: gatePatience})
		failed <- err
	}()
	for w.host(pages[0].CrawlID).Waiting == 0 {
		if err := w.t.Context().Err(); err != nil {
			w.t.Fatal(err)
		}
	}
	cancel()
	if err := <-failed; err == nil {
		w.t.Error("a cancelled Acquire answers")
	}
}
