package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// operator runs the commands of an installation, of one machine or of a cluster, and makes
// mistakes with them.
type operator struct {
	t        *testing.T
	starter  func(args ...string) (stdout string, code int, stderr string)
	temporal func(args ...string) string
	await    func(what string, holds func() bool)
}

func (d *dev) operator() operator {
	return operator{d.t, d.starter, d.temporal, d.await}
}

// says runs a starter command that must succeed and say this.
func (o operator) says(want string, args ...string) {
	o.t.Helper()
	out, code, problem := o.starter(args...)
	if code != 0 || !strings.Contains(out, want) {
		o.t.Errorf("starter %s: %d: %q %q, want %q", strings.Join(args, " "), code, out, problem, want)
	}
}

// refuses runs a starter command that must fail and say this.
func (o operator) refuses(code int, want string, args ...string) {
	o.t.Helper()
	out, got, problem := o.starter(args...)
	if got != code || !strings.Contains(problem, want) {
		o.t.Errorf("starter %s: %d: %q %q, want %d and %q", strings.Join(args, " "), got, out, problem, code, want)
	}
}

// awaitSays waits until a command says this.
func (o operator) awaitSays(want string, args ...string) {
	o.t.Helper()
	o.await(strings.Join(args, " ")+" says "+want, func() bool {
		out, _, _ := o.starter(args...)
		return strings.Contains(out, want)
	})
}

// counts reports whether n workflows of this id are in this state.
func (o operator) counts(want, id, state string) bool {
	o.t.Helper()
	out := o.temporal("workflow", "count", "--query", "WorkflowId='"+id+"' AND ExecutionStatus='"+state+"'")
	return strings.TrimSpace(out) == "Total: "+want
}

// aTerminatedCrawl: the crawl's workflow is terminated twice. Once commands come before
// any worker has noticed, and once a worker must notice by itself. Then it is stopped.
func (o operator) aTerminatedCrawl(name string) {
	o.t.Helper()
	id := "crawl/" + name
	o.temporal("workflow", "terminate", "--workflow-id", id, "--reason", "a mistake")
	o.says("paused: no request begins until it is resumed", "pause", name)
	o.says("("+"paused)", "status", name)
	o.says("running: pages that came due", "resume", name)
	o.says("the pages are being ranked", "rank", name)
	o.await("the crawl's workflow runs", func() bool { return o.counts("1", id, "Running") })

	o.temporal("workflow", "terminate", "--workflow-id", id, "--reason", "the same mistake")
	o.awaitSays("workflow: it was terminated and was started anew", "status", name)
	o.await("the crawl's workflow runs", func() bool { return o.counts("1", id, "Running") })

	o.temporal("workflow", "terminate", "--workflow-id", id, "--reason", "and again")
	o.says("stopped: no further request begins", "stop", name)
	o.awaitStopped(name)
}

// awaitStopped waits until every page of a crawl is stopped, and asks for more.
func (o operator) awaitStopped(name string) {
	o.t.Helper()
	o.await("every page is stopped", func() bool {
		out, _, _ := o.starter("--output", "json", "pages", name, "--limit", "0")
		pages := decodeLines[pageLine](o.t, out)
		for _, p := range pages {
			if p.State != "stopped" && p.State != "known" {
				return false
			}
		}
		return len(pages) > 0
	})
	o.says("crawl "+name+" is stopped", "stop", name)
	for _, command := range []string{"pause", "resume", "rank"} {
		o.refuses(1, "is stopped: `starter crawl "+name+"` starts it again", command, name)
	}
	o.refuses(3, "there is no crawl", "pause", "nobody")
}

// TestTerminatedCrawl: on today's mistake of terminating a crawl its pages went on, and
// nothing could stop them.
func TestTerminatedCrawl(t *testing.T) {
	sideBySide(t, 55)
	const pages = 8
	s := serve(t, tree(pages))
	d := startDev(t, filepath.Join(t.TempDir(), "data"), crawlArgs(s, "10ms")...)
	d.await("every page is visited", d.crawled("t", pages, 1))
	for _, p := range d.pages("t")[:3] {
		d.temporal("workflow", "terminate", "--workflow-id", "page/t/"+p.URL, "--reason", "a mistake")
	}
	d.operator().says("looked at 8 pages: ", "repair", "t") // or the worker has found them before
	d.await("every page has its workflow", func() bool { return d.running("t") == pages })
	d.operator().aTerminatedCrawl("t")
	d.must("crawl", "t") // brings it back
	d.await("every page is back", func() bool { return d.running("t") == pages })

	// Cancelling is stopping.
	d.temporal("workflow", "cancel", "--workflow-id", "crawl/t")
	d.operator().awaitStopped("t")
	o := d.operator()
	d.await("the workflow says how it ended", func() bool { return o.counts("1", "crawl/t", "Canceled") })
	d.stop()
}

