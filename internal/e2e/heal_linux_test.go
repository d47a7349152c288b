package e2e

import (
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

func (c *cluster) operator() operator {
	c.t.Helper()
	service := c.project.Services["starter"]
	argv := c.argv(service)
	return operator{
		c.t,
		func(args ...string) (string, int, string) { return runEnv(c.t, c.env(service), argv[0], args...) },
		func(args ...string) string {
			out, code, problem := run(c.t, programs.temporal, append(args, "--address", c.names.Replace("temporal:7233"))...)
			if code != 0 {
				c.t.Fatalf("temporal %s: %d: %s%s", strings.Join(args, " "), code, out, problem)
			}
			return out
		},
		c.await,
	}
}

// TestClusterHeals makes the mistakes on Postgres with two workers: pages whose workflows
// another version of the program has begun, pages and crawls that are terminated.
func TestClusterHeals(t *testing.T) {
	t.Parallel()
	const pages = 12
	s := serveTLS(t, tree(pages))
	c := startCluster(t, "SSL_CERT_FILE="+s.certificate, "RECRAWL_OVERDUE=3s")
	c.starter("crawl", "t", s.url+"/", "--delay", clusterGap.String(), "--factor", "0", "--policy", "fixed",
		"--default-interval", "20s", "--min-interval", "1s", "--maintain-every", "2s")
	c.finish(pages)
	o := c.operator()
	wedged, gone := s.url+"/p1.html", s.url+"/p2.html"
	c.wedge("page/t/" + wedged)
	o.temporal("workflow", "terminate", "--workflow-id", "page/t/"+gone, "--reason", "a mistake")
	o.awaitSays(" stuck (", "status", "t")
	for _, url := range []string{wedged, gone} {
		before := len(c.visits(url))
		c.await(url+" is visited again", func() bool { return len(c.visits(url)) > before+1 })
		visits := c.visits(url)
		for i, v := range visits { // newest first
			if v.Visit != visits[0].Visit-i {
				t.Errorf("visit %d of %s is in place %d: one is missing or doubled", v.Visit, url, i)
			}
		}
	}
	o.aTerminatedCrawl("t")
	s.checkPolite(t, clusterGap)
}

func (c *cluster) visits(url string) []visitLine {
	c.t.Helper()
	return decodeLines[visitLine](c.t, c.starter("--output", "json", "history", url, "--limit", "0"))
}

// wedge has another program, which takes the workers' place for a moment, begin the
// workflow anew, in a way that the workers cannot go on with.
func (c *cluster) wedge(id string) {
	c.t.Helper()
	for _, w := range c.of["worker"] {
		w.kill()
	}
	c.of["worker"] = nil
	flows, err := client.Dial(client.Options{HostPort: c.names.Replace("temporal:7233")})
	if err != nil {
		c.t.Fatal(err)
	}
	defer flows.Close()
	events := flows.GetWorkflowHistory(c.t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	first, err := events.Next()
	if err != nil {
		c.t.Fatal(err)
	}
	was := first.GetWorkflowExecutionStartedEventAttributes()
	var in map[string]any
	if err := converter.GetDefaultDataConverter().FromPayloads(was.GetInput(), &in); err != nil {
		c.t.Fatal(err)
	}
	if err := flows.TerminateWorkflow(c.t.Context(), id, "", "to begin it otherwise"); err != nil {
		c.t.Fatal(err)
	}
	begun := make(chan struct{})
	other := worker.New(flows, was.GetTaskQueue().GetName(), worker.Options{})
	other.RegisterWorkflowWithOptions(func(ctx workflow.Context, _ map[string]any) error {
		if workflow.GetInfo(ctx).WorkflowExecution.ID != id {
			panic("not for this program") // the workers take it when they are back
		}
		if !workflow.IsReplaying(ctx) {
			close(begun)
		}
		return workflow.Sleep(ctx, 5*time.Second)
	}, workflow.RegisterOptions{Name: "Page"})
	if err := other.Start(); err != nil {
		c.t.Fatal(err)
	}
	_, err = flows.ExecuteWorkflow(c.t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: was.GetTaskQueue().GetName()}, "Page", in)
	if err != nil {
		c.t.Fatal(err)
	}
	receive(c.t, begun, "the other program has begun the page")
	other.Stop()
	for range 2 {
		c.start("worker")
	}
	for i := range c.of["worker"] {
		c.awaitReady("worker", i)
	}
}
