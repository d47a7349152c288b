package temporalkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

const (
	// erasedTogether bounds the requests to Temporal at a time, and erasedListed is
	// how many pages one query asks for: a query reads everything in a namespace.
	erasedTogether = 16
	erasedListed   = 200
	// goneLimit is how long Temporal may take to carry out a deletion, and how long
	// its own trouble may last.
	goneLimit    = time.Minute
	gonePause    = 20 * time.Millisecond
	gonePauseMax = time.Second
)

// Eraser removes Temporal's data about pages that are forgotten: every run of them
// and of their Discovers, and the histories of others that name them. It waits until
// Temporal has carried that out. One goroutine may use it.
type Eraser struct {
	Client    client.Client
	Namespace string

	crawls map[string]map[int64][]*workflowpb.WorkflowExecutionInfo // Discovers that a crawl started itself, by page
	busy   map[run]bool                                             // Discovers that named a page and still ran
}

// run names one run of a workflow.
type run struct{ id, run string }

func runOf(e *commonpb.WorkflowExecution) run { return run{e.GetWorkflowId(), e.GetRunId()} }

func (r run) execution() *commonpb.WorkflowExecution {
	return &commonpb.WorkflowExecution{WorkflowId: r.id, RunId: r.run}
}

// Pages ends the workflows of pages and removes all their runs and those of their
// Discovers; it returns how many. The Discovers that found the pages go first:
// after an interruption, a new call finds them by the rest of the pages.
func (e *Eraser) Pages(ctx context.Context, pages []crawl.PageRef) (int, error) {
	removed := 0
	for some := range slices.Chunk(pages, erasedListed) {
		found, err := e.find(ctx, some)
		if err != nil {
			return removed, err
		}
		n, err := e.removeFinders(ctx, found)
		if removed += n; err != nil {
			return removed, err
		}
		n, err = e.removeAll(ctx, runsOf(found))
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// find returns the runs of some pages and of their Discovers.
func (e *Eraser) find(ctx context.Context, pages []crawl.PageRef) (map[run]*workflowpb.WorkflowExecutionInfo, error) {
	found := map[run]*workflowpb.WorkflowExecutionInfo{}
	ids := make([]string, len(pages))
	for i, page := range pages {
		ids[i] = contract.PageID(page.Crawl, page.URL)
		started, err := e.startedByCrawl(ctx, page.Crawl)
		if err != nil {
			return nil, err
		}
		for _, info := range started[page.PageID] {
			found[runOf(info.GetExecution())] = info
		}
	}
	listed, err := e.list(ctx, fmt.Sprintf("WorkflowId IN (%[1]s) OR ParentWorkflowId IN (%[1]s)", quotedList(ids)))
	if err != nil {
		return nil, err
	}
	current, err := e.current(ctx, ids) // the list may lag behind them
	if err != nil {
		return nil, err
	}
	for _, info := range append(listed, current...) {
		if info != nil {
			found[runOf(info.GetExecution())] = info
		}
	}
	return found, nil
}

// startedByCrawl are the Discovers of pages that maintenance started, which are
// therefore not the pages' children.
func (e *Eraser) startedByCrawl(ctx context.Context, name string) (map[int64][]*workflowpb.WorkflowExecutionInfo, error) {
	if known, ok := e.crawls[name]; ok {
		return known, nil
	}
	children, err := e.list(ctx, "ParentWorkflowId = "+quoted(contract.CrawlID(name)))
	if err != nil {
		return nil, err
	}
	if e.crawls == nil {
		e.crawls = map[string]map[int64][]*workflowpb.WorkflowExecutionInfo{}
	}
	e.crawls[name] = map[int64][]*workflowpb.WorkflowExecutionInfo{}
	for _, info := range children {
		if _, page, _, ok := contract.ParseDiscoverID(info.GetExecution().GetWorkflowId()); ok && page != 0 {
			e.crawls[name][page] = append(e.crawls[name][page], info)
		}
	}
	return e.crawls[name], nil
}

func (e *Eraser) list(ctx context.Context, query string) ([]*workflowpb.WorkflowExecutionInfo, error) {
	var all []*workflowpb.WorkflowExecutionInfo
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: e.Namespace, Query: query, PageSize: 1000}
	for {
		list, err := e.Client.ListWorkflow(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("list workflows: %w", err)
		}
		all = append(all, list.GetExecutions()...)
		if request.NextPageToken = list.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return all, nil
		}
	}
}

