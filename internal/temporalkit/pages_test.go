package temporalkit

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/api/serviceerror"
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
