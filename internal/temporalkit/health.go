package temporalkit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"recrawl/internal/contract"
)

// Condition is the state of a workflow's health.
type Condition int

// The conditions.
const (
	Gone  Condition = iota // it has no running workflow
	Runs                   // it runs
	Stuck                  // its workflow task fails again and again: it runs, and does nothing
)

// Health is the condition of a workflow.
type Health struct {
	Condition Condition
	// Ended says how the last run ended, in one word ("terminated"), if there is one.
	Ended string
	// Why is why the workflow task fails, even of one that runs: a missing key.
	Why string
}

// stuckAttempts is how many times in a row a workflow task must have failed before its
// workflow counts as stuck. The server tries three times at once, then after 5 s, 10 s and
// so on: this is a quarter of a minute, in which a worker of another version may take it.
const stuckAttempts = 5

// maxWhy bounds the words about a failure.
const maxWhy = 200

// Health asks for the condition of a workflow. It is certain of a stuck one: an attempt
// that only timed out, as on a machine that is too busy, does not count.
func (w Workflows) Health(ctx context.Context, id string) (Health, error) {
	d, err := w.Client.DescribeWorkflowExecution(ctx, id, "")
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return Health{}, nil
	}
	if err != nil {
		return Health{}, fmt.Errorf("describe %s: %w", id, err)
	}
	info := d.GetWorkflowExecutionInfo()
	if status := info.GetStatus(); status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return Health{Ended: strings.ToLower(status.String())}, nil
	}
	if d.GetPendingWorkflowTask().GetAttempt() < stuckAttempts {
		return Health{Condition: Runs}, nil
	}
	failure, err := w.lastFailure(ctx, id, info.GetExecution().GetRunId())
	switch {
	case err == nil && failure == nil && reportsNondeterminism(info.GetSearchAttributes()):
		return Health{Condition: Stuck, Why: nondeterminism}, nil
	case err != nil || failure == nil:
		return Health{Condition: Runs}, err
	}
	why := whyStuck(dataOf(w.Client), failure)
	if wantsKey(why) { // a worker with the key goes on with it
		return Health{Condition: Runs, Why: why}, nil
	}
	return Health{Condition: Stuck, Why: why}, nil
}

const (
	// reportedProblems is the attribute in which servers from 1.30 on say how the last of
	// several failed attempts failed. The history has only the first of them, which may have
	// timed out because its worker was gone.
	reportedProblems = "TemporalReportedProblems"
	nondeterminism   = "its history does not fit the workflow's code"
)

// reportsNondeterminism reports whether a server says that a workflow's history does not fit
// its code. That is no matter of a missing key, nor of a busy machine.
func reportsNondeterminism(attributes *commonpb.SearchAttributes) bool {
	payload, ok := attributes.GetIndexedFields()[reportedProblems]
	if !ok {
		return false
	}
	var problems []string
	if err := converter.GetDefaultDataConverter().FromPayload(payload, &problems); err != nil {
		return false
	}
	return slices.ContainsFunc(problems, func(p string) bool {
		return strings.HasPrefix(p, "cause=") && strings.HasSuffix(p, "NonDeterministicError")
	})
}

// lastFailure returns the failure of the last workflow task that ended, nil if it did not
// fail.
func (w Workflows) lastFailure(ctx context.Context, id, run string) (*historypb.WorkflowTaskFailedEventAttributes, error) {
	var last *historypb.HistoryEvent
	events := w.Client.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return nil, fmt.Errorf("history of %s: %w", id, err)
		}
		switch event.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED, enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
			last = event
		}
	}
	return last.GetWorkflowTaskFailedEventAttributes(), nil
}

func whyStuck(data converter.DataConverter, f *historypb.WorkflowTaskFailedEventAttributes) string {
	text := oneLine(errors.New(failureText(data, f.GetFailure())))
	if text == "" {
		text = f.GetCause().String()
	}
	if len(text) > maxWhy {
		text = strings.ToValidUTF8(text[:maxWhy], "") + "…"
	}
	return text
}

// CrawlHealth is Health of a crawl's workflow.
func (w Workflows) CrawlHealth(ctx context.Context, name string) (Health, error) {
	return w.Health(ctx, contract.CrawlID(name))
}

// RestartCrawl starts the workflow of a crawl in the store, from its record there: it
// opens nothing, so that a crawl that was paused or stopped stays so. One that runs is
// left alone, unless replace ends it.
func (w Workflows) RestartCrawl(ctx context.Context, spec json.RawMessage, progress contract.CrawlProgress, replace bool) error {
	options := w.crawlOptions(progress.Name)
	progress.Store = cmp.Or(progress.Store, w.Store)
	if replace {
		options.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING
	}
	if _, err := w.Client.ExecuteWorkflow(ctx, options, contract.CrawlWorkflow, spec, progress); err != nil {
		return fmt.Errorf("start %s: %w", options.ID, err)
	}
	return nil
}

// crawlOptions are the options of a crawl of w's store.
func (w Workflows) crawlOptions(name string) client.StartWorkflowOptions {
	var memo map[string]any
	if w.Store != "" {
		memo = map[string]any{contract.MemoStore: w.Store}
	}
	return client.StartWorkflowOptions{
		ID: contract.CrawlID(name), TaskQueue: w.queue(), Memo: memo,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		StaticSummary:            "crawl " + name,
		Priority:                 contract.CrawlPriority,
	}
}
