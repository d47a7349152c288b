package temporalkit_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
	"recrawl/internal/temporalkit"
)

// TestUnansweredUpdateIsRepeated: the SDK gives up when one of its requests has waited for a minute,
// and says that a stream was cancelled. A command waits on, and what it asks for is done
// once.
func TestUnansweredUpdateIsRepeated(t *testing.T) {
	t.Parallel()
	_, address := contracttest.DevServerAt(t)
	var lost atomic.Int32
	lose := func(ctx context.Context, method string, request, answer any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		err := invoke(ctx, method, request, answer, conn, opts...)
		_, update := request.(*workflowservice.UpdateWorkflowExecutionRequest)
		_, start := request.(*workflowservice.ExecuteMultiOperationRequest)
		if err == nil && (update || start) && lost.Add(-1) >= 0 {
			return status.Error(codes.Canceled, "stream terminated by RST_STREAM with error code: CANCEL")
		}
		return err
	}
	c, err := client.Dial(client.Options{
		HostPort: address, Logger: contracttest.Quiet(),
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithUnaryInterceptor(lose)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)

	var done atomic.Int32
	w := sdkworker.New(c, contract.TaskQueue, sdkworker.Options{})
	page := func(ctx workflow.Context, _ contract.PageIn) error {
		err := workflow.SetUpdateHandler(ctx, contract.VisitNow, func(workflow.Context) (contract.Ack, error) {
			done.Add(1)
			return contract.Ack{Message: "asked"}, nil
		})
		if err != nil {
			return err
		}
		return workflow.Sleep(ctx, time.Hour)
	}
	w.RegisterWorkflowWithOptions(page, workflow.RegisterOptions{Name: contract.PageWorkflow})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)

	flows := temporalkit.Workflows{Client: c}
	in := contract.PageIn{Page: crawl.PageRef{CrawlID: 1, Crawl: "t", PageID: 1, URL: "https://example.com/", Host: "example.com"}, State: crawl.Active}
	lost.Store(2)
	ack, err := flows.UpdatePage(t.Context(), in, contract.VisitNow, nil)
	if err != nil || ack.Message != "asked" || done.Load() != 1 {
		t.Errorf("a page that was not there: %+v, %v, done %d times", ack, err, done.Load())
	}
	lost.Store(2)
	ack, err = flows.Update(t.Context(), contract.PageID("t", in.Page.URL), contract.VisitNow, nil)
	if err != nil || ack.Message != "asked" || done.Load() != 2 {
		t.Errorf("a page that was there: %+v, %v, done %d times", ack, err, done.Load())
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := flows.Update(gone, contract.PageID("t", in.Page.URL), contract.VisitNow, nil); err == nil {
		t.Error("a command that was interrupted has an answer")
	}
}
