package embedded

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"golang.org/x/sync/errgroup"

	"recrawl/internal/contract/contracttest"
)

// After a stop, more timers are overdue than the server keeps in its memory. It must wait with
// reading more of them, and not put away those that it has read: then no timer would fire for
// ten seconds, again and again.
func TestOverdueTimersKeepFiring(t *testing.T) {
	t.Parallel()
	if os.Getenv("RECRAWL_LONG") == "" {
		t.Skip("without RECRAWL_LONG: 12 000 timers take minutes to start")
	}
	files := In(t.TempDir())
	s := &Server{CLI: contracttest.CLI(t), Files: files, Log: slog.New(slog.DiscardHandler), OnStart: func(Child) {}, OnUp: func() {}}
	ctx, stop := context.WithCancel(t.Context())
	done, err := s.Start(t.Context(), ctx)
	t.Cleanup(func() { stop(); <-done })
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Dial(client.Options{HostPort: s.up.Address(), Logger: sdklog.NewStructuredLogger(s.Log)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)

	const timers, first = 12_000, 200
	begun := time.Now()
	startLate(t, c, 0, first, begun.Add(time.Hour)) // to see how long a start takes
	due := time.Now().Add(3 * timers / first * time.Since(begun))
	startLate(t, c, first, first+timers, due)
	metrics := metricsAddress(t, files.Log)
	for fired := 0.0; fired < timers/3; fired = metric(t, metrics, "task_requests", "WorkflowBackoffTimer") {
		select {
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		case <-time.After(time.Second):
		}
	}
	if n := metric(t, metrics, "queue_actions", "queue-pending-task"); n > 0 {
		t.Errorf("the server put its timers away %v times", n)
	}
}

// startLate starts workflows that are due at a time. No worker takes them.
func startLate(t *testing.T, c client.Client, from, to int, due time.Time) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(16)
	for i := from; i < to; i++ {
		group.Go(func() error {
			_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
				ID: fmt.Sprint("late-", i), TaskQueue: "nobody", StartDelay: max(time.Until(due), time.Second),
			}, "Late")
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// metricsAddress is where the server tells its metrics, by its log.
func metricsAddress(t *testing.T, log string) string {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`Metrics:\s+(http\S+)`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("no address of metrics in %s", text)
	}
	return string(found[1])
}

// metric sums a metric's values whose labels hold a text.
func metric(t *testing.T, address, name, label string) (sum float64) {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		series, value, _ := strings.Cut(lines.Text(), "} ")
		if !strings.HasPrefix(series, name+"{") || !strings.Contains(series, label) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}
