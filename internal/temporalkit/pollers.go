package temporalkit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// lobby is the task queue beside queue at which workers stand that may not poll queue
// itself. It never gets a task: they stand there to be seen.
func lobby(queue string) string { return queue + ".held" }

// Poller is a process that polls a task queue.
type Poller struct {
	Name string
	// Store is the store that it claims to have; "" if it claims none.
	Store string
	// At is when its last poll began or ended, by the server's clock. A poll lasts up to a
	// minute.
	At time.Time
}

// WhoPolls lists who polls the queue, each process once, and who stands in its lobby, from
// the server's memory of some minutes.
func WhoPolls(ctx context.Context, c client.Client, queue string) (polling, held []Poller, err error) {
	for _, kind := range []enumspb.TaskQueueType{enumspb.TASK_QUEUE_TYPE_WORKFLOW, enumspb.TASK_QUEUE_TYPE_ACTIVITY} {
		found, err := pollersOf(ctx, c, queue, kind)
		if err != nil {
			return nil, nil, err
		}
		polling = append(polling, found...)
	}
	held, err = pollersOf(ctx, c, lobby(queue), enumspb.TASK_QUEUE_TYPE_ACTIVITY)
	return newestPolls(polling), held, err
}

// newestPolls keeps each process's last poll. Its polls for workflow tasks and for
// activities end at nearly the same time, and who watches for new polls must not take one
// for the other's successor.
func newestPolls(all []Poller) []Poller {
	var newest []Poller
	for _, p := range all {
		i := slices.IndexFunc(newest, func(n Poller) bool { return n.Name == p.Name })
		switch {
		case i < 0:
			newest = append(newest, p)
		case p.At.After(newest[i].At):
			newest[i] = p
		}
	}
	return newest
}

func pollersOf(ctx context.Context, c client.Client, queue string, kind enumspb.TaskQueueType) ([]Poller, error) {
	answer, err := c.DescribeTaskQueue(ctx, queue, kind)
	if err != nil {
		return nil, fmt.Errorf("describe task queue %s: %w", queue, err)
	}
	var pollers []Poller
	for _, p := range answer.GetPollers() {
		name, store, _ := strings.Cut(p.GetIdentity(), withStore)
		pollers = append(pollers, Poller{Name: processOf(name), Store: store, At: p.GetLastAccessTime().AsTime()})
	}
	return pollers, nil
}

const withStore = " with store "

// processOf is the process and host of an SDK's identity, "PID@HOST@TASK-QUEUE".
func processOf(identity string) string {
	pid, rest, ok := strings.Cut(identity, "@")
	if !ok {
		return identity
	}
	host, _, _ := strings.Cut(rest, "@")
	return pid + "@" + host
}

// lobbyLimit is longer than the server keeps a poll.
const lobbyLimit = 70 * time.Second

// StandInLobby shows a worker that may not poll a queue in its lobby, for about a
// minute or until ctx ends.
func StandInLobby(ctx context.Context, c client.Client, namespace, queue, name, store string) error {
	ctx, cancel := context.WithTimeout(ctx, lobbyLimit)
	defer cancel()
	_, err := c.WorkflowService().PollActivityTaskQueue(ctx, &workflowservice.PollActivityTaskQueueRequest{
		Namespace: namespace, Identity: name + withStore + store,
		TaskQueue: &taskqueuepb.TaskQueue{Name: lobby(queue), Kind: enumspb.TASK_QUEUE_KIND_NORMAL},
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("poll %s: %w", lobby(queue), err)
	}
	return nil
}
