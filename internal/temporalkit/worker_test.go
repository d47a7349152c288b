package temporalkit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"recrawl/internal/contract/contracttest"
	"recrawl/internal/temporalkit"
)

// polls counts the requests for workflow tasks that wait at the server, and makes the
// server report what it sometimes reports: that tasks wait for the workflows in a
// worker's memory where none does.
type polls struct {
	mu      sync.Mutex
	waiting map[enumspb.TaskQueueKind]int
	changed chan struct{}
}

func (p *polls) intercept(ctx context.Context, method string, in, out any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
	request, polls := in.(*workflowservice.PollWorkflowTaskQueueRequest)
	if !polls {
		return invoke(ctx, method, in, out, conn, o...)
	}
	kind := request.GetTaskQueue().GetKind()
	p.count(kind, 1)
	defer p.count(kind, -1)
	err := invoke(ctx, method, in, out, conn, o...)
	if answer := out.(*workflowservice.PollWorkflowTaskQueueResponse); kind == enumspb.TASK_QUEUE_KIND_STICKY && answer.GetTaskToken() != nil {
		answer.BacklogCountHint = 1
	}
	return err
}

func (p *polls) count(kind enumspb.TaskQueueKind, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[kind] += n
	close(p.changed)
	p.changed = make(chan struct{})
}

// until waits for as many requests as there are pollers, and returns how many of them wait
// for tasks of workflows that are in no worker's memory.
func (p *polls) until(ctx context.Context, t *testing.T, all int) int {
	t.Helper()
	for {
		p.mu.Lock()
		normal, sticky, changed := p.waiting[enumspb.TASK_QUEUE_KIND_NORMAL], p.waiting[enumspb.TASK_QUEUE_KIND_STICKY], p.changed
		p.mu.Unlock()
		if normal+sticky == all {
			return normal
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("%d requests wait for new workflows and %d for those in memory, not %d in all", normal, sticky, all)
		}
	}
}

// TestNewWorkflowsHaveAPoller: however many tasks the server believes to wait for the
// workflows in a worker's memory, some poller asks for those of new workflows. When
// all pollers went to the former, new pages stood still for up to a minute, and with
// them whole crawls.
func TestNewWorkflowsHaveAPoller(t *testing.T) {
	t.Parallel()
	_, address := contracttest.DevServerAt(t)
	p := &polls{waiting: map[enumspb.TaskQueueKind]int{}, changed: make(chan struct{})}
	c, err := client.Dial(client.Options{
		HostPort: address, Logger: log.NewStructuredLogger(contracttest.QuietLog()),
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithUnaryInterceptor(p.intercept)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	const pollers, rounds = 4, 20
	w := temporalkit.NewWorker(c, temporalkit.WorkerOptions{
		TaskQueue: "pollers", Activities: 2, WorkflowTasks: 10, LocalActivities: 2, Sticky: 10 * time.Second,
		WorkflowPollers: temporalkit.Pollers{Min: pollers, Max: pollers}, ActivityPollers: temporalkit.Pollers{Min: 1, Max: 1},
	})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		return workflow.ExecuteActivity(ctx, "nap").Get(ctx, nil) // wakes in the worker's memory
	}, workflow.RegisterOptions{Name: "nap"})
	w.RegisterActivityWithOptions(func(context.Context) error { return nil }, activity.RegisterOptions{Name: "nap"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for round := range rounds {
		if p.until(ctx, t, pollers) == 0 {
			t.Fatalf("after %d rounds, all pollers wait for tasks of workflows in memory", round)
		}
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: fmt.Sprint("takes a nap, ", round), TaskQueue: "pollers"}, "nap")
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Get(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGivesUp: a worker whose polls the server refuses for minutes, as while its namespace is
// missing there, stops for good. It says so, since somebody has to start another.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		refused := serviceerror.ToStatus(serviceerror.NewNamespaceNotFound("default")).Err()
		answer := func(_ context.Context, method string, _, _ any, _ *grpc.ClientConn, _ grpc.UnaryInvoker, _ ...grpc.CallOption) error {
			if strings.Contains(method, "/Poll") {
				return refused
			}
			return nil
		}
		c, err := client.NewLazyClient(client.Options{
			Logger:            log.NewStructuredLogger(contracttest.QuietLog()),
			ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(answer)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		gaveUp := make(chan error, 1)
		w := temporalkit.NewWorker(c, temporalkit.WorkerOptions{
			TaskQueue: "refused", Activities: 1, WorkflowTasks: 2, LocalActivities: 1, Sticky: time.Second,
			WorkflowPollers: temporalkit.Pollers{Min: 2, Max: 2}, ActivityPollers: temporalkit.Pollers{Min: 1, Max: 1},
			GaveUp: func(err error) { gaveUp <- err },
		})
		w.RegisterWorkflowWithOptions(func(workflow.Context) error { return nil }, workflow.RegisterOptions{Name: "none"})
		w.RegisterActivityWithOptions(func(context.Context) error { return nil }, activity.RegisterOptions{Name: "none"})
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		select {
		case err := <-gaveUp:
			if missing := new(serviceerror.NamespaceNotFound); !errors.As(err, &missing) {
				t.Error(err)
			}
		case <-time.After(time.Hour):
			t.Error("nobody learns that the worker has stopped")
		}
	})
}
