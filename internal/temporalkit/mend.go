package temporalkit

import (
	"context"
	"errors"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// Mended reports what was wrong with a workflow, and what was done about it.
type Mended struct {
	Condition Condition // before; Gone and Stuck were restarted
	Why       string    // it was stuck, or runs and waits for a key
}

// MendPage starts the page's workflow if none runs, and restarts it if it is stuck. The
// new one keeps the interval and the snooze that people asked of a stuck one; those of
// one that is gone are lost.
func (w Workflows) MendPage(ctx context.Context, in contract.PageIn) (Mended, error) {
	options := w.pageOptions(in)
	return w.mend(ctx, options, contract.PageWorkflow, &in, func() error { return w.keepWishes(ctx, options.ID, &in) })
}

// mend starts a workflow if none runs. If it is stuck, mend ends it and starts it anew;
// keep is called first, and may change the input to which in points.
func (w Workflows) mend(ctx context.Context, options client.StartWorkflowOptions, workflow string, in any, keep func() error) (Mended, error) {
	options.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL
	options.WorkflowExecutionErrorWhenAlreadyStarted = true
	_, err := w.Client.ExecuteWorkflow(ctx, options, workflow, in)
	var runs *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case err == nil:
		return Mended{}, nil
	case !errors.As(err, &runs):
		return Mended{}, fmt.Errorf("start %s: %w", options.ID, err)
	}
	health, err := w.Health(ctx, options.ID)
	locked := false
	if err == nil && w.ReplaceLocked && health.WantsKey() {
		locked, err = w.lockedForAll(ctx, options.ID)
	}
	if err != nil || health.Condition != Stuck && !locked {
		return Mended{Condition: Runs, Why: health.Why}, err // one that has just ended is found next time
	}
	if err := keep(); err != nil && (!locked || !isLocked(err)) {
		return Mended{}, err
	}
	options.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING
	if _, err := w.Client.ExecuteWorkflow(ctx, options, workflow, in); err != nil {
		return Mended{}, fmt.Errorf("start %s anew: %w", options.ID, err)
	}
	return Mended{Stuck, health.Why}, nil
}

func (w Workflows) pageOptions(in contract.PageIn) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID:                       contract.PageID(in.Page.Crawl, in.Page.URL),
		TaskQueue:                w.queue(),
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		TypedSearchAttributes:    contract.PageAttributes(in),
		StaticSummary:            contract.PageSummary(in.Page),
	}
}

// keepWishes reads from the history of a page's run the people's requests that the store
// does not have. A stuck workflow cannot be asked. Data in an unknown form is lost; data
// encrypted with a key that we lack is an error.
func (w Workflows) keepWishes(ctx context.Context, id string, in *contract.PageIn) error {
	events := w.Client.GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return fmt.Errorf("history of %s: %w", id, err)
		}
		if err := takeWish(dataOf(w.Client), in, event); err != nil {
			return fmt.Errorf("history of %s: %w", id, err)
		}
	}
	return nil
}

// takeWish records an interval or a snooze: as the run began with it, or as an update
// changed it since.
func takeWish(data converter.DataConverter, in *contract.PageIn, event *historypb.HistoryEvent) error {
	if begun := event.GetWorkflowExecutionStartedEventAttributes(); begun != nil {
		var before contract.PageIn
		ok, err := decode(data, begun.GetInput(), &before)
		if ok {
			in.Interval, in.Snoozed = before.Interval, before.Snoozed
		}
		return err
	}
	asked := event.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest().GetInput()
	var arg contract.DurationArg
	if ok, err := decode(data, asked.GetArgs(), &arg); !ok {
		return err
	}
	d, err := crawl.ParseDuration(string(arg))
	switch {
	case err != nil:
	case asked.GetName() == contract.SetInterval:
		in.Interval = d
	case asked.GetName() == contract.Snooze && d == 0:
		in.Snoozed = time.Time{}
	case asked.GetName() == contract.Snooze:
		in.Snoozed = event.GetEventTime().AsTime().Add(d)
	}
	return nil
}

// decode reads the first payload, if there is one and it has the form of to.
func decode(data converter.DataConverter, payloads *commonpb.Payloads, to any) (bool, error) {
	if len(payloads.GetPayloads()) == 0 {
		return false, nil
	}
	err := data.FromPayload(payloads.GetPayloads()[0], to)
	if isLocked(err) {
		return false, err
	}
	return err == nil, nil
}

// EndStuckDiscover terminates the Discover of a visit if it is stuck, so that it can be
// restarted, and reports whether it was.
func (w Workflows) EndStuckDiscover(ctx context.Context, page crawl.PageRef, visit int) (bool, error) {
	id := contract.DiscoverID(page.Crawl, page.PageID, visit)
	health, err := w.Health(ctx, id)
	if err != nil || health.Condition != Stuck {
		return false, err
	}
	// The cause is in its history, encrypted where everything is; a reason never is.
	err = w.Client.TerminateWorkflow(ctx, id, "", "stuck")
	var gone *serviceerror.NotFound
	if err != nil && !errors.As(err, &gone) {
		return false, fmt.Errorf("terminate %s: %w", id, err)
	}
	return true, nil
}
