package temporalkit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// ErrNoWorkflow: the page or crawl has no running workflow.
var ErrNoWorkflow = errors.New("no running workflow")

// Workflows starts and signals recrawl's workflows from outside of them.
type Workflows struct {
	Client client.Client
	// Namespace is their namespace; "" where nothing is deleted or overtakes.
	Namespace string
	// TaskQueue is where workflows are started; "" is contract.TaskQueue. Their children
	// inherit it.
	TaskQueue string
	// Store is the identity of the store whose crawls are started; "" if it is not
	// known, and the first worker that opens a crawl makes it its store's.
	Store string
	// Code, unless nil, registers the workflows' code. It shows that a workflow is stuck even if
	// its worker could not say so.
	Code func(worker.WorkflowRegistry)
	// ReplaceLocked: a workflow that is mended may be replaced even if all that is wrong is that
	// its worker, and we, lack a key. That is a person's decision: another worker may have it.
	ReplaceLocked bool
}

func (w Workflows) queue() string { return cmp.Or(w.TaskQueue, contract.TaskQueue) }

// StartPage starts the page's workflow unless it runs already.
func (w Workflows) StartPage(ctx context.Context, in contract.PageIn) error {
	opts := w.pageOptions(in)
	if _, err := w.Client.ExecuteWorkflow(ctx, opts, contract.PageWorkflow, in); err != nil {
		return fmt.Errorf("start %s: %w", opts.ID, err)
	}
	return nil
}

// Turn tells a waiting page that its host is free in in.
func (w Workflows) Turn(ctx context.Context, page crawl.PageRef, in time.Duration) error {
	return w.signal(ctx, contract.PageID(page.Crawl, page.URL), contract.TurnSignal, contract.TurnArg{In: in})
}

// Reschedule moves the due time of a page that sleeps.
func (w Workflows) Reschedule(ctx context.Context, page crawl.PageRef, arg contract.RescheduleArg) error {
	return w.signal(ctx, contract.PageID(page.Crawl, page.URL), contract.Reschedule, arg)
}

// queryLimit bounds the wait for a worker to answer a query.
const queryLimit = 5 * time.Second

// Explain asks a page's workflow for the reasons of its next visit.
func (w Workflows) Explain(ctx context.Context, page crawl.PageRef) (contract.ExplainView, error) {
	var view contract.ExplainView
	id := contract.PageID(page.Crawl, page.URL)
	asking, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	answer, err := w.Client.QueryWorkflow(asking, id, "", contract.ExplainQuery)
	var gone *serviceerror.NotFound
	switch {
	case errors.As(err, &gone):
		return view, fmt.Errorf("%s: %w", id, ErrNoWorkflow)
	case asking.Err() != nil && ctx.Err() == nil:
		return view, fmt.Errorf("%s: no worker answered within %s: they or the store are busy, or none runs", id, queryLimit)
	case err != nil:
		return view, fmt.Errorf("%s of %s: %w", contract.ExplainQuery, id, w.orStuck(ctx, id, err))
	}
	if err := answer.Get(&view); err != nil {
		return view, fmt.Errorf("%s of %s: %w", contract.ExplainQuery, id, err)
	}
	return view, nil
}

// StopPage asks a page's workflow to complete, because its crawl was stopped.
func (w Workflows) StopPage(ctx context.Context, page crawl.PageRef) error {
	return w.signal(ctx, contract.PageID(page.Crawl, page.URL), contract.StopName, contract.StopArg{Closing: true})
}

// EvictPage tells a page's workflow that the page gave its place to another.
func (w Workflows) EvictPage(ctx context.Context, page crawl.PageRef) error {
	return w.signal(ctx, contract.PageID(page.Crawl, page.URL), contract.Evict, nil)
}

func (w Workflows) signal(ctx context.Context, id, name string, arg any) error {
	err := w.Client.SignalWorkflow(ctx, id, "", name, arg)
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return fmt.Errorf("%s: %w", id, ErrNoWorkflow)
	}
	if err != nil {
		return fmt.Errorf("signal %s to %s: %w", name, id, err)
	}
	return nil
}

const (
	// openLimit is how long a start waits for a worker to open the crawl.
	openLimit = 15 * time.Second
	// openRounds is how many times as long it waits for a worker that is opening it: where very
	// many pages were stopped with the crawl and come back, that takes minutes.
	openRounds = 40
)

// ErrNotTaken: the crawl's workflow is there, but no worker has taken it up yet.
var ErrNotTaken = errors.New("no worker has taken it up yet")

// ErrRuns: the crawl's workflow runs already, and has not heard of the spec to start it with.
var ErrRuns = errors.New("it runs already")

// StartCrawl starts the crawl's workflow, and waits until the crawl is open in the store. The error
// is a *crawl.SpecError when its spec is refused, wraps ErrNotTaken when nobody answers, and
// ErrRuns when the workflow runs already and the crawl is open.
func (w Workflows) StartCrawl(ctx context.Context, name string, spec json.RawMessage) error {
	id := contract.CrawlID(name)
	run, err := w.startCrawl(ctx, id, name, spec)
	another := errors.As(err, new(*serviceerror.WorkflowExecutionAlreadyStarted))
	if err != nil && !another {
		return err
	}
	for range openRounds {
		if another {
			err = w.awaitOther(ctx, id)
		} else {
			err = w.awaitOpen(ctx, id, run)
		}
		if !errors.Is(err, ErrNotTaken) || !w.isOpening(ctx, id) {
			return err
		}
	}
	return fmt.Errorf("%s is started, and a worker is still opening it: starter status says how many of its pages have come back", id)
}

