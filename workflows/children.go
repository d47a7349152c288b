package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// startError waits for a child's start and returns why there is none. A child
// that runs already is what was wanted.
func startError(ctx workflow.Context, start workflow.Future) error {
	err := start.Get(ctx, nil)
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		return nil
	}
	return err
}
