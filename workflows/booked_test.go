package workflows

import (
	"fmt"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"recrawl/internal/contract"
)

// bookedPage is a page that is due in an hour and has a place in line, in which it may sleep
// for three.
func bookedPage() contract.PageIn {
	in := visited(start.Add(time.Hour))
	in.InLine, in.Booked, in.Wake, in.Waiting = true, in.Due, start.Add(3*time.Hour), "in line: its turn wakes it"
	return in
}

func TestBookedPageNext(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*contract.PageIn)
		now    time.Duration
		do     pageDo
		until  time.Duration
	}{
		{"not due", func(*contract.PageIn) {}, 0, pageSleep, 3 * time.Hour},
		{"due, not called", func(*contract.PageIn) {}, 2 * time.Hour, pageSleep, 3 * time.Hour},
		{"never called", func(*contract.PageIn) {}, 3 * time.Hour, pageAsk, 0},
		{"called", func(s *contract.PageIn) { takeTurn(s, contract.TurnArg{}, start.Add(2*time.Hour)) }, 2 * time.Hour, pageAsk, 0},
		{"called a moment early", func(s *contract.PageIn) { takeTurn(s, contract.TurnArg{}, start.Add(time.Hour-time.Second)) }, time.Hour - time.Second, pageAsk, 0},
		{"called by a turn for the visit before", func(s *contract.PageIn) { takeTurn(s, contract.TurnArg{}, start.Add(time.Second)) }, time.Second, pageSleep, time.Hour},
		{"asked for", askVisit, 0, pageAsk, 0},
		{"snoozed", func(s *contract.PageIn) { s.Snoozed = start.Add(day) }, 0, pageLeave, 0},
		{"a later interval", func(s *contract.PageIn) { s.Interval = 9 * day }, 0, pageLeave, 0},
		{"a shorter interval", func(s *contract.PageIn) { s.Interval = time.Hour }, 0, pageAsk, 0},
		{"moved", func(s *contract.PageIn) { reschedule(s, contract.RescheduleArg{Due: start.Add(day)}) }, 0, pageLeave, 0},
		{"moved to now", func(s *contract.PageIn) { reschedule(s, contract.RescheduleArg{Due: start}) }, 0, pageAsk, 0},
		{"stopped", askStop, 0, pageStop, 0},
		{"evicted", askEvict, 0, pageEvict, 0},
	} {
		s, now := bookedPage(), start.Add(tt.now)
		tt.change(&s)
		step := pageNext(&s, now)
		var until time.Time
		if tt.until > 0 {
			until = start.Add(tt.until)
		}
		if step.do != tt.do || !step.until.Equal(until) {
			t.Errorf("%s: %d until %s, want %d until %s", tt.name, step.do, step.until, tt.do, until)
		}
	}
}

func TestBookedPage(t *testing.T) {
	t.Parallel()
	t.Run("turn", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, signal(2*time.Hour, contract.TurnSignal, contract.TurnArg{}), stopAt(4*time.Hour))
		l.stopped(l.page(bookedPage()))
		l.wantTimes(2 * time.Hour)
	})
	t.Run("a turn before it is due by the workflow's clock", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, signal(time.Hour-time.Second, contract.TurnSignal, contract.TurnArg{}), stopAt(4*time.Hour))
		l.stopped(l.page(bookedPage()))
		l.wantTimes(time.Hour - time.Second)
		if left := l.world.Left(); len(left) != 1 {
			t.Errorf("left %v: only the stop leaves the line", left)
		}
	})
	t.Run("lost turn", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, stopAt(4*time.Hour))
		l.stopped(l.page(bookedPage()))
		l.wantTimes(3 * time.Hour)
	})
	t.Run("a person asks", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, update(time.Minute, contract.VisitNow), stopAt(4*time.Hour))
		l.stopped(l.page(bookedPage()))
		l.wantTimes(time.Minute)
	})
	t.Run("a person snoozes", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, update(time.Minute, contract.Snooze, contract.DurationArg("5h")),
			signal(2*time.Hour, contract.TurnSignal, contract.TurnArg{}), stopAt(6*time.Hour))
		l.stopped(l.page(bookedPage()))
		l.wantTimes(5*time.Hour + time.Minute)
		if left := l.world.Left(); len(left) != 2 || left[0].State != 0 {
			t.Errorf("left %v: a snoozed page gives up its place", left)
		}
	})
	t.Run("the request for one more visit came during the last", func(t *testing.T) {
		t.Parallel()
		s := visited(start)
		s.Asked = true
		adopt(&s, contract.PlanOut{NextAt: start.Add(time.Hour), InLineUntil: start.Add(3 * time.Hour)}, "")
		if step := pageNext(&s, start); step.do != pageAsk {
			t.Errorf("%d until %s: it is asked for", step.do, step.until)
		}
	})
}

// adopted waits until a page has adopted the plan of a visit, and sleeps.
func (s *onServer) adopted(run begun, visit int) {
	s.t.Helper()
	for view := (contract.PageView{}); view.Visits < visit; {
		answer, err := s.client.QueryWorkflow(s.ctx, run.GetID(), "", contract.StateQuery)
		if err == nil {
			err = answer.Get(&view)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// A visit whose place was booked and that a turn calls is 14 events: the turn in place of the
// timer, which is cancelled, and one ask.
func TestCostOfABookedVisit(t *testing.T) {
	t.Parallel()
	s := newOnServer(t)
	s.world.OnPlan = func(in contract.PlanIn, out *contract.PlanOut) {
		out.NextAt = out.At.Add(time.Second)
		out.InLineUntil = out.NextAt.Add(time.Hour)
		s.marks.reach(fmt.Sprintf("%d/%d", in.Page.PageID, in.Visit))
	}
	in := pageIn()
	in.Due = time.Now()
	run := s.startPage(in)
	const visits = 6
	for visit := 1; visit < visits; visit++ {
		s.await(fmt.Sprintf("42/%d", visit))
		s.adopted(run, visit)
		s.signal(run.GetID(), contract.TurnSignal, contract.TurnArg{})
	}
	s.await(fmt.Sprintf("42/%d", visits))
	s.adopted(run, visits)
	s.signal(run.GetID(), contract.StopName, nil)
	s.end(run)

	var each [][]*historypb.HistoryEvent
	for _, e := range s.chain(run)[0].Events {
		if e.EventType == enumspb.EVENT_TYPE_TIMER_STARTED {
			each = append(each, nil)
		}
		if len(each) > 0 {
			each[len(each)-1] = append(each[len(each)-1], e)
		}
	}
	if len(each) != visits {
		t.Fatalf("%d sleeps, want one after each of %d visits", len(each), visits)
	}
	for i, visit := range each[:visits-1] { // the stop ends the last sleep
		if len(visit) > 14 {
			t.Errorf("visit %d: %d events, want at most 14:%s", i+2, len(visit), listing(visit))
		}
	}
	if calls := s.world.Calls(contract.Acquire.Name); calls != visits {
		t.Errorf("%d asks for %d visits", calls, visits)
	}
	t.Logf("a called visit is %d events:%s", len(each[1]), listing(each[1]))
}
