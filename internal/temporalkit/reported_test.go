package temporalkit

import (
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// As a server writes them, from 1.30 on.
func TestReportsNondeterminism(t *testing.T) {
	t.Parallel()
	attributes := func(problems any) *commonpb.SearchAttributes {
		payload, err := converter.GetDefaultDataConverter().ToPayload(problems)
		if err != nil {
			t.Fatal(err)
		}
		return &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{reportedProblems: payload}}
	}
	for name, c := range map[string]struct {
		attributes *commonpb.SearchAttributes
		want       bool
	}{
		"none":            {nil, false},
		"another kind":    {&commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{"CrawlName": {}}}, false},
		"nondeterminism":  {attributes([]string{"category=WorkflowTaskFailed", "cause=WorkflowTaskFailedCauseNonDeterministicError"}), true},
		"a busy machine":  {attributes([]string{"category=WorkflowTaskTimedOut", "cause=WorkflowTaskTimedOutCauseStartToClose"}), false},
		"another failure": {attributes([]string{"category=WorkflowTaskFailed", "cause=WorkflowTaskFailedCauseWorkflowWorkerUnhandledFailure"}), false},
		"of another form": {attributes(7), false},
	} {
		if got := reportsNondeterminism(c.attributes); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
