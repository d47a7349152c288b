package workflows

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
	"recrawl/internal/keyring"
)

func TestPageVisitsWhenDue(t *testing.T) {
	t.Parallel()
	l := newLive(t, look(time.Minute), stopAt(3*day+time.Hour))
	l.stopped(l.page(visited(start.Add(2 * time.Hour))))
	l.wantTimes(2*time.Hour, day+2*time.Hour, 2*day+2*time.Hour)
	l.wantClasses(crawl.ClassRevisit, crawl.ClassRevisit, crawl.ClassRevisit)
	l.wantCalls(contract.Acquire.Name, 3)
	l.wantCalls(contract.Fetch.Name, 3)
	l.wantCalls(contract.DetectChange.Name, 0)
	if l.timers != 4 {
		t.Errorf("%d timers for three visits and a sleep, want 4", l.timers)
	}
	if v := l.views[0]; v.Doing != "sleeping" || !v.Due.Equal(start.Add(2*time.Hour)) || v.Why != "policy" {
		t.Errorf("state while sleeping: %+v", v)
	}
}

// A visit that Fetch recorded is adopted as it is, whether the request succeeded or failed.
func TestPageAdoptsWhatFetchRecorded(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(3*day+time.Hour))
	l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		if !try.In.Plans {
			t.Error("Fetch is not told that its plan will be adopted")
		}
		out := contracttest.Unchanged(try.Now)
		state := crawl.Active
		if try.In.Visit == 2 {
			out, state = contract.FetchOut{Outcome: crawl.OutcomeFailed, At: try.Now, Problem: "no route"}, crawl.Failing
		}
		out.Plan = &contract.PlanOut{Visit: try.In.Visit, At: try.Now, Outcome: out.Outcome, Status: out.Status, State: state, NextAt: try.Now.Add(day), Reason: "it says so"}
		if try.In.Visit == 2 {
			return out, contracttest.FetchFailed(out)
		}
		return out, nil
	}
	var classes []crawl.Class
	l.world.OnAcquire = func(a contracttest.Ask) (contract.AcquireOut, error) {
		classes = append(classes, a.In.Class)
		return contract.AcquireOut{Plans: true}, nil
	}
	l.stopped(l.page(pageIn()))
	l.wantCalls(contract.PlanRevisit.Name, 0)
	if want := []crawl.Class{crawl.ClassFirst, crawl.ClassRevisit, crawl.ClassProbe, crawl.ClassRevisit}; !slices.Equal(classes, want) {
		t.Errorf("asked as %v, want %v", classes, want)
	}
	if v := l.view(); v.Visits != 4 || v.Why != "it says so" || v.Recent[2].Note != "no route" {
		t.Errorf("state %+v", v)
	}
}

func TestPageFirstVisitIsAtOnce(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(time.Hour))
	l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		out := contracttest.Changed(try.Now)
		out.Outcome = crawl.OutcomeNew
		return out, nil
	}
	l.world.OnDetect = func(in contract.DetectIn) (contract.DetectOut, error) {
		return contract.DetectOut{Outcome: crawl.OutcomeNew, Links: 5}, nil
	}
	l.stopped(l.page(pageIn()))
	l.wantTimes(0)
	l.wantClasses(crawl.ClassFirst)
	got := l.world.Discovers()
	if len(got) != 1 || !got[0].Register || got[0].Visit != 1 || len(got[0].Hosts) != 1 {
		t.Errorf("Discovers: %+v", got)
	}
	if len(l.upserts) == 0 || l.upserts[len(l.upserts)-1] != "stopped" {
		t.Errorf("upserted states %v, want the last to be stopped", l.upserts)
	}
}

// A visit whose links are registered starts a Discover only if the plan says so, which then
// admits pages of all hosts.
func TestPageFansOutWhereThereIsSomethingToAdmit(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(4*day-time.Hour))
	l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) { return contracttest.Changed(try.Now), nil }
	l.world.OnDetect = func(in contract.DetectIn) (contract.DetectOut, error) {
		if !in.Register {
			t.Error("DetectChange is not asked to register")
		}
		out := contract.DetectOut{Outcome: crawl.OutcomeChanged, Links: 5, Registered: &contract.RegisterOut{Seen: 5}}
		if in.Visit == 2 {
			out.Registered = &contract.RegisterOut{New: 2, Seen: 3, Hosts: []int64{8, 7}}
		}
		return out, nil
	}
	l.world.OnPlan = func(in contract.PlanIn, out *contract.PlanOut) {
		if touched := map[int]int{2: 2}[in.Visit]; len(in.Touched) != touched {
			t.Errorf("visit %d touched %v, want %d hosts", in.Visit, in.Touched, touched)
		}
		out.Refill = in.Visit >= 2 && in.Visit <= 3
		out.Room = out.Refill
	}
	l.stopped(l.page(pageIn()))
	if n := len(l.world.Visits()); n != 4 {
		t.Errorf("%d visits", n)
	}
	got := l.world.Discovers()
	if len(got) != 2 || got[0].Visit != 2 || got[0].Register || !got[0].Refill || got[1].Visit != 3 || got[1].Register || !got[1].Refill {
		t.Errorf("Discovers: %+v", got)
	}
}

// Histories of earlier releases have Room without Refill.
func TestPageRoomOnlyAfterTheFirstVisit(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(3*day))
	l.world.OnPlan = func(_ contract.PlanIn, out *contract.PlanOut) { out.Room = true }
	l.stopped(l.page(pageIn()))
	got := l.world.Discovers()
	if len(got) != 1 || got[0].Register || got[0].Visit != 1 || !got[0].Refill {
		t.Errorf("Discovers: %+v", got)
	}
}

