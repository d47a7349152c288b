package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// startError waits for a child to start, and returns why it did not. A child that already
// runs is fine.
func startError(ctx workflow.Context, start workflow.Future) error {
	err := start.Get(ctx, nil)
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		return nil
	}
	return err
}
