package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
)

// RunGate tests the host gate: each promise of interface store.Gate, and all of
// them together under load. open returns an empty store that is closed after the
// test. It takes a few seconds more than the load, which RECRAWL_GATE_LOAD makes
// longer ("10m"). The load runs in real time, where a page of a busy machine asks
// late: how long pages wait is logged here and judged by GateLoad.
func RunGate(t *testing.T, open func(t *testing.T) store.Store) {
	cases := map[string]func(*gateWorld){
		"GrantsAFreeHost":             grantsFreeHost,
		"IsReEntrant":                 isReEntrant,
		"GrantsTwoAtMost":             grantsTwoAtMost,
		"BeginsOnce":                  beginsOnce,
		"OneRequestInFlight":          oneInFlight,
		"BeginHoldsWhileItTries":      beginHolds,
		"GapIsTheLargestDemand":       gapIsLargest,
		"WaitsCountOnThePace":         paceCounts,
		"GapCountsTheDuration":        gapCountsDuration,
		"LoadCountsTheMeanDuration":   loadCountsMean,
		"AutomaticDelay":              autoDelay,
		"GapIsKeptInTime":             gapIsKept,
		"GivingUpEndsLater":           givingUpEndsLater,
		"ExpiryIsAnEnd":               expiryIsAnEnd,
		"LostAttemptWaitsAndAsks":     lostAttempt,
		"LostButRecordedIsGone":       lostButRecorded,
		"OwnExpiryIsSeenAtOnce":       ownExpiry,
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
		"ImportanceGoesFirst":         importanceGoesFirst,
		"LineIsServedInOrder":         servedInOrder,
		"EighthGoesToTheOldest":       eighthToOldest,
		"EldestIsPromisedTheEighth":   eldestIsPromised,
		"EldestIsTurned":              eldestIsTurned,
		"PausedAreNotElders":          pausedAreNotElders,
		"FirstVisitsPass":             firstVisitsPass,
		"HeldGoesBehind":              heldGoesBehind,
		"ReleaseLooksForThePage":      releaseLooks,
		"ReleaseNotesWhatWasFetched":  releaseNotes,
		"BackoffIsTold":               backoffIsTold,
		"LeavingTurnsTheNext":         leavingTurns,
		"ReleaseTurnsTheHead":         releaseTurns,
		"NudgeTurnsTheHead":           nudgeTurns,
		"PausedIsParked":              pausedIsParked,
		"PausedMayNotBegin":           pausedMayNotBegin,
		"UnparkGivesTurns":            unparkGivesTurns,
		"NudgeUnparks":                nudgeUnparks,
		"BlockedWaits":                blockedWaits,
		"BlockedMayNotBegin":          blockedMayNotBegin,
		"BlockedWakesWaiters":         blockedWakes,
		"UnblockGivesTurns":           unblockGivesTurns,
		"UnblockForgetsLostPermits":   unblockLostPermit,
		"BlockedWithoutRobots":        blockedWithoutRobots,
		"UnknownHostIsBlocked":        unknownIsBlocked,
		"HostsNamed":                  hostsNamed,
		"ForgottenLeaves":             forgottenLeaves,
		"ForgottenInFlightKeepsGap":   forgottenInFlight,
		"ForgottenWaiterReturns":      forgottenWaiter,
		"StoppedLeaves":               stoppedLeaves,
		"StoppedPageLeaves":           stoppedPageLeaves,
		"RecordedMayNotBegin":         recordedMayNotBegin,
		"RecordedVisitIsAnswered":     recordedVisit,
		"NewVisitReplacesThePlace":    newVisitReplaces,
		"RobotsForOneWaiter":          robotsForOne,
		"RobotsDutyOutlivesItsPermit": robotsDuty,
		"RobotsDutyIsNotParked":       robotsDutyParked,
		"RobotsRedirectIsFollowed":    robotsRedirect,
		"RobotsRedirectForOneWaiter":  robotsRedirectForOne,
		"RobotsRedirectToABusyHost":   robotsRedirectBusy,
		"RobotsUnreachableWaits":      robotsUnreachable,
		"RobotsUnreachableSpreads":    robotsSpread,
		"RobotsExpires":               robotsExpires,
		"CrawlDelayRaised":            crawlDelayRaised,
		"RefusedByUsIsNoAnswer":       refusedByUs,
		"FinishDoesBoth":              finishDoesBoth,
		"FinishTellsTheBackoff":       finishTellsTheBackoff,
		"FinishIsWhole":               finishIsWhole,
		"FinishAfterExpiry":           finishAfterExpiry,
		"FinishOfTheForgotten":        finishForgotten,
		"AtOnceBegins":                atOnceBegins,
		"AtOnceLeavesTheHostBusy":     atOnceLeavesTheHostBusy,
		"AtOnceNeedsAll":              atOnceNeedsAll,
		"AtOnceInAnyOrder":            atOnceInAnyOrder,
		"GivenBackBeginsAgain":        givenBackBeginsAgain,
		"GivenBackAfterLeaving":       givenBackAfterLeaving,
		"WaiterIsWoken":               waiterIsWoken,
		"CancelledWaiterReturns":      cancelledWaiter,
		"FarWaiterSleeps":             farWaiterSleeps,
		"PlaceIsBooked":               placeIsBooked,
		"PlaceIsNotBooked":            placeIsNotBooked,
		"BookedArrives":               bookedArrives,
		"BookedComesAlone":            bookedComesAlone,
		"BookedStops":                 bookedStops,
		"SleepersAreCalledOnResume":   sleepersResume,
		"RecallWaits":                 recallWaits,
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

// holding counts what Begin holds besides its permit.
type holding struct {
	held, taken int
	err         error
}

func (h *holding) take(context.Context) (func(), error) {
	if h.err != nil {
		return nil, h.err
	}
	h.held++
	h.taken++
	return func() { h.held-- }, nil
}

// The resources that a request needs besides its permit are held from the try that
// begins on, and not while the host is busy, nor by a try that can see that it is.
func beginHolds(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 2)
	first, second := w.grant(pages[0]), w.grant(pages[1])
	var h holding
	begin := func(page crawl.PageRef, permit crawl.Permit, patience time.Duration) error {
		_, err := w.s.Begin(w.t.Context(), store.BeginParams{Permit: permit, Page: page, Visit: 1, Patience: patience, Take: h.take})
		return err
	}
	check := func(what string, err error, held, taken int) {
		w.t.Helper()
		if err != nil || h.held != held || h.taken != taken {
			w.t.Fatalf("%s: %v, %d of %d are held, want %d of %d", what, err, h.held, h.taken, held, taken)
		}
	}
	check("a free host", begin(pages[0], first, 0), 1, 1)
	check("a busy host", begin(pages[1], second, 0), 1, 1)
	if err := begin(pages[0], first, 0); !errors.Is(err, store.ErrRefused) {
		w.t.Errorf("a begun permit: %v", err)
	}
	check("refused", nil, 1, 2)
	w.release(first)
	h.err = errors.New("no room")
	if err := begin(pages[1], second, gatePatience); !errors.Is(err, h.err) {
		w.t.Errorf("without what it needs: %v", err)
	}
	h.err = nil
	if err := begin(pages[1], second, gatePatience); err != nil || h.held != 2 {
		w.t.Errorf("by the same permit: %v, %d are held", err, h.held)
	}
}

// A host that is served more slowly than its gap allows has its waiters come later, and
// nobody's request later.
func paceCounts(w *gateWorld) {
	pages := w.open("news", time.Millisecond, 16)
	last := func() time.Duration {
		var waits []time.Duration
		for _, p := range pages[8:] { // the first two are granted permits
			if a := w.ask(p); a.Answer == store.GateWait {
				waits = append(waits, a.Wait)
			}
		}
		for _, p := range pages[8:] {
			w.leave(p)
		}
		return waits[len(waits)-1]
	}
	if wait := last(); wait > 100*time.Millisecond {
		w.t.Errorf("before the first request the last of eight waits %s", wait)
	}
	for _, p := range pages[:5] {
		w.request(p, func(r *store.ReleaseParams) { r.Cut = true }) // each takes a tenth of a second
	}
	if wait := last(); wait < 400*time.Millisecond {
		w.t.Errorf("the last of eight waits %s, though each takes a tenth of a second", wait)
	}
	w.begin(pages[5], w.grant(pages[5], patient))
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

// What a host can take follows from how long its answers take on average, not from the last one.
func loadCountsMean(w *gateWorld) {
	c := w.crawl("news", time.Millisecond, func(s *crawl.Spec) { s.Politeness.Factor = 10 })
	pages := w.pages(c, "host.test", 2)
	w.allow("http://host.test")
	for i, took := range []time.Duration{8 * time.Millisecond, time.Minute} {
		w.request(pages[i], func(p *store.ReleaseParams) { p.Duration = took })
	}
	loads := must(w.s.HostLoads(w.t.Context(), c.ID, []int64{w.host(c.ID).ID}))(w.t)
	if len(loads) != 1 || loads[0].Gap != 10*loads[0].Mean || loads[0].Mean > 10*time.Second {
		w.t.Errorf("after a quick answer and a slow one: %+v", loads)
	}
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
	const delay, life, long = 50 * time.Millisecond, 200 * time.Millisecond, time.Hour
	pages := w.open("news", delay, 1)
	there := w.pages(w.crawl("news", delay), "there.test", 1)[0]
	w.allow("http://there.test")
	_, begun := w.lost(there, long)
	w.about("the wait", w.waits(there).Wait, long+delay, begun)
	lost, begun := w.lost(pages[0], life)
	permit := w.grant(pages[0], patient)
	if permit.ID == lost.ID {
		w.t.Fatal("the same permit again")
	}
	if at := w.begin(pages[0], permit); at.Before(begun.Add(life + delay)) {
		w.t.Errorf("begun again after %v", at.Sub(begun))
	}
}

// A page whose own request has expired, and whose gap is over, is granted a permit by the very
// transaction that ends that request.
func ownExpiry(w *gateWorld) {
	const delay, life, gap = time.Millisecond, time.Millisecond, 50 * time.Millisecond
	page := w.open("news", delay, 1)[0]
	lost, begun := w.lost(page, life)
	w.expired(begun, life+gap)
	if permit := w.grant(page); permit.ID == lost.ID {
		w.t.Error("the same permit again")
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

// A host notices later than we do that a request was given up: the gap counts from
// then.
func givingUpEndsLater(w *gateWorld) {
	const delay = 50 * time.Millisecond
	pages := w.open("news", delay, 2)
	first := w.grant(pages[0])
	w.begin(pages[0], first)
	ended := w.release(first, func(p *store.ReleaseParams) { p.Cut = true })
	permit := w.grant(pages[1], patient)
	if begun := w.begin(pages[1], permit); begun.Sub(ended) < delay+polite.CutGrace {
		w.t.Errorf("begun %v after a request was given up, want %v", begun.Sub(ended), delay+polite.CutGrace)
	}
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

// A page that has a permit and does not begin holds up the host only for a while.
func abandonedGrant(w *gateWorld) {
	if testing.Short() {
		w.t.Skip("-short: a grant takes its life")
	}
	pages := w.open("news", polite.Horizon+time.Second, 2)
	before := w.now()
	permit := w.grant(pages[0])
	w.grant(pages[1], func(p *store.AcquireParams) { p.Patience = 2 * polite.GrantLife })
	if held := w.now().Sub(before); held < polite.GrantLife {
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

// The whole host is held: also for other crawls, and for pages that already have a
// permit.
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
	held := w.request(pages[0], answered(store.HostThrottled))
	a := w.waits(pages[1])
	if passed := w.now().Sub(held); a.Reason != store.WaitBackoff || a.Wait < 50*time.Second-passed || a.Wait > 70*time.Second {
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
