package contracttest

import (
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
)

// Actions counts the Actions that Temporal Cloud bills for a history, by its list: starts,
// including those by continue-as-new, timers, tries of activities, signals, updates,
// upserts of search attributes, and workflow tasks that recorded local activities, however
// many. The start of a child is two in its parent; the child's own start is among them.
// Heartbeats and queries are in no history.
func Actions(events []*historypb.HistoryEvent) int {
	n := 0
	recorded := map[int64]bool{} // workflow tasks with markers
	for _, e := range events {
		switch e.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
			if e.GetWorkflowExecutionStartedEventAttributes().GetParentWorkflowExecution() == nil {
				n++
			}
		case enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED:
			n += 2
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED:
			n += int(e.GetActivityTaskStartedEventAttributes().GetAttempt())
		case enumspb.EVENT_TYPE_MARKER_RECORDED:
			if task := e.GetMarkerRecordedEventAttributes().GetWorkflowTaskCompletedEventId(); !recorded[task] {
				recorded[task] = true
				n++
			}
		case enumspb.EVENT_TYPE_TIMER_STARTED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
			enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED, enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:
			n++
		}
	}
	return n
}
