package temporalkit

import (
	"context"
	"sync"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// maxStruggling bounds how many workflows are remembered. A forgotten one comes up
// again: the server goes on trying.
const maxStruggling = 10_000

// Struggling collects the workflows whose task this process gets although it has failed or
// timed out again and again. The server sends that information with the task, so it costs
// nothing, and no list of workflows need be searched, on servers of any version.
type Struggling struct {
	mu  sync.Mutex
	ids map[string]bool
}

// Take returns the ids of the workflows that came up since the last time, at most
// limit; others are left for the next time.
func (s *Struggling) Take(limit int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for id := range s.ids {
		if len(ids) == limit {
			break
		}
		ids = append(ids, id)
		delete(s.ids, id)
	}
	return ids
}

func (s *Struggling) hear(task *workflowservice.PollWorkflowTaskQueueResponse) {
	id := task.GetWorkflowExecution().GetWorkflowId()
	if id == "" || task.GetAttempt() < stuckAttempts {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = map[string]bool{}
	}
	if len(s.ids) < maxStruggling {
		s.ids[id] = true
	}
}

// intercept reads the results of a connection's polls.
func (s *Struggling) intercept(ctx context.Context, method string, request, reply any, c *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	err := invoke(ctx, method, request, reply, c, options...)
	if task, ok := reply.(*workflowservice.PollWorkflowTaskQueueResponse); ok && err == nil {
		s.hear(task)
	}
	return err
}
