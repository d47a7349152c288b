package workflows

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
)

// yearActivities are the activities whose calls must not depend on where runs end.
var yearActivities = []string{
	contract.Acquire.Name, contract.RefreshRobots.Name, contract.Fetch.Name,
	contract.DetectChange.Name, contract.PlanRevisit.Name, contract.LeaveLine.Name,
}

// A year in the life of a page, scripted by the World and by what people do. Cut into runs of
// any length, it must be the same year: the same visits at the same times in the same
// classes, the same deadlines, the same calls.
func TestYearAcrossContinue(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: years of a page")
	}
	t.Parallel()
	whole := year(t, 1<<30)
	visits := whole.world.Visits()
	if len(visits) < 250 {
		t.Fatalf("%d visits in the year, want at least 250", len(visits))
	}
	for _, cut := range []int{1, 2, 3, 5, 7} {
		t.Run(fmt.Sprintf("every %d visits", cut), func(t *testing.T) {
			t.Parallel()
			l := year(t, cut)
			sameYear(t, whole, l)
			if atLeast := len(visits)/cut - 1; l.runs < atLeast {
				t.Errorf("%d runs, want at least %d", l.runs, atLeast)
			}
		})
	}
}

func sameYear(t *testing.T, want, got *live) {
	t.Helper()
	a, b := want.world.Visits(), got.world.Visits()
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("visit differs:\nwhole %v\ncut   %v", a[i], b[i])
		}
	}
	if len(a) != len(b) {
		t.Errorf("%d visits, want %d", len(b), len(a))
	}
	for _, name := range yearActivities {
		got.wantCalls(name, want.world.Calls(name))
	}
	for i := range want.views {
		if x, y := fmt.Sprintf("%+v", want.views[i]), fmt.Sprintf("%+v", got.views[i]); x != y {
			t.Errorf("view %d:\nwhole %s\ncut   %s", i, x, y)
		}
	}
	if !slices.Equal(want.acks, got.acks) {
		t.Errorf("answers of updates %+v, want %+v", got.acks, want.acks)
	}
	if !slices.Equal(want.upserts, got.upserts) {
		t.Errorf("states written %v, want %v: the same changes, each once", got.upserts, want.upserts)
	}
	if x, y := len(want.world.Discovers()), len(got.world.Discovers()); x != y {
		t.Errorf("%d Discovers, want %d", y, x)
	}
}

func year(t *testing.T, visitsPerRun int) *live {
	t.Helper()
	l := newLive(t, yearEvents()...)
	l.world.OnAcquire = yearLine
	l.world.OnFetch = yearWeb
	l.world.OnDetect = func(in contract.DetectIn) (contract.DetectOut, error) {
		if in.Visit%50 == 0 {
			return contract.DetectOut{}, fmt.Errorf("the body of visit %d cannot be read", in.Visit)
		}
		return contract.DetectOut{Outcome: in.Fetch.Outcome, Links: in.Visit % 3}, nil
	}
	l.world.Down = func(now time.Time) bool {
		since := now.Sub(start)
		return within(since, 200*day, 200*day+26*time.Hour) || within(since, 300*day, 302*day)
	}
	in := pageIn()
	in.Tuning.VisitsPerRun = visitsPerRun
	l.stopped(l.page(in))
	return l
}

func within(d, from, to time.Duration) bool { return d >= from && d < to }