// current describes the current runs of workflows; nil where there is none.
func (e *Eraser) current(ctx context.Context, ids []string) ([]*workflowpb.WorkflowExecutionInfo, error) {
	infos := make([]*workflowpb.WorkflowExecutionInfo, len(ids))
	err := each(ctx, ids, func(ctx context.Context, i int, id string) (err error) {
		infos[i], err = e.describe(ctx, run{id: id})
		return err
	})
	return infos, err
}

// describe returns nil for a run that does not exist.
func (e *Eraser) describe(ctx context.Context, r run) (*workflowpb.WorkflowExecutionInfo, error) {
	described, err := e.Client.DescribeWorkflowExecution(ctx, r.id, r.run)
	if isGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", r.id, err)
	}
	return described.GetWorkflowExecutionInfo(), nil
}

// removeFinders removes the Discovers that started the runs and so name their pages.
// A Discover that is still at work is left to Finish.
func (e *Eraser) removeFinders(ctx context.Context, found map[run]*workflowpb.WorkflowExecutionInfo) (int, error) {
	finders := map[run]bool{}
	for _, info := range found {
		parent := runOf(info.GetParentExecution())
		if _, _, _, ok := contract.ParseDiscoverID(parent.id); ok && found[parent] == nil && !e.busy[parent] {
			finders[parent] = true
		}
	}
	return e.removeClosed(ctx, runsOf(finders))
}

// removeClosed removes the runs that have ended and remembers the others.
func (e *Eraser) removeClosed(ctx context.Context, runs []run) (int, error) {
	infos := make([]*workflowpb.WorkflowExecutionInfo, len(runs))
	err := each(ctx, runs, func(ctx context.Context, i int, r run) (err error) {
		infos[i], err = e.describe(ctx, r)
		return err
	})
	if err != nil {
		return 0, err
	}
	var closed []run
	for i, info := range infos {
		switch {
		case info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
			if e.busy == nil {
				e.busy = map[run]bool{}
			}
			e.busy[runs[i]] = true
		case info != nil:
			closed = append(closed, runs[i])
		}
	}
	return e.removeAll(ctx, closed)
}

// removeAll removes runs, ending those that are under way, and returns when they are
// gone.
func (e *Eraser) removeAll(ctx context.Context, runs []run) (int, error) {
	removed := make([]int, len(runs))
	err := each(ctx, runs, func(ctx context.Context, i int, r run) (err error) {
		removed[i], err = e.remove(ctx, r)
		return err
	})
	n := 0
	for _, one := range removed {
		n += one
	}
	return n, err
}

// remove removes one run; 0 if it was gone already. Temporal answers before it has
// carried the removal out, and may be too busy to take it.
func (e *Eraser) remove(ctx context.Context, r run) (int, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, goneLimit,
		fmt.Errorf("temporal has not deleted %s within %s: run the command again", r.id, goneLimit))
	defer cancel()
	asked, pause := 0, gonePause
	for {
		var err error
		if asked == 0 {
			err = e.ask(ctx, r)
		}
		if err == nil {
			asked = 1
			var info *workflowpb.WorkflowExecutionInfo
			if info, err = e.describe(ctx, r); err == nil && info == nil {
				return asked, nil
			}
		}
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		switch {
		case isGone(err):
			return 0, nil
		case err != nil && !passing(err):
			return 0, fmt.Errorf("delete %s: %w", r.id, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, gonePauseMax)
	}
}

func (e *Eraser) ask(ctx context.Context, r run) error {
	_, err := e.Client.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: e.Namespace, WorkflowExecution: r.execution(),
	})
	return err
}

func isGone(err error) bool {
	var gone *serviceerror.NotFound
	return errors.As(err, &gone)
}

// passing reports whether an error of Temporal's is temporary.
func passing(err error) bool {
	var busy *serviceerror.ResourceExhausted
	var away *serviceerror.Unavailable
	return errors.As(err, &busy) || errors.As(err, &away)
}

// each calls do for each item of a list, a bounded number at a time, until one fails.
func each[T any](ctx context.Context, list []T, do func(ctx context.Context, i int, v T) error) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(erasedTogether)
	for i, v := range list {
		if groupCtx.Err() != nil {
			break
		}
		group.Go(func() error { return do(groupCtx, i, v) })
	}
	return cmp.Or(group.Wait(), ctx.Err())
}

func runsOf[T any](set map[run]T) []run {
	runs := make([]run, 0, len(set))
	for r := range set {
		runs = append(runs, r)
	}
	return runs
}

// quoted is a string of a visibility query.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func quotedList(all []string) string {
	list := make([]string, len(all))
	for i, s := range all {
		list[i] = quoted(s)
	}
	return strings.Join(list, ", ")
}