// If a redirect leads to another host, that host's page is admitted at once, not by the next
// maintenance pass, whichever visit found it.
func TestPageAdmitsWhereItRedirectsTo(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(3*day))
	l.world.OnPlan = func(in contract.PlanIn, out *contract.PlanOut) {
		out.RedirectHost = map[int]int64{1: 9, 2: 7}[in.Visit]
	}
	l.stopped(l.page(pageIn()))
	got := l.world.Discovers()
	if len(got) != 2 || got[0].Register || got[0].Refill || !slices.Equal(got[0].Hosts, []int64{7, 9}) || got[1].Visit != 2 || !slices.Equal(got[1].Hosts, []int64{7}) {
		t.Errorf("Discovers: %+v", got)
	}
}

func TestPageWaitsInLine(t *testing.T) {
	t.Parallel()
	l := newLive(t, look(5*time.Minute), stopAt(time.Hour))
	l.world.OnAcquire = func(a contracttest.Ask) (contract.AcquireOut, error) {
		if a.N == 1 {
			return contract.AcquireOut{Answer: contract.AnswerWait, Wait: 10 * time.Minute, Reason: "12 before it"}, nil
		}
		return contract.AcquireOut{}, nil
	}
	l.stopped(l.page(visited(start)))
	l.wantTimes(10 * time.Minute)
	if got := l.views[0].Doing; got != "waiting in line: in line: 12 before it" {
		t.Errorf("doing %q", got)
	}
}

// A page that waits for room on a disk asks again when a worker reports that there is room.
func TestPageWaitsForRoom(t *testing.T) {
	t.Parallel()
	l := newLive(t, look(5*time.Minute), signal(20*time.Minute, contract.TurnSignal, contract.TurnArg{}), stopAt(time.Hour))
	l.world.OnAcquire = func(a contracttest.Ask) (contract.AcquireOut, error) {
		if a.N <= 2 {
			return contract.AcquireOut{Answer: contract.AnswerWait, Held: true, Wait: 15 * time.Minute, Reason: "no room: 3MiB left"}, nil
		}
		return contract.AcquireOut{}, nil
	}
	l.stopped(l.page(visited(start)))
	l.wantTimes(20 * time.Minute)
	if got := l.views[0].Doing; got != "waiting in line: no room: 3MiB left" {
		t.Errorf("doing %q", got)
	}
}

func waitLong(a contracttest.Ask) (contract.AcquireOut, error) {
	if a.N == 1 {
		return contract.AcquireOut{Answer: contract.AnswerWait, Wait: time.Hour}, nil
	}
	return contract.AcquireOut{}, nil
}

func TestPageTurn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		turn time.Duration
		want time.Duration
	}{
		{"now", 0, 10 * time.Minute},
		{"soon", 8 * time.Second, 10*time.Minute + 6*time.Second},
		{"later than promised is not later", 3 * time.Hour, time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLive(t, signal(10*time.Minute, contract.TurnSignal, contract.TurnArg{In: tt.turn}), stopAt(2*time.Hour))
			l.world.OnAcquire = waitLong
			l.stopped(l.page(visited(start)))
			l.wantTimes(tt.want)
		})
	}
}

func TestPageTurnWhileSleepingIsNothing(t *testing.T) {
	t.Parallel()
	l := newLive(t, signal(10*time.Minute, contract.TurnSignal, contract.TurnArg{}), stopAt(2*time.Hour))
	l.stopped(l.page(visited(start.Add(time.Hour))))
	l.wantTimes(time.Hour)
	if l.timers != 2 {
		t.Errorf("%d timers, want 2: a deadline that stands keeps its timer", l.timers)
	}
}

func TestPageParked(t *testing.T) {
	t.Parallel()
	parked := func(a contracttest.Ask) (contract.AcquireOut, error) {
		if a.N == 1 {
			return contract.AcquireOut{Answer: contract.AnswerParked}, nil
		}
		return contract.AcquireOut{}, nil
	}
	t.Run("turn", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, signal(5*time.Hour, contract.TurnSignal, contract.TurnArg{}), stopAt(6*time.Hour))
		l.world.OnAcquire = parked
		l.stopped(l.page(visited(start)))
		l.wantTimes(5 * time.Hour)
	})
	t.Run("lost turn", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, stopAt(25*time.Hour))
		l.world.OnAcquire = parked
		l.stopped(l.page(visited(start)))
		l.wantTimes(24 * time.Hour)
	})
}

func TestPageVisitNow(t *testing.T) {
	t.Parallel()
	t.Run("while sleeping", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, update(time.Hour, contract.VisitNow), stopAt(2*time.Hour))
		l.stopped(l.page(visited(start.Add(5 * day))))
		l.wantTimes(time.Hour)
		l.wantClasses(crawl.ClassManual)
		if len(l.acks) != 1 || l.acks[0].Visit != 4 {
			t.Errorf("acks %+v, want visit 4", l.acks)
		}
	})
	t.Run("by signal", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, signal(time.Hour, contract.VisitNow, nil), signal(time.Hour, contract.VisitNow, nil), stopAt(2*time.Hour))
		l.stopped(l.page(visited(start.Add(5 * day))))
		l.wantTimes(time.Hour)
	})
	t.Run("joins the waiting visit", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, update(10*time.Minute, contract.VisitNow), stopAt(2*time.Hour))
		l.world.OnAcquire = waitLong
		l.stopped(l.page(visited(start)))
		l.wantTimes(10 * time.Minute)
		l.wantClasses(crawl.ClassManual)
		l.wantCalls(contract.Acquire.Name, 2)
	})
}

