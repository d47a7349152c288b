package temporalkit

import (
	"context"
	"fmt"
	"slices"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// busyLimit is how long Finish waits for Discovers at work: most take a second.
const busyLimit = 30 * time.Second

// Finish removes the ended histories of others that name the forgotten URLs: of
// Discovers that found a page, of the crawls, and of their sinks, since a receiver's answer may
// name anything. names judges the text of a history. It returns the ids of running workflows
// that name them: their histories go when their runs have ended and the namespace's retention
// is over.
func (e *Eraser) Finish(ctx context.Context, crawls []string, names func(text []byte) bool) (left []string, err error) {
	for deadline := time.Now().Add(busyLimit); len(e.busy) > 0; {
		waiting := runsOf(e.busy)
		clear(e.busy)
		if _, err := e.removeClosed(ctx, waiting); err != nil {
			return nil, err
		}
		if len(e.busy) > 0 && time.Now().After(deadline) {
			break
		}
		if len(e.busy) > 0 {
			if err := pauseFor(ctx, gonePauseMax); err != nil {
				return nil, err
			}
		}
	}
	for r := range e.busy {
		left = append(left, r.id)
	}
	for _, name := range crawls {
		id := contract.CrawlID(name)
		query := "WorkflowId = " + quoted(id) + " OR WorkflowId STARTS_WITH " + quoted(contract.SinkIDs(name))
		running, err := e.removeNaming(ctx, query, []string{id}, names)
		if err != nil {
			return nil, err
		}
		left = append(left, running...)
	}
	slices.Sort(left)
	return left, nil
}

// Naming removes the ended histories of pages that name the forgotten URLs, as a page's does
// that redirects to one, and returns the ids of running ones that name them.
func (e *Eraser) Naming(ctx context.Context, pages []crawl.PageRef, names func(text []byte) bool) (left []string, err error) {
	for some := range slices.Chunk(pages, erasedListed) {
		ids := make([]string, len(some))
		for i, page := range some {
			ids[i] = contract.PageID(page.Crawl, page.URL)
		}
		running, err := e.removeNaming(ctx, "WorkflowId IN ("+quotedList(ids)+")", ids, names)
		if err != nil {
			return nil, err
		}
		left = append(left, running...)
	}
	return left, nil
}

// removeNaming removes the ended runs of workflows whose histories name something, and
// returns the ids of the running ones whose histories do. A query lists the runs; ids are
// those of workflows whose current run the list may lack.
func (e *Eraser) removeNaming(ctx context.Context, query string, ids []string, names func(text []byte) bool) (running []string, err error) {
	infos, err := e.list(ctx, query)
	if err != nil {
		return nil, err
	}
	for _, info := range infos {
		if id := info.GetExecution().GetWorkflowId(); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	current, err := e.current(ctx, ids)
	if err != nil {
		return nil, err
	}
	seen := map[run]bool{}
	infos = slices.DeleteFunc(append(current, infos...), func(info *workflowpb.WorkflowExecutionInfo) bool { // as they are, then as they are listed
		r := runOf(info.GetExecution())
		again := info == nil || seen[r]
		seen[r] = true
		return again
	})
	named := make([]bool, len(infos))
	err = each(ctx, infos, func(ctx context.Context, i int, info *workflowpb.WorkflowExecutionInfo) (err error) {
		named[i], err = e.named(ctx, runOf(info.GetExecution()), names)
		return err
	})
	if err != nil {
		return nil, err
	}
	var ended []run
	for i, info := range infos {
		switch r := runOf(info.GetExecution()); {
		case named[i] && info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
			running = append(running, r.id)
		case named[i]:
			ended = append(ended, r)
		}
	}
	_, err = e.removeAll(ctx, ended)
	return running, err
}

// named reports whether the history of a run contains something.
func (e *Eraser) named(ctx context.Context, r run, names func(text []byte) bool) (bool, error) {
	events := e.Client.GetWorkflowHistory(ctx, r.id, r.run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if isGone(err) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("read the history of %s: %w", r.id, err)
		}
		text, err := plainEvent(ctx, dataOf(e.Client), event)
		if err != nil {
			return false, fmt.Errorf("read the history of %s: %w", r.id, err)
		}
		if names(text) {
			return true, nil
		}
	}
	return false, nil
}

// plainEvent is the whole content of an event, decrypted.
func plainEvent(ctx context.Context, data converter.DataConverter, event *historypb.HistoryEvent) ([]byte, error) {
	plain, _ := proto.Clone(event).(*historypb.HistoryEvent)
	err := proxy.VisitPayloads(ctx, plain, proxy.VisitPayloadsOptions{
		SkipSearchAttributes: true,
		Visitor: func(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
			opened := make([]*commonpb.Payload, len(payloads))
			for i, p := range payloads {
				var raw converter.RawValue
				if err := data.FromPayload(p, &raw); err != nil {
					return nil, err
				}
				opened[i] = raw.Payload()
			}
			return opened, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return proto.Marshal(plain)
}

// Retention is how long the namespace keeps the histories of runs that have ended.
func (e *Eraser) Retention(ctx context.Context) (time.Duration, error) {
	described, err := e.Client.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: e.Namespace})
	if err != nil {
		return 0, fmt.Errorf("describe namespace %s: %w", e.Namespace, err)
	}
	return described.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(), nil
}

func pauseFor(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
