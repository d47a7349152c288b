package temporalkit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"recrawl/internal/contract"
)

// endedBatch is how many runs a list has at most.
const endedBatch = 200

// End is the way in which a run ended that did not come to its end by itself.
type End string

// The ends that no page wants, in Temporal's words. A page that is cancelled stops, and
// so is not among them.
const (
	EndTerminated End = "Terminated"
	EndFailed     End = "Failed"
	EndTimedOut   End = "TimedOut"
)

// Ends lists them.
func Ends() []End { return []End{EndTerminated, EndFailed, EndTimedOut} }

// EndedRun is a run of a page's workflow that has ended.
type EndedRun struct {
	ID, Run   string
	TaskQueue string
	At        time.Time
}

// EndedRuns is a part of the list of runs that have ended, the last one first.
type EndedRuns struct {
	Pages []EndedRun
	// Oldest is when the part's last run ended, even if it was no page's; zero if the part
	// is empty.
	Oldest time.Time
	Next   []byte // the token of the next part, nil after the last
}

// EndedPages lists the runs of pages that have ended in a way, according to the server's
// list: it may be some seconds late. token is from the previous part, nil for the first.
//
// It filters by the state only: the server's databases have an index for that in this
// order, and with any further condition, times included, some of them read all pages.
func (w Workflows) EndedPages(ctx context.Context, end End, token []byte) (EndedRuns, error) {
	answer, err := w.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: w.Namespace, PageSize: endedBatch, NextPageToken: token, Query: "ExecutionStatus = " + quoted(string(end)),
	})
	if err != nil {
		return EndedRuns{}, fmt.Errorf("list what is %s: %w", end, err)
	}
	ended := EndedRuns{Next: answer.GetNextPageToken()}
	for _, info := range answer.GetExecutions() {
		ended.Oldest = info.GetCloseTime().AsTime()
		if info.GetType().GetName() == contract.PageWorkflow {
			run := EndedRun{ID: info.GetExecution().GetWorkflowId(), Run: info.GetExecution().GetRunId(), TaskQueue: info.GetTaskQueue(), At: ended.Oldest}
			ended.Pages = append(ended.Pages, run)
		}
	}
	return ended, nil
}

// replacedReason is the server's reason for terminating a run that was replaced by
// another.
const replacedReason = "TerminateIfRunning"

// Replaced reports whether a run was terminated because another was started in its place,
// as for one that is stuck. It reports false for a run of which nothing is left.
func (w Workflows) Replaced(ctx context.Context, id, run string) (bool, error) {
	events := w.Client.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		var gone *serviceerror.NotFound
		switch {
		case errors.As(err, &gone):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("history of %s: %w", id, err)
		}
		if was := event.GetWorkflowExecutionTerminatedEventAttributes(); was != nil {
			return strings.HasPrefix(was.GetReason(), replacedReason), nil
		}
	}
	return false, nil
}

// ErrUnreadable: how a run began cannot be read. Its history is gone, or we lack the key, or it is
// of something else. Asking again does not help.
var ErrUnreadable = errors.New("its beginning cannot be read")

// PageOf returns the input with which a run of a page's workflow began. The error wraps
// ErrUnreadable if nobody can tell us.
func (w Workflows) PageOf(ctx context.Context, id, run string) (in contract.PageIn, err error) {
	events := w.Client.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if !events.HasNext() {
		return in, fmt.Errorf("history of %s: %w: it has no events", id, ErrUnreadable)
	}
	first, err := events.Next()
	var gone *serviceerror.NotFound
	switch {
	case errors.As(err, &gone):
		return in, fmt.Errorf("history of %s: %w: %w", id, ErrUnreadable, err)
	case err != nil:
		return in, fmt.Errorf("history of %s: %w", id, err)
	}
	known, err := decode(dataOf(w.Client), first.GetWorkflowExecutionStartedEventAttributes().GetInput(), &in)
	if err != nil { // a missing key
		return in, fmt.Errorf("history of %s: %w: %w", id, ErrUnreadable, err)
	}
	if !known {
		return in, fmt.Errorf("history of %s: %w: its input is no page", id, ErrUnreadable)
	}
	return in, nil
}
