package temporalkit

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/client"

	"recrawl/internal/contract"
)

// UpdatePage sends an update to a page's workflow, which it starts first if it is gone.
func (w Workflows) UpdatePage(ctx context.Context, in contract.PageIn, name string, arg any) (contract.Ack, error) {
	options := w.pageOptions(in)
	ack, err := w.update(ctx, options, contract.PageWorkflow, in, name, arg)
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
func (w Workflows) update(ctx context.Context, options client.StartWorkflowOptions, workflow string, in any, name string, arg any) (ack contract.Ack, err error) {
	var args []any
	if arg != nil {
		args = []any{arg}
	}
	handle, err := w.Client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: w.Client.NewWithStartWorkflowOperation(options, workflow, in),
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: options.ID, UpdateName: name, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err == nil {
		err = handle.Get(ctx, &ack)
	}
	return ack, orStuck(err)
}
