package temporalkit

import (
	"context"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// UpdatePage sends a person's update to a page's workflow, which it starts first if it is
// gone. Its tasks overtake those of other pages until it has answered, or, if it is asked for a
// visit, until that is recorded.
func (w Workflows) UpdatePage(ctx context.Context, in contract.PageIn, name string, arg any) (contract.Ack, error) {
	options := w.pageOptions(in)
	w.prefer(ctx, options.ID, contract.AskedPriority)
	if name == contract.VisitNow {
		options.Priority = contract.AskedPriority
	}
	ack, err := w.update(ctx, options, contract.PageWorkflow, in, name, arg)
	if name != contract.VisitNow || err != nil {
		w.FallBack(context.WithoutCancel(ctx), in.Page)
	}
	if err != nil {
		return ack, fmt.Errorf("%s %s: %w", name, options.ID, err)
	}
	return ack, nil
}

// AskPage asks a page's workflow for a visit now, and starts it first if it is gone.
func (w Workflows) AskPage(ctx context.Context, in contract.PageIn) error {
	options := w.pageOptions(in)
	_, err := w.Client.SignalWithStartWorkflow(ctx, options.ID, contract.VisitNow, nil, options, contract.PageWorkflow, in)
	if err != nil {
		return fmt.Errorf("signal %s to %s: %w", contract.VisitNow, options.ID, err)
	}
	return nil
}

// update sends an update to a workflow, which it starts first with its input if it is gone.
func (w Workflows) update(ctx context.Context, options client.StartWorkflowOptions, workflow string, in any, name string, arg any) (contract.Ack, error) {
	var args []any
	if arg != nil {
		args = []any{arg}
	}
	ack, err := answer(ctx, func(ctx context.Context, update string) (client.WorkflowUpdateHandle, error) {
		return w.Client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: w.Client.NewWithStartWorkflowOperation(options, workflow, in),
			UpdateOptions: client.UpdateWorkflowOptions{
				UpdateID: update, WorkflowID: options.ID, UpdateName: name, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted,
			},
		})
	})
	return ack, w.orStuck(ctx, options.ID, err)
}

// FallBack stops a page's tasks from overtaking those of others.
func (w Workflows) FallBack(ctx context.Context, page crawl.PageRef) {
	w.prefer(ctx, contract.PageID(page.Crawl, page.URL), contract.PagePriority)
}

// preferLimit bounds a change of priority, without which everything works.
const preferLimit = 5 * time.Second

// prefer changes the priority of a running workflow, and of the task for which it waits.
// Errors are of no consequence: a workflow that is gone is started with its priority, and a
// server that cannot change it yet, such as 1.29, does not order by it either.
func (w Workflows) prefer(ctx context.Context, id string, priority temporal.Priority) {
	if w.Namespace == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, preferLimit)
	defer cancel()
	_, _ = w.Client.WorkflowService().UpdateWorkflowExecutionOptions(ctx, &workflowservice.UpdateWorkflowExecutionOptionsRequest{
		Namespace: w.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id},
		WorkflowExecutionOptions: &workflowpb.WorkflowExecutionOptions{Priority: &commonpb.Priority{PriorityKey: int32(priority.PriorityKey)}},
		UpdateMask:               &fieldmaskpb.FieldMask{Paths: []string{"priority.priority_key"}},
	})
}