// Any number of visit-now calls during a request make exactly one more visit.
func TestPageVisitNowDuringFetch(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(2*time.Hour))
	l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		return contracttest.Unchanged(try.Now), nil
	}
	first := true
	l.opts = append(l.opts, func(env *testsuite.TestWorkflowEnvironment) {
		env.SetOnActivityStartedListener(onStarted(contract.Fetch.Name, func() {
			if first {
				first = false
				env.RegisterDelayedCallback(func() {
					l.update(contract.VisitNow)
					l.update(contract.VisitNow)
					env.SignalWorkflow(contract.VisitNow, nil)
				}, 0)
			}
		}))
	})
	l.stopped(l.page(visited(start)))
	l.wantTimes(0, 0)
	l.wantClasses(crawl.ClassRevisit, crawl.ClassManual)
	l.wantAhead(false, true)
	for _, ack := range l.acks {
		if ack.Visit != 5 {
			t.Errorf("ack %+v, want visit 5: visit 4 is under way", ack)
		}
	}
}

// A person asks while the page asks for a permit, which took long: the answer to wait was for a
// revisit, so the page asks again at once.
func TestPageAsksAgainForAPerson(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]contract.AcquireOut{
		"in line": {Answer: contract.AnswerWait, Wait: 2 * time.Hour, Reason: "others come first"},
		"held":    {Answer: contract.AnswerWait, Wait: 2 * time.Hour, Held: true, Reason: "the host rests"},
		"parked":  {Answer: contract.AnswerParked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLive(t, stopAt(time.Hour))
			var asked []crawl.Class
			l.world.OnAcquire = func(a contracttest.Ask) (contract.AcquireOut, error) {
				if asked = append(asked, a.In.Class); len(asked) == 1 {
					return answer, nil
				}
				return contract.AcquireOut{}, nil
			}
			l.opts = append(l.opts, func(env *testsuite.TestWorkflowEnvironment) {
				env.SetOnLocalActivityStartedListener(onStartedLocal(contract.Acquire.Name, func() {
					if len(l.acks) == 0 {
						l.update(contract.VisitNow)
					}
				}))
			})
			in := visited(start)
			in.Tuning.VisitsPerRun = 1
			l.stopped(l.page(in))
			l.wantTimes(0)
			if !slices.Equal(asked, []crawl.Class{crawl.ClassRevisit, crawl.ClassManual}) {
				t.Errorf("asked in classes %v, want again for the person", asked)
			}
		})
	}
}

// A person who stops or snoozes a page while it asks for its permit is heard: the permit is not used.
func TestPageUsesNoPermitAgainstAPerson(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		update string
		args   []any
		visits []time.Duration
	}{
		"stopped": {contract.StopName, nil, nil},
		"snoozed": {contract.Snooze, []any{contract.DurationArg("1h")}, []time.Duration{time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLive(t, stopAt(2*time.Hour))
			l.opts = append(l.opts, func(env *testsuite.TestWorkflowEnvironment) {
				env.SetOnLocalActivityStartedListener(onStartedLocal(contract.Acquire.Name, func() {
					if len(l.acks) == 0 {
						l.update(c.update, c.args...)
					}
				}))
			})
			l.stopped(l.page(visited(start)))
			l.wantTimes(c.visits...)
			l.wantCalls(contract.Fetch.Name, len(c.visits))
		})
	}
}

func TestPageStopAnswers(t *testing.T) {
	t.Parallel()
	t.Run("update while sleeping", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, update(time.Hour, contract.StopName))
		l.stopped(l.page(visited(start.Add(day))))
		if len(l.acks) != 1 {
			t.Errorf("acks %v", l.acks)
		}
	})
	t.Run("while waiting", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, stopAt(time.Minute))
		l.world.OnAcquire = waitLong
		l.stopped(l.page(visited(start)))
		l.wantTimes()
	})
	t.Run("the crawl is stopped", func(t *testing.T) {
		t.Parallel()
		l := newLive(t)
		l.world.OnAcquire = func(contracttest.Ask) (contract.AcquireOut, error) {
			return contract.AcquireOut{Answer: contract.AnswerStopped}, nil
		}
		l.stopped(l.page(visited(start)))
	})
	t.Run("cancelled in the UI", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, do(time.Minute, func(l *live) { l.env.CancelWorkflow() }))
		l.world.OnAcquire = waitLong
		err := l.page(visited(start))
		if !temporal.IsCanceledError(err) {
			t.Errorf("ended with %v, want cancelled", err)
		}
		if left := l.world.Left(); len(left) != 1 || left[0].State != crawl.Stopped {
			t.Errorf("left %v", left)
		}
	})
	// In the task that brings the cancellation, the run would end before a long sleep.
	t.Run("cancelled when it is about to continue as new", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, do(25*time.Hour, func(l *live) {
			l.env.SignalWorkflowSkippingWorkflowTask(contract.Reschedule, contract.RescheduleArg{Due: start.Add(60 * day)})
			l.env.CancelWorkflow()
		}), stopAt(40*day))
		if err := l.page(visited(start)); !temporal.IsCanceledError(err) {
			t.Errorf("ended with %v, want cancelled", err)
		}
		if left := l.world.Left(); len(left) != 1 || left[0].State != crawl.Stopped || l.runs != 1 {
			t.Errorf("left %v in %d runs, want once in the first", left, l.runs)
		}
	})
	// What the site has sent is compared and recorded first.
	t.Run("cancelled while it compares", func(t *testing.T) {
		t.Parallel()
		l := newLive(t)
		l.world.OnFetch = changed
		cancel := sync.OnceFunc(func() { l.env.CancelWorkflow() })
		l.world.OnDetect = func(in contract.DetectIn) (contract.DetectOut, error) {
			cancel()
			return contract.DetectOut{Outcome: in.Fetch.Outcome}, nil
		}
		if err := l.page(visited(start)); !temporal.IsCanceledError(err) {
			t.Errorf("ended with %v, want cancelled", err)
		}
		l.wantCalls(contract.Fetch.Name, 1)
		l.wantVisit(crawl.OutcomeChanged)
		if left := l.world.Left(); len(left) != 1 || left[0].State != crawl.Stopped {
			t.Errorf("left %v", left)
		}
	})
	t.Run("store out of order", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, stopAt(time.Hour))
		l.world.Down = func(now time.Time) bool { return now.Before(start.Add(3 * time.Hour)) }
		l.stopped(l.page(visited(start.Add(day))))
		if l.now.Before(start.Add(3*time.Hour)) || l.now.After(start.Add(3*time.Hour+2*time.Minute)) {
			t.Errorf("ended %s after start, want soon after the store is back", l.now.Sub(start))
		}
	})
}

