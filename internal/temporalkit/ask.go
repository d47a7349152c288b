package temporalkit

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/client"

	"recrawl/internal/contract"
)

// UpdatePage sends an update to a page's workflow, which it starts first if it is gone.
func (w Workflows) UpdatePage(ctx context.Context, in contract.PageIn, name string, arg any) (contract.Ack, error) {
	var args []any
	if arg != nil {
		args = []any{arg}
	}
	options := w.pageOptions(in)
	var ack contract.Ack
	handle, err := w.Client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: w.Client.NewWithStartWorkflowOperation(options, contract.PageWorkflow, in),
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: options.ID, UpdateName: name, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err == nil {
		err = handle.Get(ctx, &ack)
	}
	if err != nil {
		return ack, fmt.Errorf("%s %s: %w", name, options.ID, orStuck(err))
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