// TestPagesComeBack: requests for a page reach it even if its workflow was terminated or
// deleted, and a stopped page comes back on request, with its history.
func TestPagesComeBack(t *testing.T) {
	sideBySide(t, 35)
	const pages = 6
	s := serve(t, tree(pages))
	d := startDev(t, filepath.Join(t.TempDir(), "data"), crawlArgs(s, "10ms")...)
	d.await("every page is visited", d.crawled("t", pages, 1))
	o := d.operator()
	url := func(i int) string { return fmt.Sprintf("%s/p%d.html", s.url, i) }
	id := func(i int) string { return "page/t/" + url(i) }
	end := func(i int, how ...string) {
		t.Helper()
		before := time.Now().UTC().Format(time.RFC3339Nano)
		d.temporal(append([]string{"workflow", how[0], "--workflow-id", id(i)}, how[1:]...)...)
		d.await("the workflow has ended", func() bool { // a worker may have started it anew
			out := d.temporal("workflow", "count", "--query", "WorkflowId='"+id(i)+"' AND ExecutionStatus='Running' AND StartTime<'"+before+"'")
			return strings.TrimSpace(out) == "Total: 0"
		})
	}
	visited := func(i, visits int) {
		t.Helper()
		d.await(url(i)+" is visited", func() bool { return d.visits(url(i)) >= visits })
		for k, v := range d.history(url(i)) {
			if v.Visit != d.visits(url(i))-k {
				t.Errorf("visit %d of %s in place %d", v.Visit, url(i), k)
			}
		}
	}
	end(1, "terminate")
	o.says("visit 2 comes as soon as", "visit", url(1))
	visited(1, 2)
	end(1, "delete")
	o.says("no visit before", "snooze", url(1), "3d")
	end(2, "terminate")
	o.says("the page is visited every 2h", "set-interval", url(2), "2h")
	end(3, "terminate")
	o.says("asked for", "retry", "t", "--state", "active")
	visited(3, 2)

	// Cancelled and stopped are the same.
	end(4, "cancel")
	o.says("the page will not be visited any more", "stop-page", url(5))
	for _, i := range []int{4, 5} {
		d.await("the page is stopped", func() bool { return strings.Contains(d.must("explain", url(i)), "stopped") })
	}
	before := d.visits(url(4))
	o.refuses(1, "is stopped: `starter visit` brings it back", "snooze", url(4), "3d")
	o.refuses(1, "is stopped already", "stop-page", url(5))
	o.says(fmt.Sprintf("visit %d comes as soon as", before+1), "visit", url(4))
	visited(4, before+1)
	before = d.visits(url(5))
	o.says("1 of stopped pages, which come back", "crawl", "t", url(5))
	visited(5, before+1)
	d.stop()
}

// wedge has another program, which takes the workers' place while there are none, begin the
// workflow anew, in a way that the workers cannot continue.
func wedge(t *testing.T, address, id string) {
	t.Helper()
	flows := dial(t, address)
	defer flows.Close()
	events := flows.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	first, err := events.Next()
	if err != nil {
		t.Fatal(err)
	}
	was := first.GetWorkflowExecutionStartedEventAttributes()
	var in map[string]any
	if err := converter.GetDefaultDataConverter().FromPayloads(was.GetInput(), &in); err != nil {
		t.Fatal(err)
	}
	if err := flows.TerminateWorkflow(t.Context(), id, "", "to begin it otherwise"); err != nil {
		t.Fatal(err)
	}
	other := worker.New(flows, was.GetTaskQueue().GetName(), worker.Options{})
	other.RegisterWorkflowWithOptions(func(ctx workflow.Context, _ map[string]any) error {
		if workflow.GetInfo(ctx).WorkflowExecution.ID != id {
			panic("not for this program") // the workers take it when they are back
		}
		return workflow.Sleep(ctx, 5*time.Second)
	}, workflow.RegisterOptions{Name: "Page"})
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	run, err := flows.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: was.GetTaskQueue().GetName()}, "Page", in)
	if err != nil {
		t.Fatal(err)
	}
	// If it stopped before the server has its answer, it would have done nothing.
	events = flows.GetWorkflowHistory(t.Context(), id, run.GetRunID(), true, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for answered := false; !answered; {
		event, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		answered = event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
	}
	other.Stop()
}