// A crawl that is started again before its pages have ended keeps them: their visits go on as
// they were planned. A person's stop of a page stands.
func TestPageStopsWithItsCrawl(t *testing.T) {
	t.Parallel()
	closing := func(after time.Duration) *at {
		return signal(after, contract.StopName, contract.StopArg{Closing: true})
	}
	answers := func(first contract.AcquireAnswer) func(contracttest.Ask) (contract.AcquireOut, error) {
		asked := 0
		return func(contracttest.Ask) (contract.AcquireOut, error) {
			if asked++; asked == 1 {
				return contract.AcquireOut{Answer: first}, nil
			}
			return contract.AcquireOut{}, nil
		}
	}
	for _, tt := range []struct {
		name   string
		events []*at
		first  contract.AcquireAnswer // to the page's first question, if it is not granted
		due    time.Duration
		back   bool // the crawl runs again
		visits []time.Duration
		left   []bool // whether it left because of the crawl
	}{
		{"it stays stopped", []*at{closing(time.Hour)}, "", day, false, nil, []bool{true}},
		{"sleeping", []*at{closing(time.Hour), stopAt(3 * time.Hour)}, "", 2 * time.Hour, true, []time.Duration{2 * time.Hour}, []bool{true, false}},
		{"parked", []*at{closing(time.Hour), stopAt(3 * time.Hour)}, contract.AnswerParked, 0, true, []time.Duration{time.Hour}, []bool{true, false}},
		{"its question is answered so", []*at{stopAt(time.Hour)}, contract.AnswerStopped, 0, true, []time.Duration{0}, []bool{true, false}},
		{"a person stops it, too", []*at{closing(time.Hour), stopAt(time.Hour)}, "", day, true, nil, []bool{true, false}},
		{"somebody gives the signal an input", []*at{signal(time.Hour, contract.StopName, "please")}, "", day, true, nil, []bool{false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLive(t, tt.events...)
			if tt.first != "" {
				l.world.OnAcquire = answers(tt.first)
			}
			l.world.OnLeave = func(in contract.LeaveIn) contract.LeaveOut {
				return contract.LeaveOut{Returned: in.Closing && tt.back}
			}
			l.stopped(l.page(visited(start.Add(tt.due))))
			l.wantTimes(tt.visits...)
			var left []bool
			for _, in := range l.world.Left() {
				left = append(left, in.Closing)
			}
			if !slices.Equal(left, tt.left) {
				t.Errorf("left because of the crawl: %v, want %v", left, tt.left)
			}
		})
	}
}

func TestPageExcluded(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(30*day+time.Hour))
	var rules []string
	l.world.OnAcquire = func(a contracttest.Ask) (contract.AcquireOut, error) {
		if a.Now.Before(start.Add(day)) {
			return contract.AcquireOut{Answer: contract.AnswerExcluded, Rule: "Disallow: /a (line 3)"}, nil
		}
		return contract.AcquireOut{}, nil
	}
	l.world.OnPlan = func(in contract.PlanIn, _ *contract.PlanOut) {
		if in.Fetch.Outcome == crawl.OutcomeExcluded {
			rules = append(rules, in.Fetch.Problem)
		}
	}
	l.stopped(l.page(visited(start)))
	l.wantTimes(0, 30*day)
	l.wantClasses(crawl.ClassRevisit, crawl.ClassProbe)
	l.wantCalls(contract.Fetch.Name, 1)
	if len(rules) != 1 || rules[0] != "Disallow: /a (line 3)" {
		t.Errorf("rules %v", rules)
	}
	if l.runs != 2 {
		t.Errorf("%d runs, want 2: a sleep of 30 days starts a fresh run", l.runs)
	}
}

func TestPageRobotsPermit(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(time.Hour))
	l.world.OnAcquire = func(a contracttest.Ask) (contract.AcquireOut, error) {
		if a.N <= 2 {
			return contract.AcquireOut{Answer: contract.AnswerRobots}, nil
		}
		return contract.AcquireOut{}, nil
	}
	calls := 0
	l.world.OnRobots = func(contract.RefreshRobotsIn) error {
		if calls++; calls == 1 {
			return errors.New("worker stopped")
		}
		return nil
	}
	l.stopped(l.page(visited(start)))
	l.wantCalls(contract.RefreshRobots.Name, 2)
	l.wantCalls(contract.Acquire.Name, 3)
	l.wantCalls(contract.Fetch.Name, 1)
}

