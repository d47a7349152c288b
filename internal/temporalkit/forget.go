package temporalkit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// DeletePage ends the page's workflow, if it runs, and removes every run of it
// and of its Discovers from Temporal; it returns about how many. Temporal does the
// removal soon after. What other workflows' histories say of the page goes with
// them, after the namespace's retention.
func (w Workflows) DeletePage(ctx context.Context, namespace string, page crawl.PageRef) (int, error) {
	id := contract.PageID(page.Crawl, page.URL)
	// The list may lag behind the current run.
	deleted, err := w.deleteCurrent(ctx, namespace, id)
	if err != nil {
		return deleted, err
	}
	for _, query := range []string{
		"WorkflowId = " + quoted(id),
		"WorkflowId STARTS_WITH " + quoted(contract.DiscoverIDs(page.Crawl, page.PageID)),
	} {
		n, err := w.deleteAll(ctx, namespace, query)
		if deleted += n; err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

func (w Workflows) deleteCurrent(ctx context.Context, namespace, id string) (int, error) {
	current, err := w.Client.DescribeWorkflowExecution(ctx, id, "")
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("describe %s: %w", id, err)
	}
	return w.deleteRun(ctx, namespace, current.GetWorkflowExecutionInfo().GetExecution())
}

func (w Workflows) deleteAll(ctx context.Context, namespace, query string) (int, error) {
	deleted := 0
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace, Query: query}
	for {
		list, err := w.Client.ListWorkflow(ctx, request)
		if err != nil {
			return deleted, fmt.Errorf("list the workflows of a page: %w", err)
		}
		for _, run := range list.GetExecutions() {
			n, err := w.deleteRun(ctx, namespace, run.GetExecution())
			if deleted += n; err != nil {
				return deleted, err
			}
		}
		if request.NextPageToken = list.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return deleted, nil
		}
	}
}

// deleteRun deletes one run; 0 if it is gone already.
func (w Workflows) deleteRun(ctx context.Context, namespace string, run *commonpb.WorkflowExecution) (int, error) {
	_, err := w.Client.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: namespace, WorkflowExecution: run,
	})
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("delete %s: %w", run.GetWorkflowId(), err)
	}
	return 1, nil
}

// quoted is a string of a visibility query.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
