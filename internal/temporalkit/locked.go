package temporalkit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/converter"
)

// ErrStuck: the workflow's task fails again and again, so it answers nothing.
var ErrStuck = errors.New("its workflow is stuck; `starter repair` starts it anew")

// ErrLocked: the workflow's task fails because its worker lacks a key.
var ErrLocked = errors.New("its workflow waits for a worker with the key, or for `starter repair`, which starts it anew without")

// orStuck puts the error of a workflow whose task fails into plain words.
func (w Workflows) orStuck(ctx context.Context, id string, err error) error {
	var failing *serviceerror.WorkflowNotReady
	var unanswered *serviceerror.QueryFailed
	notReady := errors.As(err, &failing)
	if !notReady && !errors.As(err, &unanswered) {
		return err
	}
	if history, err := w.history(ctx, id, ""); err == nil {
		if why := w.whyStuck(&commonpb.WorkflowExecution{WorkflowId: id}, history); wantsKey(why) {
			return fmt.Errorf("%w: %s", ErrLocked, clipWhy(why))
		}
	}
	if notReady || strings.Contains(unanswered.Error(), nondeterminism[1:len(nondeterminism)-1]) {
		return ErrStuck
	}
	return err
}

// lockedForAll reports whether neither a running workflow's worker nor we have a key of its history:
// the worker says so, in words that we can read, and we cannot read all that it was started with
// and told.
func (w Workflows) lockedForAll(ctx context.Context, id string) (bool, error) {
	history, err := w.history(ctx, id, "")
	if err != nil {
		return false, err
	}
	data := dataOf(w.Client)
	failure := lastTask(history).GetWorkflowTaskFailedEventAttributes().GetFailure()
	if failure == nil || lockedFailure(data, failure) != nil || !wantsKey(failureText(data, failure)) {
		return false, nil
	}
	for _, event := range history.GetEvents() {
		for _, told := range []*commonpb.Payloads{
			event.GetWorkflowExecutionStartedEventAttributes().GetInput(),
			event.GetWorkflowExecutionSignaledEventAttributes().GetInput(),
			event.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest().GetInput().GetArgs(),
		} {
			if lockedPayloads(data, told) {
				return true, nil
			}
		}
	}
	return false, nil
}

func lockedPayloads(data converter.DataConverter, payloads *commonpb.Payloads) bool {
	for _, p := range payloads.GetPayloads() {
		var raw converter.RawValue
		if isLocked(data.FromPayload(p, &raw)) {
			return true
		}
	}
	return false
}

// lastTask is how the last task of a workflow ended, nil if none has.
func lastTask(history *historypb.History) (last *historypb.HistoryEvent) {
	for _, event := range history.GetEvents() {
		if event.GetWorkflowTaskCompletedEventAttributes() != nil || event.GetWorkflowTaskFailedEventAttributes() != nil || event.GetWorkflowTaskTimedOutEventAttributes() != nil {
			last = event
		}
	}
	return last
}