// Endless robots permits must not make the page spin: after a few it pauses.
func TestPagePausesWhenNothingComesOfIt(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(time.Hour))
	l.world.OnFetch = func(contracttest.Try) (contract.FetchOut, error) { return contract.FetchOut{NotBegun: true}, nil }
	l.stopped(l.page(visited(start)))
	if n := l.world.Calls(contract.Fetch.Name); n < fruitlessTries || n > 60 {
		t.Errorf("%d permits in an hour that came to nothing", n)
	}
}

// A service that was away for long, and is back, has not made the page suspicious: the
// robots.txt that it needs first, and permits that come to nothing, are no reason to pause.
func TestPageTellsItsTriesApart(t *testing.T) {
	t.Parallel()
	for kind, name := range map[string]string{"store": contract.ErrTypeStoreUnavailable, "address": contract.ErrTypeCrowded} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := newLive(t, stopAt(3*time.Hour))
			const away = 15
			var back time.Time
			l.world.OnAcquire = func(a contracttest.Ask) (contract.AcquireOut, error) {
				switch {
				case a.N <= away:
					return contract.AcquireOut{}, temporal.NewApplicationError("away", name)
				case a.N < away+fruitlessTries:
					if back.IsZero() {
						back = a.Now
					}
					return contract.AcquireOut{Answer: contract.AnswerRobots}, nil
				}
				return contract.AcquireOut{}, nil
			}
			var visited time.Time
			l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
				visited = try.Now
				return contracttest.Unchanged(try.Now), nil
			}
			l.stopped(l.page(pageIn()))
			if wait := visited.Sub(back); visited.IsZero() || wait > shortestPause {
				t.Errorf("visited %s after the service was back", wait)
			}
		})
	}
}

// Each kind of trouble has pauses of its own: the first one is short, whatever came before.
func TestHoldTellsTriesApart(t *testing.T) {
	t.Parallel()
	s := contract.PageIn{Page: crawl.PageRef{PageID: 7}}
	pause := func(tr trouble, whole bool) time.Duration {
		pauseAfter(&s, tr, "x", start, whole)
		return s.Hold.Sub(start)
	}
	for range 12 {
		if d := pause(troubleStore, false); d > longestStorePause {
			t.Errorf("the store's pause is %s", d)
		}
	}
	if d := pause(troubleOther, false); d > 2*shortestPause {
		t.Errorf("the first pause after a fault is %s", d)
	}
	longest := time.Duration(0)
	for range 12 {
		longest = max(longest, pause(troubleOther, false))
	}
	if longest <= longestStorePause || longest > longestOtherPause {
		t.Errorf("the longest pause after faults is %s", longest)
	}
	// As histories have it from before the tries were told apart.
	s = contract.PageIn{Page: crawl.PageRef{PageID: 7}, Tries: 12}
	if d, want := pause(troubleOther, true), pauseFor(troubleOther, 7, 12); d != want {
		t.Errorf("an old history's pause is %s, want %s", d, want)
	}
	if forgive(&s); s.Tries+s.Fruitless+s.Faults != 0 {
		t.Errorf("%+v", s)
	}
}

// If a worker has too much in flight to an address, the page asks again soon, at most a minute
// later however often that happens, and says what it waits for.
func TestPageWaitsForACrowdedAddress(t *testing.T) {
	t.Parallel()
	l := newLive(t, look(30*time.Second), stopAt(2*time.Hour))
	var tries []time.Time
	l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		if tries = append(tries, try.Now); len(tries) < 20 {
			return contract.FetchOut{}, temporal.NewApplicationError("at most 4 to 192.0.2.1", contract.ErrTypeCrowded)
		}
		return contracttest.Unchanged(try.Now), nil
	}
	l.stopped(l.page(pageIn()))
	if len(tries) != 20 || len(l.world.Visits()) != 1 {
		t.Fatalf("%d tries, %d visits", len(tries), len(l.world.Visits()))
	}
	for i := range tries[1:] {
		if pause := tries[i+1].Sub(tries[i]); pause < shortestPause || pause > longestStorePause {
			t.Errorf("pause %d is %s", i, pause)
		}
	}
	if view := l.views[0]; !strings.Contains(view.Doing, "at most 4 to 192.0.2.1; asking again in") {
		t.Errorf("the page says %q", view.Doing)
	}
}

func TestPageRecordedVisitIsAdopted(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(5*day+time.Hour))
	l.world.OnAcquire = func(a contracttest.Ask) (contract.AcquireOut, error) {
		if a.In.Visit == 4 {
			return contract.AcquireOut{Answer: contract.AnswerRecorded, Recorded: &contract.PlanOut{
				Visit: 9, At: start, Outcome: crawl.OutcomeUnchanged, State: crawl.Active, NextAt: start.Add(5 * day),
			}}, nil
		}
		if a.In.Visit != 10 {
			t.Errorf("asked for visit %d, want 10", a.In.Visit)
		}
		return contract.AcquireOut{}, nil
	}
	l.stopped(l.page(visited(start)))
	l.wantTimes(5 * day)
}