// yearEvents are the actions of people and the crawl in the year. Their odd times
// keep them apart from visits, so that the order of two things at one instant,
// which no server promises, does not matter.
func yearEvents() []*at {
	odd := 37*time.Minute + 11*time.Second
	on := func(d int) time.Duration { return time.Duration(d)*day + odd }
	events := []*at{
		update(on(20), contract.VisitNow),
		signal(on(21)+5*time.Hour, contract.VisitNow, nil),
		update(on(80), contract.Snooze, contract.DurationArg("5d")),
		update(on(82), contract.VisitNow),
		update(on(120), contract.SetInterval, contract.DurationArg("11h")),
		update(on(130), contract.SetInterval, contract.DurationArg("0")),
		signal(on(150)+9*time.Hour, contract.TurnSignal, contract.TurnArg{In: 7 * time.Second}),
		update(on(200)+2*time.Hour, contract.VisitNow),
		update(on(250), contract.Snooze, contract.DurationArg("12d")),
		update(on(251), contract.Snooze, contract.DurationArg("2d")),
		signal(on(270), contract.Reschedule, contract.RescheduleArg{Due: start.Add(on(275)), Why: "gains little"}),
		update(on(310), contract.Snooze, contract.DurationArg("never")),
		update(on(330), contract.SetInterval, contract.DurationArg("9d")),
		update(on(350), contract.SetInterval, contract.DurationArg("0")),
		stopAt(on(365)),
	}
	for d := 5; d < 365; d += 11 {
		events = append(events, look(on(d)+time.Hour))
	}
	return events
}

// yearLine is the host's line over the year: waits, robots.txt, a pause, and
// three days in which robots.txt forbids the page.
func yearLine(a contracttest.Ask) (contract.AcquireOut, error) {
	since := a.Now.Sub(start)
	switch {
	case within(since, 100*day, 103*day):
		return contract.AcquireOut{Answer: contract.AnswerExcluded, Rule: "Disallow: / (line 2)"}, nil
	case within(since, 150*day, 150*day+12*time.Hour) && a.N == 1:
		return contract.AcquireOut{Answer: contract.AnswerParked}, nil
	case a.In.Visit%30 == 0 && a.N == 1:
		return contract.AcquireOut{Answer: contract.AnswerRobots}, nil
	case a.In.Visit%5 == 0 && a.N <= 2:
		return contract.AcquireOut{Answer: contract.AnswerWait, Wait: 13 * time.Minute, Reason: "others come first"}, nil
	}
	return contract.AcquireOut{}, nil
}

// yearWeb is the site over the year: changes, a week of failures, throttling,
// lost attempts, an absence.
func yearWeb(try contracttest.Try) (contract.FetchOut, error) {
	since := try.Now.Sub(start)
	failed := func(outcome crawl.Outcome) (contract.FetchOut, error) {
		return contract.FetchOut{}, contracttest.FetchFailed(contract.FetchOut{Outcome: outcome, At: try.Now, Problem: "scripted"})
	}
	switch {
	case within(since, 40*day, 47*day):
		return failed(crawl.OutcomeFailed)
	case within(since, 60*day, 61*day):
		return failed(crawl.OutcomeThrottled)
	case within(since, 160*day, 161*day):
		return contract.FetchOut{Outcome: crawl.OutcomeGone, Status: 404}, nil
	case try.N%41 == 0:
		return contract.FetchOut{}, temporal.NewTimeoutError(2, nil)
	case try.N%43 == 0:
		return contract.FetchOut{NotBegun: true}, nil
	case try.In.Visit%7 == 0 || try.In.Visit%50 == 0:
		return contracttest.Changed(try.Now), nil
	}
	return contracttest.Unchanged(try.Now), nil
}

// A signal that arrives while a run is ending reaches the next run.
func TestSignalsDuringContinueAsNew(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(20*day+time.Hour))
	l.world.Older = true // so that something runs when the visit is over
	asks := 0
	l.opts = append(l.opts, func(env *testsuite.TestWorkflowEnvironment) {
		env.SetOnLocalActivityStartedListener(onStartedLocal(contract.PlanRevisit.Name, func() {
			if asks < 5 {
				asks++
				// Queued before the activity's result: the test environment drops signals to a run that has ended.
				env.SignalWorkflowSkippingWorkflowTask(contract.VisitNow, nil)
			}
		}))
	})
	in := visited(start)
	in.Tuning.VisitsPerRun = 1
	l.stopped(l.page(in))
	l.wantTimes(slices.Concat(make([]time.Duration, 6), days(1, 20))...)
	manual := 0
	for _, v := range l.world.Visits() {
		if v.Class == crawl.ClassManual {
			manual++
		}
	}
	if manual != 5 {
		t.Errorf("%d visits by a person's ask, want 5", manual)
	}
}

