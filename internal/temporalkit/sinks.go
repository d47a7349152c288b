package temporalkit

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"recrawl/internal/contract"
)

// StartSink wakes a sink's workflow; if it is gone, StartSink first starts it.
func (w Workflows) StartSink(ctx context.Context, in contract.SinkIn, arg contract.SinkWakeArg) error {
	options := w.sinkOptions(in)
	if _, err := w.Client.SignalWithStartWorkflow(ctx, options.ID, contract.SinkWake, arg, options, contract.SinkWorkflow, in); err != nil {
		return fmt.Errorf("signal %s to %s: %w", contract.SinkWake, options.ID, err)
	}
	return nil
}

// WakeSink wakes a sink's workflow; ErrNoWorkflow if it is gone.
func (w Workflows) WakeSink(ctx context.Context, crawlName, name string, arg contract.SinkWakeArg) error {
	return w.signal(ctx, contract.SinkID(crawlName, name), contract.SinkWake, arg)
}

// MendSink starts the sink's workflow if none runs, and restarts it if it is stuck. All
// its data is in the store.
func (w Workflows) MendSink(ctx context.Context, in contract.SinkIn) (Mended, error) {
	return w.mend(ctx, w.sinkOptions(in), contract.SinkWorkflow, in, func() error { return nil })
}

// CommandSink sends an update to a sink's workflow; if it is gone, CommandSink first
// starts it.
func (w Workflows) CommandSink(ctx context.Context, in contract.SinkIn, command string, arg any) (contract.Ack, error) {
	ack, err := w.update(ctx, w.sinkOptions(in), contract.SinkWorkflow, in, command, arg)
	if err != nil {
		return ack, fmt.Errorf("sink %s of crawl %s: %w", in.Sink, in.Crawl, err)
	}
	return ack, nil
}

func (w Workflows) sinkOptions(in contract.SinkIn) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: contract.SinkID(in.Crawl, in.Sink), TaskQueue: w.queue(),
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		TypedSearchAttributes:    contract.SinkAttributes(in.Crawl),
		StaticSummary:            fmt.Sprintf("sink %s of crawl %s", in.Sink, in.Crawl),
	}
}