func TestPageFetchOutcomes(t *testing.T) {
	t.Parallel()
	failed := contract.FetchOut{Outcome: crawl.OutcomeTimedOut, At: start, Problem: "no answer in 30s"}
	for _, tt := range []struct {
		name    string
		fetch   func(n int) (contract.FetchOut, error)
		outcome crawl.Outcome
		fetches int
	}{
		{"failure is an outcome", func(int) (contract.FetchOut, error) {
			return contract.FetchOut{}, contracttest.FetchFailed(failed)
		}, crawl.OutcomeTimedOut, 1},
		{"failure without details", func(int) (contract.FetchOut, error) {
			return contract.FetchOut{}, temporal.NewNonRetryableApplicationError("boom", contract.ErrTypeFetchFailed, nil)
		}, crawl.OutcomeFailed, 1},
		{"not begun", func(n int) (contract.FetchOut, error) {
			return contract.FetchOut{NotBegun: n == 1, Outcome: crawl.OutcomeUnchanged}, nil
		}, crawl.OutcomeUnchanged, 2},
		{"lost attempt", func(n int) (contract.FetchOut, error) {
			if n == 1 {
				return contract.FetchOut{}, temporal.NewTimeoutError(2, nil)
			}
			return contract.FetchOut{Outcome: crawl.OutcomeUnchanged}, nil
		}, crawl.OutcomeUnchanged, 2},
		{"worker shut down", func(n int) (contract.FetchOut, error) {
			if n == 1 {
				return contract.FetchOut{}, errors.New("worker is stopping")
			}
			return contract.FetchOut{Outcome: crawl.OutcomeUnchanged}, nil
		}, crawl.OutcomeUnchanged, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLive(t, stopAt(30*time.Minute))
			l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) { return tt.fetch(try.N) }
			// A person's request survives an attempt that failed.
			in := visited(start.Add(day))
			in.Asked = true
			l.stopped(l.page(in))
			got := l.world.Visits()
			if len(got) != 1 || got[0].Outcome != tt.outcome || got[0].Class != crawl.ClassManual {
				t.Errorf("visits %v, want one %s by a person", got, tt.outcome)
			}
			l.wantCalls(contract.Fetch.Name, tt.fetches)
		})
	}
}

// A permit whose visit turns out to be recorded already has served nobody: the visit that a person
// asked for is made.
func TestPageAskedOfARecordedVisit(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(time.Hour))
	l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		if try.In.Visit == 4 {
			return contract.FetchOut{Recorded: true}, nil
		}
		return contracttest.Unchanged(try.Now), nil
	}
	in := visited(start.Add(day))
	in.Asked = true
	l.stopped(l.page(in))
	l.wantClasses(crawl.ClassManual, crawl.ClassManual)
	l.wantCalls(contract.Fetch.Name, 2)
}

func TestPageFailuresBackOff(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(40*time.Hour))
	l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		if try.N <= 4 {
			return contract.FetchOut{}, contracttest.FetchFailed(contract.FetchOut{Outcome: crawl.OutcomeFailed, At: try.Now, Problem: "refused"})
		}
		return contracttest.Unchanged(try.Now), nil
	}
	l.stopped(l.page(visited(start)))
	l.wantTimes(0, time.Hour, 3*time.Hour, 7*time.Hour, 15*time.Hour, 39*time.Hour)
	want := []string{"failing", "active", "stopped"}
	if strings.Join(l.upserts, " ") != strings.Join(want, " ") {
		t.Errorf("upserted %v, want %v: only changes", l.upserts, want)
	}
}

func changed(try contracttest.Try) (contract.FetchOut, error) {
	return contracttest.Changed(try.Now), nil
}

// wantVisit wants one visit, with an outcome.
func (l *live) wantVisit(outcome crawl.Outcome) {
	l.t.Helper()
	if got := l.world.Visits(); len(got) != 1 || got[0].Outcome != outcome {
		l.t.Errorf("visits %v, want one that is %s", got, outcome)
	}
}

// comparesLate runs a page whose bytes cannot be compared for an hour. It fetches them once,
// and records what the comparison finds in the end.
func (l *live) comparesLate(problem error, outcome crawl.Outcome) {
	l.t.Helper()
	l.world.OnFetch = changed
	l.world.OnDetect = func(contract.DetectIn) (contract.DetectOut, error) {
		if l.env.Now().Before(start.Add(time.Hour)) {
			return contract.DetectOut{}, problem
		}
		return contract.DetectOut{Outcome: outcome}, nil
	}
	l.stopped(l.page(visited(start)))
	l.wantCalls(contract.Fetch.Name, 1)
	l.wantVisit(outcome)
}

