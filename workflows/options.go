package workflows

import (
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// All activity, timer and child options are in this file, each with its reason.

const (
	// closeMargin covers what surrounds the request: reading the page's row, the end of
	// the archive write, Release, and the way back to Temporal.
	closeMargin = 15 * time.Second
	// heartbeat is the time within which Temporal notices that a worker was killed. Workers
	// beat by themselves every few seconds while an activity runs, so it limits the
	// worker's silence, not the activity.
	heartbeat = 20 * time.Second
)

// local are the options of local activities: one transaction each, within the workflow
// task. Three quick attempts survive a lost connection. Anything longer is an outage, and
// the workflow sleeps on a durable timer instead of occupying a workflow task. 8 s is 80 %
// of the task's time-out, beyond which the SDK adds three events to keep the task alive. The
// number of attempts bounds them all together. ScheduleToClose cannot: it counts from the
// server's clock, and the SDK compares it with the worker's, so a tight one would forbid
// every retry on a worker whose clock is ahead.
func local(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout:    8 * time.Second,
		ScheduleToCloseTimeout: time.Hour,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        200 * time.Millisecond,
			BackoffCoefficient:     3,
			MaximumInterval:        2 * time.Second,
			MaximumAttempts:        3,
			NonRetryableErrorTypes: []string{contract.ErrTypeNotFound, contract.ErrTypeBadSpec, contract.ErrTypeForeignStore},
		},
		Summary: clip(summary, maxSummary),
	})
}

// permitted are the options of Fetch and RefreshRobots. There is one attempt per permit: a
// second attempt would be a second request. So a lost attempt is an outcome, and the page
// asks for another permit. The heartbeat only makes us notice sooner: the host stays
// reserved until the permit expires.
func permitted(ctx workflow.Context, permit crawl.Permit, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: max(permit.Lifetime, 0) + contract.BeginPatience + closeMargin,
		HeartbeatTimeout:    heartbeat,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:             clip(summary, maxSummary),
	})
}

// withID are the context's options for an activity of this id.
func withID(ctx workflow.Context, id string) workflow.ActivityOptions {
	options := workflow.GetActivityOptions(ctx)
	options.ActivityID = id
	return options
}

// comparing are the options of DetectChange: CPU work on bytes in the archive, for which it waits
// until there is room, and then the registering of links. A handful of attempts over a minute and a
// half distinguish a passing fault from a body that cannot be handled.
func comparing(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: contract.ComparePatience + contract.CompareLimit + time.Minute,
		HeartbeatTimeout:    heartbeat,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        time.Second,
			BackoffCoefficient:     4,
			MaximumInterval:        time.Minute,
			MaximumAttempts:        5,
			NonRetryableErrorTypes: []string{contract.ErrTypeNotFound},
		},
		Summary: clip(summary, maxSummary),
	})
}

// enduring are the options of activities without a fallback: opening a crawl, waking and
// closing its pages. They are retried for ever; a retry costs no event.
func enduring(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 5 * time.Minute,
		HeartbeatTimeout:    heartbeat,
		RetryPolicy:         patientRetries(0),
		Summary:             clip(summary, maxSummary),
	})
}

// registering are the options of RegisterLinks. It is retried for a day, since only
// maintenance finds lost links.
func registering(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    5 * time.Minute,
		HeartbeatTimeout:       heartbeat,
		ScheduleToCloseTimeout: 24 * time.Hour,
		RetryPolicy:            patientRetries(0),
		Summary:                clip(summary, maxSummary),
	})
}

// maintaining are the options of Maintain. A pass that fails five times is given up: the
// next pass repeats its work, and meanwhile the crawl must answer its updates.
func maintaining(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute,
		HeartbeatTimeout:    heartbeat,
		RetryPolicy:         patientRetries(5),
		Summary:             clip(summary, maxSummary),
	})
}

// ranking are the options of Rank: millions of pages take minutes. A ranking that fails three
// times is given up until a pass says again that it is due.
func ranking(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour,
		HeartbeatTimeout:    heartbeat,
		RetryPolicy:         patientRetries(3),
		Summary:             clip(summary, maxSummary),
	})
}

// commanded are the options of activities that a person waits for. After three attempts the
// update says what is wrong.
func commanded(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    20 * time.Second,
		ScheduleToCloseTimeout: time.Minute,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        time.Second,
			MaximumAttempts:        3,
			NonRetryableErrorTypes: []string{contract.ErrTypeNotFound, contract.ErrTypeBadSpec},
		},
		Summary: clip(summary, maxSummary),
	})
}

// delivering are the options of Deliver. It sends for some seconds only, or makes one digest
// of many pages. A receiver's answer is never its error: an error comes from the store, and
// is retried for ever; a retry costs no event.
func delivering(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute,
		HeartbeatTimeout:    heartbeat,
		RetryPolicy:         patientRetries(0),
		Summary:             clip(summary, maxSummary),
	})
}

// asking are the options of a command to a sink, for which a person waits and a receiver
// may take its time to answer: a mail server has as long as in a delivery, or it would get
// the mail twice. Other receivers answer in half a minute. A skip is tried once: if it was carried
// out and its answer was lost, another one would pass by the change after it.
func asking(ctx workflow.Context, command string) workflow.Context {
	attempts := int32(3)
	if command == contract.SinkSkip {
		attempts = 1
	}
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    10 * time.Minute,
		ScheduleToCloseTimeout: 15 * time.Minute,
		HeartbeatTimeout:       heartbeat,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        time.Second,
			MaximumAttempts:        attempts,
			NonRetryableErrorTypes: []string{contract.ErrTypeNotFound, contract.ErrTypeBadSpec},
		},
		Summary: clip(command, maxSummary),
	})
}

func patientRetries(attempts int32) *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval:        time.Second,
		BackoffCoefficient:     2,
		MaximumInterval:        time.Minute,
		MaximumAttempts:        attempts,
		NonRetryableErrorTypes: []string{contract.ErrTypeNotFound, contract.ErrTypeBadSpec},
	}
}

// ChildPageOptions are the options under which Discover starts a page.
func ChildPageOptions(in contract.PageIn) workflow.ChildWorkflowOptions {
	return workflow.ChildWorkflowOptions{
		WorkflowID: contract.PageID(in.Page.Crawl, in.Page.URL),
		// The default policy would terminate the page with its Discover.
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
		TypedSearchAttributes: contract.PageAttributes(in),
		StaticSummary:         contract.PageSummary(in.Page),
	}
}

// childDiscoverOptions are the options under which Page and Crawl start a Discover.
func childDiscoverOptions(in contract.DiscoverIn) workflow.ChildWorkflowOptions {
	summary := "admit known pages of " + in.Crawl
	if in.Register {
		summary = fmt.Sprintf("links of %s, visit %d", in.Page.URL, in.Visit)
	}
	return workflow.ChildWorkflowOptions{
		WorkflowID:            contract.DiscoverID(in.Crawl, in.Page.PageID, in.Visit),
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
		TypedSearchAttributes: contract.DiscoverAttributes(in.Crawl),
		StaticSummary:         clip(summary, maxSummary),
		// A child has its parent's otherwise, and so would the pages that it starts.
		Priority: contract.PagePriority,
	}
}