// awaitOther is awaitOpen for a crawl that somebody else has started. What is wrong with their spec
// is theirs to hear.
func (w Workflows) awaitOther(ctx context.Context, id string) error {
	waiting, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	_, err := w.Update(waiting, id, contract.AwaitOpen)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case waiting.Err() != nil || errors.As(err, new(*client.WorkflowUpdateServiceTimeoutOrCanceledError)):
		return fmt.Errorf("%s was started by somebody else, but %w: is a worker running?", id, ErrNotTaken)
	}
	return fmt.Errorf("%s: %w", id, ErrRuns)
}

// awaitOpen waits until the crawl is open, for openLimit.
func (w Workflows) awaitOpen(ctx context.Context, id string, run client.WorkflowRun) error {
	waiting, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	_, err := w.Update(waiting, id, contract.AwaitOpen)
	if errors.Is(err, ErrNoWorkflow) {
		// It was refused before anybody could ask: its result says why.
		err = cmp.Or(inWords(run.Get(waiting, nil)), err)
	}
	var refused *crawl.SpecError
	var late *client.WorkflowUpdateServiceTimeoutOrCanceledError // may come a moment before our own deadline
	switch {
	case errors.As(err, &refused):
		w.discard(waiting, id, run)
		return refused
	case (waiting.Err() != nil || errors.As(err, &late)) && ctx.Err() == nil:
		return fmt.Errorf("%s is started, but %w: is a worker running?", id, ErrNotTaken)
	}
	return err
}

// isOpening reports whether a worker is opening a crawl at this moment.
func (w Workflows) isOpening(ctx context.Context, id string) bool {
	asking, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	is, err := w.Client.DescribeWorkflowExecution(asking, id, "")
	if err != nil {
		return false
	}
	return slices.ContainsFunc(is.GetPendingActivities(), func(a *workflowpb.PendingActivityInfo) bool {
		return a.GetActivityType().GetName() == contract.OpenCrawl.Name && a.GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED
	})
}

// discard deletes the run of a crawl that was refused, once it has ended: the person who
// started it is told why, and no other trace of it is left. If it cannot be deleted it
// stays, failed, and says the same.
func (w Workflows) discard(ctx context.Context, id string, run client.WorkflowRun) {
	if w.Namespace == "" || run.Get(ctx, nil) == nil || ctx.Err() != nil {
		return
	}
	_, _ = w.Client.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: w.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: run.GetRunID()},
	})
}

func (w Workflows) startCrawl(ctx context.Context, id, name string, spec json.RawMessage) (client.WorkflowRun, error) {
	if err := checkSize("the spec", spec); err != nil {
		return nil, err
	}
	args := []any{spec}
	if w.Store != "" {
		args = append(args, contract.CrawlProgress{Store: w.Store})
	}
	options := w.crawlOptions(name)
	options.WorkflowIDConflictPolicy, options.WorkflowExecutionErrorWhenAlreadyStarted = enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL, true
	run, err := w.Client.ExecuteWorkflow(ctx, options, contract.CrawlWorkflow, args...)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", id, err)
	}
	return run, nil
}

// CrawlRuns reports whether a crawl's workflow runs. If both it and w know their
// stores, and these differ, that is an error: the person who names the crawl means
// another.
func (w Workflows) CrawlRuns(ctx context.Context, name string) (bool, error) {
	id := contract.CrawlID(name)
	info, err := w.running(ctx, id)
	if err != nil || info == nil {
		return false, err
	}
	of, err := memoText(dataOf(w.Client), info.GetMemo(), contract.MemoStore)
	if err != nil {
		return false, fmt.Errorf("%s: %w", id, err)
	}
	if of != "" && w.Store != "" && of != w.Store {
		return false, fmt.Errorf("%s in this namespace is of store %s, and not of yours, %s: choose another name or namespace, or the other store", id, of, w.Store)
	}
	return true, nil
}

// running returns the description of a running workflow, or nil.
func (w Workflows) running(ctx context.Context, id string) (*workflowpb.WorkflowExecutionInfo, error) {
	d, err := w.Client.DescribeWorkflowExecution(ctx, id, "")
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", id, err)
	}
	if info := d.GetWorkflowExecutionInfo(); info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return info, nil
	}
	return nil, nil
}

// Update sends an update to a workflow and waits for its answer.
func (w Workflows) Update(ctx context.Context, id, name string, args ...any) (contract.Ack, error) {
	for _, arg := range args {
		if err := checkSize("what is sent", arg); err != nil {
			return contract.Ack{}, err
		}
	}
	ack, err := answer(ctx, func(ctx context.Context, update string) (client.WorkflowUpdateHandle, error) {
		return w.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
			UpdateID: update, WorkflowID: id, UpdateName: name, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
	})
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return ack, fmt.Errorf("%s: %w", id, ErrNoWorkflow)
	}
	var refused *crawl.SpecError
	if errors.As(err, &refused) {
		return ack, refused
	}
	if err != nil {
		return ack, fmt.Errorf("%s %s: %w", name, id, w.orStuck(ctx, id, err))
	}
	return ack, nil
}
