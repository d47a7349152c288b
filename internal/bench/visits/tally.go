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

// Tally counts the contents of histories in a span of time.
type Tally struct {
	Visits  int            `json:"visits"`  // ended requests for pages
	Events  int            `json:"events"`  // of all workflows
	Tasks   int            `json:"tasks"`   // workflow tasks that were completed
	Timers  int            `json:"timers"`  // timers that were started
	Locals  map[string]int `json:"locals"`  // local activities, by name
	Regular map[string]int `json:"regular"` // regular activities, by name
	Started map[string]int `json:"started"` // workflow runs, by type
}

// visitActivities are the regular activities that every visit has once.
var visitActivities = map[string]bool{"Fetch": true, bareVisit: true}

func newTally() Tally {
	return Tally{Locals: map[string]int{}, Regular: map[string]int{}, Started: map[string]int{}}
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

// localName returns the type of the local activity in a marker's data.
func localName(data *commonpb.Payloads) string {
	var marker struct{ ActivityType string }
	for _, p := range data.GetPayloads() {
		if json.Unmarshal(p.GetData(), &marker) == nil && marker.ActivityType != "" {
			return marker.ActivityType
		}
	}
	return "unknown"
}

// visitsIn returns the times at which visits of a run ended in [from, until).
func visitsIn(events []*historypb.HistoryEvent, from, until time.Time) (at []time.Time) {
	scheduled := map[int64]bool{}
	for _, e := range events {
		if visitActivities[e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName()] {
			scheduled[e.GetEventId()] = true
		}
		ended := e.GetActivityTaskCompletedEventAttributes()
		if t := e.GetEventTime().AsTime(); ended != nil && scheduled[ended.GetScheduledEventId()] && !t.Before(from) && t.Before(until) {
			at = append(at, t)
		}
	}
	return at
}

// Tallies counts the contents of all runs' histories in a span of time.
type Tallies struct {
	// Visits are all ended requests for pages.
	Visits int `json:"visits"`
	// Visiting are the runs that make visits, Others those that do not, such as Discover.
	// With whole cycles, Visiting covers only the time from the end of a run's first visit
	// to that of its last one, so that it has one visit less.
	Visiting Tally `json:"visiting"`
	Others   Tally `json:"others"`
}

// each is a figure for one visit.
func (t Tallies) each(figure func(Tally) int) float64 {
	return float64(figure(t.Visiting))/float64(t.Visiting.Visits) + float64(figure(t.Others))/float64(t.Visits)
}

// add adds a run.
func (t *Tallies) add(kind string, events []*historypb.HistoryEvent, from, until time.Time, whole bool) {
	visits := visitsIn(events, from, until)
	t.Visits += len(visits)
	switch {
	case len(visits) == 0 && kind != pageWorkflow && kind != bareWorkflow && kind != bareChild:
		t.Others.history(kind, events, from, until)
	case !whole:
		t.Visiting.history(kind, events, from, until)
	case len(visits) > 1:
		// After the first visit's end, up to and with the last one's.
		t.Visiting.history(kind, events, visits[0].Add(1), visits[len(visits)-1].Add(1))
	}
}

// pageWorkflow is the type of the product's workflows that visit.
const pageWorkflow = "Page"

// count reads the histories of all runs that existed in a namespace in [from, until).
func count(ctx context.Context, c client.Client, namespace string, from, until time.Time, whole bool) (Tallies, error) {
	runs, err := runsOf(ctx, c, namespace, from, until)
	if err != nil {
		return Tallies{}, err
	}
	total, mu := Tallies{Visiting: newTally(), Others: newTally()}, sync.Mutex{}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for _, run := range runs {
		group.Go(func() error {
			events, err := historyOf(groupCtx, c, run.GetExecution())
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			total.add(run.GetType().GetName(), events, from, until, whole)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return Tallies{}, fmt.Errorf("read the histories: %w", err)
	}
	return total, nil
}

// runsOf lists the runs. It leaves out those of the server itself.
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
