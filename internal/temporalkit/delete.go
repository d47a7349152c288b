package temporalkit

import (
	"context"
	"fmt"

	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"recrawl/internal/contract"
)

// Crawl ends the workflows of a crawl that is stopped in the store, and removes all
// their runs: the Crawl first, which might start others, then its Discovers, pages and
// sinks. It reports to progress how many are gone. If it is cut off, a new call goes
// on.
func (e *Eraser) Crawl(ctx context.Context, name string, progress func(removed int)) (int, error) {
	id := contract.CrawlID(name)
	infos, err := e.list(ctx, "WorkflowId = "+quoted(id))
	if err != nil {
		return 0, err
	}
	current, err := e.current(ctx, []string{id}) // the list may lag behind it
	if err != nil {
		return 0, err
	}
	removed, err := e.removeAll(ctx, runsOf(runsIn(append(infos, current...))))
	if err != nil {
		return removed, err
	}
	query := fmt.Sprintf("WorkflowId STARTS_WITH %s OR WorkflowId STARTS_WITH %s OR WorkflowId STARTS_WITH %s",
		quoted("discover/"+name+"/"), quoted("page/"+name+"/"), quoted(contract.SinkIDs(name)))
	done := map[run]bool{}
	for {
		found, err := e.some(ctx, query, done)
		if err != nil || len(found) == 0 {
			return removed, err
		}
		n, err := e.removeAll(ctx, found)
		if removed += n; err != nil {
			return removed, err
		}
		for _, r := range found {
			done[r] = true
		}
		progress(removed)
	}
}

// some lists runs that a query finds and that are not done. The list lags behind
// removals.
func (e *Eraser) some(ctx context.Context, query string, done map[run]bool) ([]run, error) {
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: e.Namespace, Query: query, PageSize: erasedListed}
	for {
		list, err := e.Client.ListWorkflow(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("list workflows: %w", err)
		}
		var runs []run
		for r := range runsIn(list.GetExecutions()) {
			if !done[r] {
				runs = append(runs, r)
			}
		}
		if request.NextPageToken = list.GetNextPageToken(); len(runs) > 0 || len(request.NextPageToken) == 0 {
			return runs, nil
		}
	}
}

func runsIn(infos []*workflowpb.WorkflowExecutionInfo) map[run]bool {
	runs := map[run]bool{}
	for _, info := range infos {
		if info != nil {
			runs[runOf(info.GetExecution())] = true
		}
	}
	return runs
}
