package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"

	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"recrawl/internal/contract"
)

// checkOvertaking: the workers are away, and the tasks of all pages pile up. The page for which
// a person asks then is visited before most others, and its tasks are ordinary again afterwards.
func (c *cluster) checkOvertaking(s *secureSite, pages int) {
	c.t.Helper()
	for _, w := range c.of["worker"] {
		// Not killed: the server would hold tasks back for those who have the workflows in memory.
		if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
			c.t.Fatal(err)
		}
		<-w.done
	}
	c.of["worker"] = nil
	c.starter("retry", "t", "--state", "active")
	path := fmt.Sprintf("/p%d.html", pages-1)
	service := c.project.Services["starter"]
	service.Command = []string{"visit", s.url + path}
	argv := c.argv(service)
	asking := startProcess(c.t, c.env(service), argv[0], argv[1:]...)
	// The server changes the workflow first, and puts its task into the queue again a little later.
	c.await("the page's task overtakes", func() bool {
		select {
		case <-asking.done:
			if !tooBusy(asking.out.String()) {
				c.t.Fatalf("starter visit ended while there was no worker: %s", asking.out)
			}
			asking = startProcess(c.t, c.env(service), argv[0], argv[1:]...)
		default:
		}
		return c.waitingAt(contract.AskedPriority) == 1
	})

	before := len(s.requests())
	c.start("worker")
	c.await("the command is answered", func() bool {
		select {
		case <-asking.done:
			return true
		default:
			return false
		}
	})
	if !strings.Contains(asking.out.String(), "comes as soon as") {
		c.t.Errorf("starter visit: %s", asking.out)
	}
	place := -1
	c.await("the page is visited", func() bool {
		place = slices.IndexFunc(s.requests()[before:], func(r request) bool { return r.path == path })
		return place >= 0
	})
	c.t.Logf("the page that a person asked for had request %d of %d pages that waited", place+1, pages)
	if place >= pages/2 {
		c.t.Errorf("%d pages were visited before that for which a person asked, of %d", place, pages)
	}
	c.await("the page's tasks are ordinary again", func() bool {
		about := c.operator().temporal("workflow", "describe", "--workflow-id", "page/t/"+s.url+path, "--output", "json")
		return strings.Contains(about, fmt.Sprintf(`"priorityKey": %d`, contract.PagePriority.PriorityKey))
	})
}

// waitingAt counts the workflow tasks of a priority that wait for a worker, 0 if the server does not
// say.
func (c *cluster) waitingAt(priority temporal.Priority) int64 {
	c.t.Helper()
	flows := dial(c.t, c.names.Replace("temporal:7233"))
	defer flows.Close()
	queue, err := flows.WorkflowService().DescribeTaskQueue(c.t.Context(), &workflowservice.DescribeTaskQueueRequest{
		Namespace: client.DefaultNamespace, TaskQueue: &taskqueuepb.TaskQueue{Name: contract.TaskQueue}, ReportStats: true,
	})
	if err != nil {
		return 0 // the server is too busy to answer: it is asked again
	}
	return queue.GetStatsByPriorityKey()[int32(priority.PriorityKey)].GetApproximateBacklogCount()
}
