package temporalkit

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/mock"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/mocks"
	"go.temporal.io/sdk/temporal"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// TestRefusedBeforeAsked: a worker may refuse a spec, and end its workflow, before
// the starter has asked for the result.
func TestRefusedBeforeAsked(t *testing.T) {
	t.Parallel()
	run := mocks.NewWorkflowRun(t)
	run.On("Get", mock.Anything, mock.Anything).
		Return(temporal.NewNonRetryableApplicationError(`spec: seeds[0]: "x" is not a URL`, contract.ErrTypeBadSpec, nil))
	c := mocks.NewClient(t)
	c.On("ExecuteWorkflow", mock.Anything, mock.Anything, contract.CrawlWorkflow, mock.Anything).Return(run, nil)
	c.On("UpdateWorkflow", mock.Anything, mock.Anything).Return(nil, serviceerror.NewNotFound("workflow execution already completed"))

	err := Workflows{Client: c}.StartCrawl(t.Context(), "odd", []byte(`{}`))
	var refused *crawl.SpecError
	if !errors.As(err, &refused) || !strings.HasPrefix(refused.Problem, "seeds[0]:") {
		t.Errorf("started with %v, want what is wrong with the spec", err)
	}
}

// A crawl that somebody else has started a moment before has not heard of our spec. Whoever starts
// it learns that once it is open, or ends, but not what is wrong with the other's spec.
func TestStartFindsThatItRuns(t *testing.T) {
	t.Parallel()
	opened := mocks.NewWorkflowUpdateHandle(t)
	opened.On("Get", mock.Anything, mock.Anything).Return(nil).Maybe()
	refused := temporal.NewNonRetryableApplicationError(`spec: seeds[0]: "x" is not a URL`, contract.ErrTypeBadSpec, nil)
	for name, answer := range map[string][]any{
		"opened": {opened, nil}, "refused": {nil, refused}, "ended": {nil, serviceerror.NewNotFound("workflow execution already completed")},
	} {
		c := mocks.NewClient(t)
		c.On("ExecuteWorkflow", mock.Anything, mock.MatchedBy(func(o client.StartWorkflowOptions) bool {
			return o.WorkflowExecutionErrorWhenAlreadyStarted && o.WorkflowIDConflictPolicy == enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL
		}), contract.CrawlWorkflow, mock.Anything).Return(nil, serviceerror.NewWorkflowExecutionAlreadyStarted("it runs", "", ""))
		c.On("UpdateWorkflow", mock.Anything, mock.Anything).Return(answer...)
		if err := (Workflows{Client: c}).StartCrawl(t.Context(), "news", []byte(`{}`)); !errors.Is(err, ErrRuns) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A worker that brings back the pages of a large crawl takes minutes to open it. As long as it
// is at it, the starter waits, and does not say that there is none.
func TestStartWaitsForAWorkerThatOpens(t *testing.T) {
	t.Parallel()
	for state, waits := range map[enumspb.PendingActivityState]bool{
		enumspb.PENDING_ACTIVITY_STATE_STARTED: true, enumspb.PENDING_ACTIVITY_STATE_SCHEDULED: false,
	} {
		synctest.Test(t, func(t *testing.T) {
			silent := func(args mock.Arguments) { <-args.Get(0).(context.Context).Done() }
			opened := mocks.NewWorkflowUpdateHandle(t)
			c := mocks.NewClient(t)
			c.On("ExecuteWorkflow", mock.Anything, mock.Anything, contract.CrawlWorkflow, mock.Anything).Return(mocks.NewWorkflowRun(t), nil)
			c.On("UpdateWorkflow", mock.Anything, mock.Anything).Run(silent).Return(nil, &client.WorkflowUpdateServiceTimeoutOrCanceledError{}).Once()
			c.On("DescribeWorkflowExecution", mock.Anything, "crawl/big", "").Return(&workflowservice.DescribeWorkflowExecutionResponse{
				PendingActivities: []*workflowpb.PendingActivityInfo{{ActivityType: &commonpb.ActivityType{Name: contract.OpenCrawl.Name}, State: state}},
			}, nil)
			if waits {
				opened.On("Get", mock.Anything, mock.Anything).Return(nil)
				c.On("UpdateWorkflow", mock.Anything, mock.Anything).Return(opened, nil)
			}
			err := Workflows{Client: c}.StartCrawl(t.Context(), "big", []byte(`{}`))
			if waits && err != nil || !waits && !errors.Is(err, ErrNotTaken) {
				t.Errorf("%s: %v", state, err)
			}
		})
	}
}

// What a workflow refuses is told in its own words. A spec is refused in the same words
// whether its crawl is new or runs.
func TestRefusedUpdate(t *testing.T) {
	t.Parallel()
	const unavailable = "nothing was changed, the store is unavailable; try again later"
	for _, tc := range []struct {
		name string
		err  error
		want string
		spec bool
	}{
		{"a bad spec", temporal.NewNonRetryableApplicationError("spec: identity.contact: missing", contract.ErrTypeBadSpec, nil), "spec: identity.contact: missing", true},
		{"no store", temporal.NewNonRetryableApplicationError(unavailable, contract.ErrTypeStoreUnavailable, nil), "pause crawl/t: " + unavailable, false},
		{"refused by the update's check", temporal.NewApplicationError("the crawl is stopped", ""), "pause crawl/t: the crawl is stopped", false},
	} {
		c := mocks.NewClient(t)
		c.On("UpdateWorkflow", mock.Anything, mock.Anything).Return(nil, tc.err)
		_, err := Workflows{Client: c}.Update(t.Context(), "crawl/t", "pause", nil)
		var refused *crawl.SpecError
		if err == nil || err.Error() != tc.want || errors.As(err, &refused) != tc.spec {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
}
