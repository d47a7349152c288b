package temporalkit

import (
	"context"
	"errors"
	"slices"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// A task that comes for the fifth time is noticed, once for each Take; no other task is.
func TestStruggling(t *testing.T) {
	t.Parallel()
	s := &Struggling{}
	poll := func(id string, attempt int32, failure error) {
		t.Helper()
		reply := &workflowservice.PollWorkflowTaskQueueResponse{}
		err := s.intercept(t.Context(), "poll", nil, reply, nil, func(_ context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
			task := reply.(*workflowservice.PollWorkflowTaskQueueResponse)
			task.Attempt = attempt
			if id != "" {
				task.WorkflowExecution = &commonpb.WorkflowExecution{WorkflowId: id}
			}
			return failure
		})
		if !errors.Is(err, failure) {
			t.Errorf("the poll ends with %v, want %v", err, failure)
		}
	}
	heard := func(limit int, want ...string) {
		t.Helper()
		got := s.Take(limit)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("heard of %q, want %q", got, want)
		}
	}
	poll("page/t/a", 1, nil)
	poll("page/t/b", stuckAttempts-1, nil)
	poll("", stuckAttempts, nil) // nobody had a task
	poll("page/t/c", stuckAttempts, errors.New("cut off"))
	heard(9)
	poll("page/t/d", stuckAttempts, nil)
	poll("page/t/d", stuckAttempts+1, nil)
	poll("page/t/e", stuckAttempts, nil)
	if got := s.Take(1); len(got) != 1 {
		t.Errorf("took %q, want one", got)
	}
	if got := s.Take(9); len(got) != 1 {
		t.Errorf("took %q, want the other", got)
	}
	heard(9)
	poll("page/t/d", stuckAttempts+2, nil)
	heard(9, "page/t/d")
}
