package temporalkit

import (
	"context"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// Backlog is the server's estimate of the tasks that wait in a task queue because no worker
// has taken them yet. Age is that of the oldest task; it is the better figure, since the
// count may include tasks that no longer exist.
type Backlog struct {
	Tasks int
	Age   time.Duration
}

// BacklogOf returns the backlog of a task queue: tasks of workflows and activities added up,
// and the older one's age. Servers that report none have none.
func BacklogOf(ctx context.Context, c client.Client, namespace, queue string) (Backlog, error) {
	var all Backlog
	for _, kind := range []enumspb.TaskQueueType{enumspb.TASK_QUEUE_TYPE_WORKFLOW, enumspb.TASK_QUEUE_TYPE_ACTIVITY} {
		answer, err := c.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
			Namespace: namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: queue, Kind: enumspb.TASK_QUEUE_KIND_NORMAL},
			TaskQueueType: kind, ReportStats: true,
		})
		if err != nil {
			return Backlog{}, fmt.Errorf("describe task queue %s: %w", queue, err)
		}
		age := answer.GetStats().GetApproximateBacklogAge().AsDuration()
		if age <= 0 {
			continue // whatever the count says
		}
		all.Tasks += int(answer.GetStats().GetApproximateBacklogCount())
		all.Age = max(all.Age, age)
	}
	return all, nil
}
