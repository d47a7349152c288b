package workflows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
)

// These tests show what only a real server can prove: the cost of a visit, that
// histories replay, and that a signal during continue-as-new is kept.

// onServer is a dev server with a worker that runs the workflows on a World.
type onServer struct {
	t      *testing.T
	ctx    context.Context
	client client.Client
	world  *contracttest.World
	marks  *marks
	rest   func() // stops the worker
}

func newOnServer(t *testing.T) *onServer {
	t.Helper()
	// The limit is only there to end a hang.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	s := &onServer{t: t, ctx: ctx, client: contracttest.DevServer(t), world: contracttest.NewWorld(), marks: newMarks()}
	s.world.OnPlan = func(in contract.PlanIn, out *contract.PlanOut) {
		out.NextAt = out.At.Add(time.Second)
		s.marks.reach(fmt.Sprintf("%d/%d", in.Page.PageID, in.Visit))
	}
	s.work()
	return s
}

// work starts a worker, which s.rest or the test's end stops.
func (s *onServer) work() {
	s.t.Helper()
	// A busy machine may leave us without CPU for the second after which the SDK considers a
	// workflow stuck, and tries its task again.
	w := worker.New(s.client, contract.TaskQueue, worker.Options{DeadlockDetectionTimeout: time.Minute})
	Register(w)
	s.world.Register(w)
	if err := w.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.rest = sync.OnceFunc(w.Stop)
	s.t.Cleanup(s.rest)
}

// marks are points that a World's run passes. Tests wait for them instead of for a time.
type marks struct {
	mu   sync.Mutex
	seen map[string]chan struct{}
}

func newMarks() *marks { return &marks{seen: map[string]chan struct{}{}} }

func (m *marks) channel(name string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen[name] == nil {
		m.seen[name] = make(chan struct{})
	}
	return m.seen[name]
}

func (m *marks) reach(name string) {
	c := m.channel(name)
	select {
	case <-c:
	default:
		close(c)
	}
}

func (s *onServer) await(mark string) {
	s.t.Helper()
	select {
	case <-s.marks.channel(mark):
	case <-s.ctx.Done():
		s.t.Fatalf("%s was not reached", mark)
	}
}

// begun is a workflow with its first run, which the SDK's handle forgets once it
// has followed continue-as-new.
type begun struct {
	client.WorkflowRun
	first string
}