func TestPageComparing(t *testing.T) {
	t.Parallel()
	t.Run("cosmetic", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, stopAt(time.Hour))
		l.world.OnFetch = changed
		l.world.OnDetect = func(contract.DetectIn) (contract.DetectOut, error) {
			return contract.DetectOut{Outcome: crawl.OutcomeCosmetic}, nil
		}
		l.stopped(l.page(visited(start)))
		l.wantVisit(crawl.OutcomeCosmetic)
		if len(l.world.Discovers()) != 0 {
			t.Error("a cosmetic change started a Discover")
		}
	})
	t.Run("brief", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, stopAt(time.Hour))
		l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) { return brief(try.Now), nil }
		l.world.OnDetect = func(in contract.DetectIn) (contract.DetectOut, error) {
			if !in.Register {
				t.Error("DetectChange is not asked to register")
			}
			return contract.DetectOut{Outcome: crawl.OutcomeChanged, Links: 2, Registered: &contract.RegisterOut{Seen: 2}}, nil
		}
		l.stopped(l.page(visited(start)))
		l.wantCalls(contract.DetectChange.Name, 1)
		l.wantVisit(crawl.OutcomeChanged)
	})
	// Work that fails inside the workflow task is tried again outside of it.
	t.Run("brief, and busy", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, stopAt(time.Hour))
		l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) { return brief(try.Now), nil }
		tries := 0
		l.world.OnDetect = func(contract.DetectIn) (contract.DetectOut, error) {
			if tries++; tries < 7 {
				return contract.DetectOut{}, errors.New("the archive does not answer")
			}
			return contract.DetectOut{Outcome: crawl.OutcomeChanged}, nil
		}
		l.stopped(l.page(visited(start)))
		l.wantCalls(contract.DetectChange.Name, 7)
		l.wantVisit(crawl.OutcomeChanged)
	})
	t.Run("impossible", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, stopAt(30*time.Minute))
		l.world.OnFetch = changed
		l.world.OnDetect = func(contract.DetectIn) (contract.DetectOut, error) {
			return contract.DetectOut{}, errors.New("html too deep")
		}
		var recorded contract.FetchOut
		l.world.OnPlan = func(in contract.PlanIn, _ *contract.PlanOut) { recorded = in.Fetch }
		l.stopped(l.page(visited(start)))
		l.wantCalls(contract.DetectChange.Name, 5)
		if recorded.Outcome != crawl.OutcomeFailed || !strings.Contains(recorded.Problem, "html too deep") ||
			recorded.Validators || recorded.ETag != "" || recorded.Digest != "" {
			t.Errorf("recorded %+v: want a failure that leaves no validators behind", recorded)
		}
		if want := contracttest.Changed(start).Digest; want == "" || recorded.Dropped != want {
			t.Errorf("recorded %+v: want the bytes of %q given up", recorded, want)
		}
	})
	t.Run("by workers without the key", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, stopAt(5*time.Hour))
		// As the SDK wraps it before an activity runs.
		l.comparesLate(fmt.Errorf("unable to decode: %w", &keyring.LockedError{Key: "k2", Unknown: true}), crawl.OutcomeCosmetic)
	})
	t.Run("store out of order", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, stopAt(5*time.Hour))
		l.world.Down = func(now time.Time) bool { return now.After(start) && now.Before(start.Add(time.Hour)) }
		l.comparesLate(contracttest.Unavailable(), crawl.OutcomeChanged)
	})
}

// A store that fails between request and record costs the site no second request, however
// many runs the outage takes.
func TestPageKeepsAVisitThroughAnOutage(t *testing.T) {
	t.Parallel()
	l := newLive(t, look(30*time.Minute), stopAt(5*time.Hour))
	fetched := false
	l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		fetched = true
		return contracttest.Unchanged(try.Now), nil
	}
	l.world.Down = func(now time.Time) bool { return fetched && now.Before(start.Add(time.Hour)) }
	l.opts = append(l.opts, func(env *testsuite.TestWorkflowEnvironment) { env.SetContinueAsNewSuggested(true) })
	l.stopped(l.page(visited(start)))
	l.wantTimes(0)
	l.wantCalls(contract.Fetch.Name, 1)
	if l.runs < 10 {
		t.Errorf("%d runs, want the outage to span many", l.runs)
	}
	if v := l.views[0]; !strings.HasPrefix(v.Doing, "waiting: store unavailable; asking again in ") {
		t.Errorf("doing %q", v.Doing)
	}
}

// A page that waits for the archive says so, and not that the store is unavailable.
func TestPageWaitsForTheArchive(t *testing.T) {
	t.Parallel()
	l := newLive(t, look(30*time.Minute), stopAt(time.Hour))
	const why = "archive unavailable: s3://pages: the credentials are refused (SignatureDoesNotMatch)"
	l.world.OnFetch = func(contracttest.Try) (contract.FetchOut, error) {
		return contract.FetchOut{}, temporal.NewApplicationError("store unavailable: "+why, contract.ErrTypeStoreUnavailable, why)
	}
	l.stopped(l.page(visited(start)))
	if v := l.views[0]; !strings.HasPrefix(v.Doing, "waiting: "+why+"; asking again in ") {
		t.Errorf("doing %q", v.Doing)
	}
}

func TestPageClosesWhenForgotten(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	l.world.Missing = true
	if err := l.page(visited(start)); err != nil {
		t.Errorf("ended with %v", err)
	}
	l.wantCalls(contract.Acquire.Name, 1)
}

func TestPageEvictedCompletes(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	l.world.OnPlan = func(_ contract.PlanIn, out *contract.PlanOut) { out.State = crawl.Evicted }
	if err := l.page(visited(start)); err != nil {
		t.Errorf("ended with %v", err)
	}
	l.wantTimes(0)
}

func TestPageRefusesNonsense(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	var app *temporal.ApplicationError
	if err := l.page(contract.PageIn{}); !errors.As(err, &app) || !strings.Contains(app.Message(), "add-seeds") {
		t.Errorf("ended with %v", err)
	}
}

func TestPageInterval(t *testing.T) {
	t.Parallel()
	l := newLive(t,
		update(time.Hour, contract.SetInterval, contract.DurationArg("36h")),
		update(5*day, contract.SetInterval, contract.DurationArg("0")),
		stopAt(9*day))
	l.world.OnPlan = func(_ contract.PlanIn, out *contract.PlanOut) { out.NextAt = out.At.Add(3 * day) }
	in := visited(start.Add(20 * day))
	in.Recent[0].At = start
	l.stopped(l.page(in))
	// Every 36 h from the last visit on; then, back at the policy, its 3 days after
	// the visit at 108 h.
	l.wantTimes(36*time.Hour, 72*time.Hour, 108*time.Hour, 180*time.Hour)
}