func days(from, to int) []time.Duration {
	var all []time.Duration
	for d := from; d <= to; d++ {
		all = append(all, time.Duration(d)*day)
	}
	return all
}

// Whatever a page has been through, its state stays small.
func TestPageStateIsSmall(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(30*day))
	long := string(make([]byte, 100_000))
	l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		return contract.FetchOut{}, contracttest.FetchFailed(contract.FetchOut{Outcome: crawl.OutcomeFailed, At: try.Now, Problem: long[:2000]})
	}
	l.world.OnAcquire = func(a contracttest.Ask) (contract.AcquireOut, error) {
		if a.N < 3 {
			return contract.AcquireOut{Answer: contract.AnswerWait, Wait: time.Second, Reason: long}, nil
		}
		return contract.AcquireOut{}, nil
	}
	l.world.OnPlan = func(_ contract.PlanIn, out *contract.PlanOut) { out.Reason = long }
	in := visited(start)
	in.Tuning.VisitsPerRun = 1
	l.stopped(l.page(in))
	if len(l.inputs) < 10 {
		t.Fatalf("%d runs, want some to look at", len(l.inputs))
	}
	for _, carried := range l.inputs {
		if n := len(mustJSON(t, carried)); n > 16<<10 {
			t.Fatalf("the state has %d bytes", n)
		}
	}
}

// A page that sleeps for long does so in a fresh run, keeps its exact deadline, and does not
// continue as new twice.
func TestPageContinuesBeforeALongSleep(t *testing.T) {
	t.Parallel()
	l := newLive(t, look(20*day), stopAt(59*day))
	l.world.OnPlan = func(_ contract.PlanIn, out *contract.PlanOut) { out.NextAt = out.At.Add(30*day + time.Second/3) }
	l.stopped(l.page(visited(start)))
	l.wantTimes(0, 30*day+time.Second/3)
	if l.runs != 4 {
		// Before each long sleep, and at the wake after more than 30 days.
		t.Errorf("%d runs, want 4", l.runs)
	}
	if !l.views[0].Due.Equal(start.Add(30*day + time.Second/3)) {
		t.Errorf("due %s", l.views[0].Due)
	}
}

// A run ends before a sleep in which its visits would stay in Temporal for longer than the plan
// allows: the more of them, the shorter the sleep. This is judged once a visit.
func TestPageContinuesWhenItsVisitsLinger(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		every  time.Duration
		linger time.Duration
		visits []int // of each run but the last
	}{
		{"no bound", day, 0, nil},
		{"every day", day, 36 * time.Hour, []int{2, 2, 2}},
		{"every two days", 2 * day, 36 * time.Hour, []int{1, 1, 1, 1, 1, 1}},
		{"twice a day", 12 * time.Hour, 36 * time.Hour, []int{4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// In the first sleep somebody looks, and a turn comes too late: neither ends the run.
			l := newLive(t, look(c.every/3), signal(c.every/2, contract.TurnSignal, contract.TurnArg{}), stopAt(6*c.every-time.Hour))
			l.world.OnPlan = func(_ contract.PlanIn, out *contract.PlanOut) { out.NextAt, out.Linger = out.At.Add(c.every), c.linger }
			l.stopped(l.page(visited(start)))
			var visits []int
			last := 3
			for _, in := range l.inputs {
				visits = append(visits, in.Visit-last)
				last = in.Visit
			}
			if !slices.Equal(visits, c.visits) {
				t.Errorf("the runs made %v visits, want %v", visits, c.visits)
			}
		})
	}
}

func TestPageContinuesByEventsAndSuggestion(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]func(*testsuite.TestWorkflowEnvironment){
		"events":     func(env *testsuite.TestWorkflowEnvironment) { env.SetCurrentHistoryLength(eventsPerRun) },
		"suggestion": func(env *testsuite.TestWorkflowEnvironment) { env.SetContinueAsNewSuggested(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLive(t, stopAt(5*day+time.Hour))
			l.opts = append(l.opts, opt)
			l.stopped(l.page(visited(start)))
			l.wantTimes(days(0, 5)...)
			if l.runs < 6 {
				t.Errorf("%d runs, want one for each step at least", l.runs)
			}
		})
	}
}
