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
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"recrawl/internal/contract"
)

// busyLimit is how long Finish waits for Discovers at work: most take a second.
const busyLimit = 30 * time.Second

// Finish removes the ended histories of others that name the forgotten URLs: of
// Discovers that found a page, and of the crawls. names judges the text of a
// history. It returns the ids of running workflows that name them: their histories
// go when their runs have ended and the namespace's retention is over.
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
		running, err := e.removeNaming(ctx, contract.CrawlID(name), names)
		if err != nil {
			return nil, err
		}
		if running {
			left = append(left, contract.CrawlID(name))
		}
	}
	slices.Sort(left)
	return left, nil
}

// removeNaming removes the ended runs of a workflow whose histories name something,
// and reports whether the history of the running one does.
func (e *Eraser) removeNaming(ctx context.Context, id string, names func(text []byte) bool) (running bool, err error) {
	infos, err := e.list(ctx, "WorkflowId = "+quoted(id))
	if err != nil {
		return false, err
	}
	current, err := e.current(ctx, []string{id})
	if err != nil {
		return false, err
	}
	seen, ended := map[run]bool{}, map[run]bool{}
	for _, info := range append(current, infos...) { // the current one as it is, then as it is listed
		r := runOf(info.GetExecution())
		if info == nil || seen[r] {
			continue
		}
		seen[r] = true
		named, err := e.named(ctx, r, names)
		if err != nil {
			return false, err
		}
		switch {
		case named && info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
			running = true
		case named:
			ended[r] = true
		}
	}
	_, err = e.removeAll(ctx, runsOf(ended))
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