func TestPageSnooze(t *testing.T) {
	t.Parallel()
	t.Run("sleeping", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, update(time.Hour, contract.Snooze, contract.DurationArg("3d")), stopAt(3*day+2*time.Hour))
		l.stopped(l.page(visited(start.Add(2 * time.Hour))))
		l.wantTimes(3*day + time.Hour)
	})
	t.Run("taken back", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, update(time.Hour, contract.Snooze, contract.DurationArg("3d")),
			update(90*time.Minute, contract.Snooze, contract.DurationArg("0")), stopAt(3*time.Hour))
		l.stopped(l.page(visited(start.Add(2 * time.Hour))))
		l.wantTimes(2 * time.Hour)
	})
	t.Run("in line", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, update(time.Minute, contract.Snooze, contract.DurationArg("1d")), stopAt(2*day))
		l.world.OnAcquire = waitLong
		l.stopped(l.page(visited(start)))
		l.wantTimes(day + time.Minute)
		if left := l.world.Left(); len(left) != 2 || left[0].State != 0 {
			t.Errorf("left %v: a snoozed page gives up its place", left)
		}
	})
	t.Run("a person's ask comes first", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, update(time.Minute, contract.Snooze, contract.DurationArg("1d")),
			update(time.Hour, contract.VisitNow), stopAt(2*time.Hour))
		l.stopped(l.page(visited(start.Add(time.Minute * 30))))
		l.wantTimes(time.Hour)
	})
}

func TestPageUpdatesAreChecked(t *testing.T) {
	t.Parallel()
	l := newLive(t,
		update(time.Minute, contract.SetInterval, contract.DurationArg("soon")),
		update(time.Minute, contract.SetInterval, contract.DurationArg("1ms")),
		update(time.Minute, contract.Snooze, contract.DurationArg("-3d")),
		update(time.Minute, contract.Snooze, contract.DurationArg("9000d")),
		stopAt(time.Hour))
	l.stopped(l.page(visited(start.Add(day))))
	if len(l.rejects) != 4 || len(l.acks) != 0 {
		t.Errorf("rejected %v, acknowledged %v", l.rejects, l.acks)
	}
	if l.timers != 1 {
		t.Errorf("%d timers, want 1: what is refused changes nothing", l.timers)
	}
}

func TestPageReschedule(t *testing.T) {
	t.Parallel()
	to := func(d time.Duration, visit int) contract.RescheduleArg {
		return contract.RescheduleArg{Due: start.Add(d), Why: "gains most", Visit: visit}
	}
	t.Run("sleeping", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, signal(time.Hour, contract.Reschedule, to(3*time.Hour, 3)), look(2*time.Hour), stopAt(4*time.Hour))
		l.stopped(l.page(visited(start.Add(day))))
		l.wantTimes(3 * time.Hour)
		if l.views[0].Why != "gains most" {
			t.Errorf("why %q", l.views[0].Why)
		}
	})
	t.Run("overtaken by a visit", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, signal(time.Hour, contract.Reschedule, to(3*time.Hour, 2)), stopAt(4*time.Hour))
		l.stopped(l.page(visited(start.Add(day))))
		l.wantTimes()
	})
	// Maintenance tells each overdue page its time once, whether the page knows it or not.
	t.Run("told what it knows", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, signal(time.Hour, contract.Reschedule, to(day, 3)), look(2*time.Hour), stopAt(25*time.Hour))
		l.stopped(l.page(visited(start.Add(day))))
		l.wantTimes(day)
		if l.views[0].Why != "policy" || l.timers != 2 {
			t.Errorf("why %q, %d timers; want its own reason, and one timer before the visit and one after", l.views[0].Why, l.timers)
		}
	})
	t.Run("snoozed", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, signal(2*time.Hour, contract.Reschedule, to(time.Hour, 3)), stopAt(50*time.Hour))
		in := visited(start.Add(day))
		in.Snoozed = start.Add(2 * day)
		l.stopped(l.page(in))
		l.wantTimes(2 * day)
	})
	t.Run("in line", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, signal(time.Minute, contract.Reschedule, to(3*day, 3)), stopAt(2*time.Hour))
		l.world.OnAcquire = waitLong
		l.stopped(l.page(visited(start)))
		l.wantTimes(time.Hour)
	})
}

func TestPageExplains(t *testing.T) {
	t.Parallel()
	var got contract.ExplainView
	l := newLive(t,
		update(time.Minute, contract.SetInterval, contract.DurationArg("2d")),
		update(time.Minute, contract.Snooze, contract.DurationArg("5d")),
		do(2*time.Minute, func(l *live) {
			value, err := l.env.QueryWorkflow(contract.ExplainQuery)
			if err == nil {
				err = value.Get(&got)
			}
			if err != nil {
				t.Error(err)
			}
		}), stopAt(time.Hour))
	l.stopped(l.page(visited(start.Add(day))))
	text := strings.Join(got.Reasons, "\n")
	for _, want := range []string{"policy", "every 2d", "snoozed"} {
		if !strings.Contains(text, want) {
			t.Errorf("explanation lacks %q:\n%s", want, text)
		}
	}
	if got.Interval != "2d" || got.Why != "snoozed by a person" {
		t.Errorf("%+v", got)
	}
}
