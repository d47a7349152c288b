package visits

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"
)

// Tally is what histories hold of a time.
type Tally struct {
	Visits  int            `json:"visits"`  // ended requests for pages
	Events  int            `json:"events"`  // of all workflows
	Tasks   int            `json:"tasks"`   // workflow tasks that were completed
	Timers  int            `json:"timers"`  // timers that were started
	Locals  map[string]int `json:"locals"`  // local activities, by name
	Regular map[string]int `json:"regular"` // regular activities, by name
	Started map[string]int `json:"started"` // workflow runs, by type
}

// visitActivities are the regular activities that a visit has once.
var visitActivities = map[string]bool{"Fetch": true, bareVisit: true}

func newTally() Tally {
	return Tally{Locals: map[string]int{}, Regular: map[string]int{}, Started: map[string]int{}}
}

func (t *Tally) merge(o Tally) {
	t.Visits, t.Events, t.Tasks, t.Timers = t.Visits+o.Visits, t.Events+o.Events, t.Tasks+o.Tasks, t.Timers+o.Timers
	for _, both := range []struct{ to, from map[string]int }{{t.Locals, o.Locals}, {t.Regular, o.Regular}, {t.Started, o.Started}} {
		for name, n := range both.from {
			both.to[name] += n
		}
	}
}

// history counts the events of one run that happened in [from, until).
func (t *Tally) history(kind string, events []*historypb.HistoryEvent, from, until time.Time) {
	names := map[int64]string{} // of scheduled activities
	for _, e := range events {
		scheduled := e.GetActivityTaskScheduledEventAttributes()
		if scheduled != nil {
			names[e.GetEventId()] = scheduled.GetActivityType().GetName()
		}
		if at := e.GetEventTime().AsTime(); at.Before(from) || !at.Before(until) {
			continue
		}
		t.Events++
		switch e.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
			t.Started[kind]++
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			t.Tasks++
		case enumspb.EVENT_TYPE_TIMER_STARTED:
			t.Timers++
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			t.Regular[scheduled.GetActivityType().GetName()]++
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
			if visitActivities[names[e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()]] {
				t.Visits++
			}
		case enumspb.EVENT_TYPE_MARKER_RECORDED:
			if marker := e.GetMarkerRecordedEventAttributes(); marker.GetMarkerName() == "LocalActivity" {
				t.Locals[localName(marker.GetDetails()["data"])]++
			}
		}
	}
}

// localName is the type of the local activity that a marker's data tell of.
func localName(data *commonpb.Payloads) string {
	var marker struct{ ActivityType string }
	for _, p := range data.GetPayloads() {
		if json.Unmarshal(p.GetData(), &marker) == nil && marker.ActivityType != "" {
			return marker.ActivityType
		}
	}
	return "unknown"
}

// count reads the histories of all runs of a namespace that were there in [from, until).
func count(ctx context.Context, c client.Client, namespace string, from, until time.Time) (Tally, error) {
	runs, err := runsOf(ctx, c, namespace, from, until)
	if err != nil {
		return Tally{}, err
	}
	total, mu := newTally(), sync.Mutex{}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for _, run := range runs {
		group.Go(func() error {
			one := newTally()
			events, err := historyOf(groupCtx, c, run.GetExecution())
			if err != nil {
				return err
			}
			one.history(run.GetType().GetName(), events, from, until)
			mu.Lock()
			defer mu.Unlock()
			total.merge(one)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return Tally{}, fmt.Errorf("read the histories: %w", err)
	}
	return total, nil
}

// runsOf lists the runs. Those of the server itself are not the benchmark's.
func runsOf(ctx context.Context, c client.Client, namespace string, from, until time.Time) ([]*workflowpb.WorkflowExecutionInfo, error) {
	var all []*workflowpb.WorkflowExecutionInfo
	var token []byte
	for {
		part, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace, PageSize: 1000, NextPageToken: token})
		if err != nil {
			return nil, fmt.Errorf("list the workflows: %w", err)
		}
		for _, run := range part.GetExecutions() {
			closed := run.GetCloseTime()
			if strings.HasPrefix(run.GetType().GetName(), "temporal-sys-") || closed != nil && closed.AsTime().Before(from) || !run.GetStartTime().AsTime().Before(until) {
				continue
			}
			all = append(all, run)
		}
		if token = part.GetNextPageToken(); len(token) == 0 {
			return all, nil
		}
	}
}

func historyOf(ctx context.Context, c client.Client, run *commonpb.WorkflowExecution) (events []*historypb.HistoryEvent, err error) {
	iterator := c.GetWorkflowHistory(ctx, run.GetWorkflowId(), run.GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for iterator.HasNext() {
		event, err := iterator.Next()
		var gone *serviceerror.NotFound
		if errors.As(err, &gone) {
			return nil, nil // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		events = append(events, event)
	}
	return events, nil
}
