package temporalkit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

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
	// Why says why the workflow task fails. One that Runs may have it, too: a missing key.
	Why string
}

// WantsKey reports whether its worker lacks a key to go on.
func (h Health) WantsKey() bool { return h.Condition == Runs && h.Why != "" }

// stuckAttempts is how many times in a row a workflow task must have failed before its
// workflow counts as stuck. The server tries three times at once, then after 5 s, 10 s and
// so on: this is a quarter of a minute, in which a worker of another version may take it.
const stuckAttempts = 5

// nondeterminism is how the SDK marks a history that does not fit the code.
const nondeterminism = "[TMPRL1100]"

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
	history, err := w.history(ctx, id, info.GetExecution().GetRunId())
	if err != nil {
		return Health{Condition: Runs}, err
	}
	why := w.whyStuck(info.GetExecution(), history)
	if why == "" || wantsKey(why) { // a worker with the key goes on with it
		return Health{Condition: Runs, Why: clipWhy(why)}, nil
	}
	return Health{Condition: Stuck, Why: clipWhy(why)}, nil
}

// history returns all events of a run.
func (w Workflows) history(ctx context.Context, id, run string) (*historypb.History, error) {
	history := &historypb.History{}
	events := w.Client.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return nil, fmt.Errorf("history of %s: %w", id, err)
		}
		history.Events = append(history.Events, event)
	}
	return history, nil
}

// whyStuck returns why a workflow's last task fails, "" if nothing is known to be wrong with
// it. Only the first of a task's attempts is in the history, and only of that one does a worker
// tell the server that it failed. If it timed out, as when its worker was stopped, the
// workflow's code judges.
func (w Workflows) whyStuck(run *commonpb.WorkflowExecution, history *historypb.History) string {
	last := lastTask(history)
	if failure := last.GetWorkflowTaskFailedEventAttributes(); failure != nil {
		return cmp.Or(oneLine(errors.New(failureText(dataOf(w.Client), failure.GetFailure()))), failure.GetCause().String())
	}
	if last.GetWorkflowTaskTimedOutEventAttributes() == nil || w.Code == nil {
		return ""
	}
	if err := w.replay(run, history); err != nil {
		return oneLine(err)
	}
	return ""
}

// replay runs the workflows' code along a history, and returns why it does not fit.
func (w Workflows) replay(run *commonpb.WorkflowExecution, history *historypb.History) error {
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DataConverter: dataOf(w.Client)})
	if err != nil { // a plugin's, and there is none
		return nil
	}
	w.Code(replayer)
	err = replayer.ReplayWorkflowHistoryWithOptions(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), history,
		worker.ReplayWorkflowHistoryOptions{OriginalExecution: workflow.Execution{ID: run.GetWorkflowId(), RunID: run.GetRunId()}})
	if err != nil && strings.Contains(err.Error(), nondeterminism) {
		return errors.New(nondeterminism + " its history does not fit the workflow's code")
	}
	return err
}

func clipWhy(text string) string {
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
