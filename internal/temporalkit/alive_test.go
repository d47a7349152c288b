package temporalkit

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// refusing is a server that answers all that it is asked with an error.
type refusing struct {
	workflowservice.UnimplementedWorkflowServiceServer
	err error
}

func (r refusing) DescribeNamespace(ctx context.Context, _ *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	if r.err == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, r.err
}

// A refusal is an answer; a failure, silence and nobody are none.
func TestAlive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		alive bool
	}{
		"a refusal":   {status.Error(codes.PermissionDenied, "no"), true},
		"not found":   {status.Error(codes.NotFound, "no"), true},
		"interrupted": {status.Error(codes.Unavailable, "interrupted (9)"), false},
		"silence":     {nil, false},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := grpc.NewServer()
		workflowservice.RegisterWorkflowServiceServer(s, refusing{err: c.err})
		served := make(chan error, 1)
		go func() { served <- s.Serve(listener) }()
		patience := 10 * time.Second
		if c.err == nil {
			patience = 50 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		if err := Alive(ctx, listener.Addr().String()); (err == nil) != c.alive {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		s.Stop()
		if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Error(err)
		}
		if err := Alive(t.Context(), listener.Addr().String()); err == nil {
			t.Errorf("%s: nobody listens, and it is alive", name)
		}
	}
}
