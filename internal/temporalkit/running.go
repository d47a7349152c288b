package temporalkit

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"recrawl/internal/contract"
)

// runningListed is the most runs in a part of the list of running workflows: the
// server's own limit.
const runningListed = 1000

// RunningPages calls each with the workflow ids of a crawl's pages that run, according to
// the server's list: it may be some seconds late.
//
// Like EndedPages it filters by the state only, for which every database of the server has
// an index in this order. Asked for the ids of some pages, SQLite would read all.
func (w Workflows) RunningPages(ctx context.Context, crawlName string, each func(id string)) error {
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: w.Namespace, PageSize: runningListed,
		Query: "ExecutionStatus = " + quoted(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING.String()),
	}
	for {
		answer, err := w.Client.ListWorkflow(ctx, request)
		if err != nil {
			return fmt.Errorf("list what runs: %w", err)
		}
		for _, info := range answer.GetExecutions() {
			id := info.GetExecution().GetWorkflowId()
			if name, _, _, ok := contract.ParsePageID(id); ok && name == crawlName {
				each(id)
			}
		}
		if request.NextPageToken = answer.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return nil
		}
	}
}
