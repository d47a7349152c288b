package temporalkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
	"recrawl/internal/temporalkit"
)

// TestBadDeploys: workflows that a bad deploy has stuck are recognised and mended. Workers
// keep none of their workflows in memory meanwhile, so that each meets those of the one
// before as after a restart. The size of that memory is the whole process's: these tests
// run beside each other, since they wait for their servers' back-off, and before all others
// in parallel.
func TestBadDeploys(t *testing.T) { //nolint:paralleltest // as said
	temporalkit.CacheWorkflows(0)
	t.Cleanup(func() { temporalkit.CacheWorkflows(1000) })
	t.Run("Health", testHealth)
	t.Run("UnsaidFailure", testUnsaidFailure)
	t.Run("MendPage", testMendPage)
	t.Run("MendSink", testMendSink)
}

// deployed runs a worker with these workflows until stop. TestBadDeploys says why only its
// parts call it.
func deployed(t *testing.T, c client.Client, workflows map[string]any) (stop func()) {
	t.Helper()
	w := worker.New(c, contract.TaskQueue, worker.Options{DeadlockDetectionTimeout: time.Minute})
	for name, fn := range workflows {
		w.RegisterWorkflowWithOptions(fn, workflow.RegisterOptions{Name: name})
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	return w.Stop
}

// asleep is a workflow that sleeps again and again, so that it has another task however late its
// worker is stopped; astray is the same after a bad deploy.
func asleep(ctx workflow.Context) error {
	for {
		if err := workflow.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

func astray(ctx workflow.Context) error {
	workflow.GetVersion(ctx, "astray", 1, 1)
	_ = workflow.SetQueryHandler(ctx, "astray", func() (int, error) { return 1, nil })
	return workflow.Await(ctx, func() bool { return false })
}

// testHealth: a workflow that runs is distinguished from one that a bad deploy has
// stuck, on a real server.
func testHealth(t *testing.T) {
	t.Parallel()
	c := contracttest.DevServer(t)
	flows := temporalkit.Workflows{Client: c}
	health := func() temporalkit.Health {
		t.Helper()
		h, err := flows.CrawlHealth(t.Context(), "news")
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if h := health(); h != (temporalkit.Health{}) {
		t.Errorf("before it was started: %+v", h)
	}
	progress := contract.CrawlProgress{Name: "news", State: crawl.CrawlPaused}
	restart := func(replace bool) {
		t.Helper()
		if err := flows.RestartCrawl(t.Context(), json.RawMessage(`{}`), progress, replace); err != nil {
			t.Fatal(err)
		}
	}
	restart(false)
	if h := health(); h.Condition != temporalkit.Runs {
		t.Errorf("no worker has taken it: %+v", h)
	}
	ran := make(chan struct{})
	stop := deployed(t, c, map[string]any{contract.CrawlWorkflow: func(ctx workflow.Context, _ json.RawMessage, _ contract.CrawlProgress) error {
		if !workflow.IsReplaying(ctx) {
			close(ran)
		}
		return asleep(ctx)
	}})
	<-ran
	stop()
	bad := deployed(t, c, map[string]any{contract.CrawlWorkflow: func(ctx workflow.Context, _ json.RawMessage, _ contract.CrawlProgress) error {
		return astray(ctx)
	}})
	for health().Condition != temporalkit.Stuck {
		select {
		case <-time.After(100 * time.Millisecond): // the server's own back-off
		case <-t.Context().Done():
			t.Fatal("never stuck")
		}
	}
	if h := health(); !strings.Contains(h.Why, "TMPRL1100") {
		t.Errorf("stuck, why: %q", h.Why)
	}
	bad()
	run := func() string {
		t.Helper()
		d, err := c.DescribeWorkflowExecution(t.Context(), contract.CrawlID("news"), "")
		if err != nil {
			t.Fatal(err)
		}
		return d.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	}
	before := run()
	restart(false)
	if run() != before {
		t.Error("a workflow that runs was replaced unasked")
	}
	restart(true)
	if h := health(); run() == before || h.Condition != temporalkit.Runs {
		t.Errorf("after it was replaced: %+v", h)
	}
	if err := c.TerminateWorkflow(t.Context(), contract.CrawlID("news"), "", "test"); err != nil {
		t.Fatal(err)
	}
	if h := health(); h != (temporalkit.Health{Ended: "terminated"}) {
		t.Errorf("terminated: %+v", h)
	}
}

// testUnsaidFailure: a worker is stopped in the middle of a task, which times out, and the next
// deploy is bad. Its workers tell the server of a task's first attempt only. The code says that
// the workflow is stuck, and of another one that it only waits for a faster worker.
func testUnsaidFailure(t *testing.T) {
	t.Parallel()
	c := contracttest.DevServer(t)
	page := func(fn func(workflow.Context) error) any {
		return func(ctx workflow.Context, _ contract.PageIn) error { return fn(ctx) }
	}
	code := func(fn any) func(worker.WorkflowRegistry) {
		return func(r worker.WorkflowRegistry) {
			r.RegisterWorkflowWithOptions(fn, workflow.RegisterOptions{Name: contract.PageWorkflow})
		}
	}
	good, bad := page(asleep), page(astray)
	stop := deployed(t, c, map[string]any{contract.PageWorkflow: good})
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "page", TaskQueue: contract.TaskQueue, WorkflowTaskTimeout: time.Second}, contract.PageWorkflow, contract.PageIn{})
	if err != nil {
		t.Fatal(err)
	}
	awaitEvent(t, c, run, enumspb.EVENT_TYPE_TIMER_STARTED)
	stop()
	polling, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	task, err := c.WorkflowService().PollWorkflowTaskQueue(polling, &workflowservice.PollWorkflowTaskQueueRequest{
		Namespace: client.DefaultNamespace, TaskQueue: &taskqueuepb.TaskQueue{Name: contract.TaskQueue},
	})
	if err != nil || task.GetAttempt() < 1 { // a first attempt may have gone to the worker that was just stopped
		t.Fatalf("the task that is never answered: attempt %d, %v", task.GetAttempt(), err)
	}
	t.Cleanup(deployed(t, c, map[string]any{contract.PageWorkflow: bad}))
	health := func(code func(worker.WorkflowRegistry)) temporalkit.Health {
		t.Helper()
		h, err := temporalkit.Workflows{Client: c, Code: code}.Health(t.Context(), "page")
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	for health(code(bad)).Condition != temporalkit.Stuck {
		select {
		case <-time.After(100 * time.Millisecond): // the server's own back-off
		case <-t.Context().Done():
			t.Fatal("never stuck")
		}
	}
	if h := health(code(bad)); h.Why != "[TMPRL1100] its history does not fit the workflow's code" {
		t.Errorf("with the bad code: %+v", h)
	}
	for name, h := range map[string]temporalkit.Health{"good": health(code(good)), "unknown": health(nil)} {
		if h != (temporalkit.Health{Condition: temporalkit.Runs}) {
			t.Errorf("with %s code: %+v", name, h)
		}
	}
}

// awaitEvent waits for an event in a run's history.
func awaitEvent(t *testing.T, c client.Client, run client.WorkflowRun, want enumspb.EventType) {
	t.Helper()
	events := c.GetWorkflowHistory(t.Context(), run.GetID(), run.GetRunID(), true, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for {
		if event, err := events.Next(); err != nil {
			t.Fatal(err)
		} else if event.GetEventType() == want {
			return
		}
	}
}

// testMendPage: a page that a bad deploy has stuck is restarted with people's requests:
// those with which its run began, and those that updates changed.
func testMendPage(t *testing.T) {
	t.Parallel()
	c := contracttest.DevServer(t)
	flows := temporalkit.Workflows{Client: c}
	in := contract.PageIn{
		Page:  crawl.PageRef{CrawlID: 1, Crawl: "news", PageID: 7, URL: "https://example.com/", Host: "example.com"},
		State: crawl.Active, Visit: 3,
	}
	id := contract.PageID(in.Page.Crawl, in.Page.URL)
	mend := func(in contract.PageIn) temporalkit.Mended {
		t.Helper()
		m, err := flows.MendPage(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	begun := in
	begun.Interval = 2 * time.Hour
	if m := mend(begun); m.Condition != temporalkit.Gone {
		t.Errorf("a page without a workflow: %+v", m)
	}
	if m := mend(in); m.Condition != temporalkit.Runs {
		t.Errorf("a page that runs: %+v", m)
	}
	stop := deployed(t, c, map[string]any{contract.PageWorkflow: func(ctx workflow.Context, _ contract.PageIn) error {
		err := workflow.SetUpdateHandler(ctx, contract.Snooze, func(workflow.Context, contract.DurationArg) (contract.Ack, error) {
			return contract.Ack{}, nil
		})
		if err != nil {
			return err
		}
		return asleep(ctx)
	}})
	asked := time.Now()
	if _, err := flows.Update(t.Context(), id, contract.Snooze, contract.DurationArg("3d")); err != nil {
		t.Fatal(err)
	}
	stop()
	bad := deployed(t, c, map[string]any{contract.PageWorkflow: func(ctx workflow.Context, _ contract.PageIn) error { return astray(ctx) }})
	for {
		if h, err := flows.Health(t.Context(), id); err != nil {
			t.Fatal(err)
		} else if h.Condition == temporalkit.Stuck {
			break
		}
		select {
		case <-time.After(100 * time.Millisecond): // the server's own back-off
		case <-t.Context().Done():
			t.Fatal("never stuck")
		}
	}
	if _, err := flows.Update(t.Context(), id, contract.VisitNow, nil); !errors.Is(err, temporalkit.ErrStuck) {
		t.Errorf("a visit of a stuck page: %v", err)
	}
	if _, err := flows.Explain(t.Context(), in.Page); !errors.Is(err, temporalkit.ErrStuck) {
		t.Errorf("explain of a stuck page: %v", err)
	}
	bad() // before the page is restarted: it would take its first task
	m := mend(in)
	if m.Condition != temporalkit.Stuck || !strings.Contains(m.Why, "TMPRL1100") {
		t.Errorf("a stuck page: %+v", m)
	}
	took := make(chan contract.PageIn, 1)
	t.Cleanup(deployed(t, c, map[string]any{contract.PageWorkflow: func(ctx workflow.Context, in contract.PageIn) error {
		took <- in
		return nil
	}}))
	got := <-took
	if got.Interval != 2*time.Hour || got.Snoozed.Before(asked.Add(71*time.Hour)) || got.Visit != 3 {
		t.Errorf("started anew with %+v, want the interval and the snooze", got)
	}
}

// testMendSink: a sink that is gone or stuck is restarted, and one that runs is left alone.
func testMendSink(t *testing.T) {
	t.Parallel()
	c := contracttest.DevServer(t)
	flows := temporalkit.Workflows{Client: c}
	in := contract.SinkIn{CrawlID: 1, Crawl: "news", Sink: "team"}
	mend := func(want temporalkit.Condition) temporalkit.Mended {
		t.Helper()
		m, err := flows.MendSink(t.Context(), in)
		if err != nil || m.Condition != want {
			t.Fatalf("%+v, %v: want %v", m, err, want)
		}
		return m
	}
	mend(temporalkit.Gone)
	mend(temporalkit.Runs)
	stop := deployed(t, c, map[string]any{contract.SinkWorkflow: func(ctx workflow.Context, _ contract.SinkIn) error {
		err := workflow.SetUpdateHandler(ctx, contract.Pause, func(workflow.Context) (contract.Ack, error) { return contract.Ack{}, nil })
		if err != nil {
			return err
		}
		return asleep(ctx)
	}})
	if _, err := flows.CommandSink(t.Context(), in, contract.Pause, nil); err != nil {
		t.Fatal(err)
	}
	stop()
	bad := deployed(t, c, map[string]any{contract.SinkWorkflow: func(ctx workflow.Context, _ contract.SinkIn) error { return astray(ctx) }})
	for {
		if h, err := flows.Health(t.Context(), contract.SinkID(in.Crawl, in.Sink)); err != nil {
			t.Fatal(err)
		} else if h.Condition == temporalkit.Stuck {
			break
		}
		select {
		case <-time.After(100 * time.Millisecond): // the server's own back-off
		case <-t.Context().Done():
			t.Fatal("never stuck")
		}
	}
	bad() // before the sink is restarted: it would take its first task
	if m := mend(temporalkit.Stuck); !strings.Contains(m.Why, "TMPRL1100") {
		t.Errorf("a stuck sink: %+v", m)
	}
	took := make(chan contract.SinkIn, 1)
	t.Cleanup(deployed(t, c, map[string]any{contract.SinkWorkflow: func(ctx workflow.Context, in contract.SinkIn) error {
		took <- in
		return nil
	}}))
	if got := <-took; got.Sink != "team" || got.Crawl != "news" || got.CrawlID != 1 {
		t.Errorf("started anew with %+v", got)
	}
}