func (s *onServer) start(options client.StartWorkflowOptions, name string, args ...any) begun {
	s.t.Helper()
	options.TaskQueue = contract.TaskQueue
	run, err := s.client.ExecuteWorkflow(s.ctx, options, name, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return begun{run, run.GetRunID()}
}

func (s *onServer) startPage(in contract.PageIn) begun {
	s.t.Helper()
	return s.start(client.StartWorkflowOptions{
		ID:                    contract.PageID(in.Page.Crawl, in.Page.URL),
		TypedSearchAttributes: contract.PageAttributes(in), StaticSummary: contract.PageSummary(in.Page),
	}, contract.PageWorkflow, in)
}

func (s *onServer) signal(id, name string, arg any) {
	s.t.Helper()
	if err := s.client.SignalWorkflow(s.ctx, id, "", name, arg); err != nil {
		s.t.Fatal(err)
	}
}

func (s *onServer) update(id, name string, args ...any) contract.Ack {
	s.t.Helper()
	var ack contract.Ack
	handle, err := s.client.UpdateWorkflow(s.ctx, client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: name, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(s.ctx, &ack)
	}
	if err != nil {
		s.t.Fatalf("update %s: %v", name, err)
	}
	return ack
}

func (s *onServer) end(run begun) {
	s.t.Helper()
	if err := run.Get(s.ctx, nil); err != nil {
		s.t.Fatalf("%s ended with %v", run.GetID(), err)
	}
}

// endOfRun waits until the first run has continued as new.
func (s *onServer) endOfRun(run begun) {
	s.t.Helper()
	err := s.client.GetWorkflow(s.ctx, run.GetID(), run.first).
		GetWithOptions(s.ctx, nil, client.WorkflowRunGetOptions{DisableFollowingRuns: true})
	var again *workflow.ContinueAsNewError
	if !errors.As(err, &again) {
		s.t.Fatalf("the first run ended with %v", err)
	}
}

func (s *onServer) history(id, runID string) *historypb.History {
	s.t.Helper()
	history := &historypb.History{}
	iter := s.client.GetWorkflowHistory(s.ctx, id, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for iter.HasNext() {
		event, err := iter.Next()
		if err != nil {
			s.t.Fatal(err)
		}
		history.Events = append(history.Events, event)
	}
	return history
}

// awaitEvent waits until the first run has an event of a type.
func (s *onServer) awaitEvent(run begun, kind enumspb.EventType) {
	s.t.Helper()
	iter := s.client.GetWorkflowHistory(s.ctx, run.GetID(), run.first, true, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for iter.HasNext() {
		event, err := iter.Next()
		if err != nil {
			s.t.Fatal(err)
		}
		if event.GetEventType() == kind {
			return
		}
	}
	s.t.Fatalf("%s ended without %s", run.GetID(), kind)
}

// chain is the histories of all runs from the first on.
func (s *onServer) chain(run begun) []*historypb.History {
	s.t.Helper()
	var all []*historypb.History
	for runID := run.first; runID != ""; {
		h := s.history(run.GetID(), runID)
		all = append(all, h)
		last := h.Events[len(h.Events)-1]
		runID = last.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
	}
	return all
}

// An unchanged visit that does not wait is at most 16 events and exactly two workflow tasks:
// timer to request, answer to timer. A changed one has the comparison besides, which registers
// its links, and no Discover if all are known.
func TestCostOfAVisit(t *testing.T) {
	t.Parallel()
	for _, cost := range []struct {
		name          string
		fetch         func(time.Time) contract.FetchOut
		events, tasks int
	}{
		{"unchanged", contracttest.Unchanged, 16, 2},
		{"changed", contracttest.Changed, 19, 3},
	} {
		t.Run(cost.name, func(t *testing.T) {
			t.Parallel()
			s := newOnServer(t)
			s.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) { return cost.fetch(try.Now), nil }
			s.world.OnDetect = func(in contract.DetectIn) (contract.DetectOut, error) {
				return contract.DetectOut{Outcome: in.Fetch.Outcome, Links: 3, Registered: &contract.RegisterOut{Seen: 3}}, nil
			}
			in := pageIn()
			in.Due = time.Now()
			run := s.startPage(in)
			s.await("42/6")
			s.signal(run.GetID(), contract.StopName, nil)
			s.end(run)
			// Where the machine was so busy that a page was due again at once, it did not sleep.
			visits := slices.DeleteFunc(perVisit(s.chain(run)[0].Events), func(between []*historypb.HistoryEvent) bool { return requests(between) != 1 })
			if len(visits) == 0 {
				t.Fatal("no visit stands between two sleeps")
			}
			for i, visit := range visits {
				tasks := 0
				for _, e := range visit {
					if e.EventType == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
						tasks++
					}
				}
				if len(visit) > cost.events || tasks != cost.tasks {
					t.Errorf("visit %d: %d events and %d workflow tasks, want at most %d and %d:%s", i, len(visit), tasks, cost.events, cost.tasks, listing(visit))
				}
			}
			t.Logf("a visit is %d events:%s", len(visits[0]), listing(visits[0]))
		})
	}
}

// requests counts the requests for the page.
func requests(events []*historypb.HistoryEvent) int {
	n := 0
	for _, e := range events {
		if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == contract.Fetch.Name {
			n++
		}
	}
	return n
}

// perVisit cuts a history where the page went to sleep. The last sleep is ended by a stop.
func perVisit(events []*historypb.HistoryEvent) [][]*historypb.HistoryEvent {
	var visits [][]*historypb.HistoryEvent
	for _, e := range events {
		if e.EventType == enumspb.EVENT_TYPE_TIMER_STARTED {
			visits = append(visits, nil)
		}
		if len(visits) > 0 {
			visits[len(visits)-1] = append(visits[len(visits)-1], e)
		}
	}
	return visits[:max(len(visits)-1, 0)]
}

func listing(events []*historypb.HistoryEvent) string {
	text := ""
	for _, e := range events {
		text += "\n  " + e.EventType.String()
	}
	return text
}

// Signals sent while runs end and begin, as fast as possible, all arrive.
func TestSignalsAcrossRunsOnServer(t *testing.T) {
	t.Parallel()
	s := newOnServer(t)
	s.world.OnPlan = func(in contract.PlanIn, out *contract.PlanOut) {
		s.marks.reach(fmt.Sprintf("%d/%d", in.Page.PageID, in.Visit))
	}
	in := pageIn()
	in.Tuning.VisitsPerRun = 1
	run := s.startPage(in)
	// Each ask is sent the instant the visit before it is recorded: while the run
	// that made it is ending.
	for visit := 1; visit <= 5; visit++ {
		s.await(fmt.Sprintf("42/%d", visit))
		s.signal(run.GetID(), contract.VisitNow, nil)
	}
	s.await("42/6")
	s.signal(run.GetID(), contract.StopName, nil)
	s.end(run)
	visits := s.world.Visits()
	if len(visits) != 6 {
		t.Errorf("%d visits, want 6: the first and one for each ask", len(visits))
	}
	for _, v := range visits[1:] {
		if v.Class != crawl.ClassManual {
			t.Errorf("%v: want a person's", v)
		}
	}
}
