package temporalkit_test

import (
	"context"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/temporalkit"
)

// TestChildrenSayTheirBuild: a child workflow starts with the builds that the server
// records with a workflow's first task, as it does for one that a client starts. So the
// server has nothing to add to the child's row in its list of workflows.
func TestChildrenSayTheirBuild(t *testing.T) {
	t.Parallel()
	c := contracttest.DevServer(t)
	w := temporalkit.NewWorker(c, temporalkit.WorkerOptions{
		TaskQueue: "builds", Activities: 2, WorkflowTasks: 4, LocalActivities: 2, Sticky: 10 * time.Second,
		WorkflowPollers: temporalkit.Pollers{Min: 4, Max: 4}, ActivityPollers: temporalkit.Pollers{Min: 1, Max: 1},
	})
	w.RegisterWorkflowWithOptions(func(workflow.Context) error { return nil }, workflow.RegisterOptions{Name: "short"})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
			WorkflowID: "child", TypedSearchAttributes: temporal.NewSearchAttributes(contract.AttrCrawl.ValueSet("c")),
		})
		return workflow.ExecuteChildWorkflow(ctx, "short").Get(ctx, nil)
	}, workflow.RegisterOptions{Name: "parent"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "parent", TaskQueue: "builds"}, "parent")
	if err == nil {
		err = run.Get(t.Context(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	noted := describedBuilds(t, c, "parent")
	if len(noted) == 0 {
		t.Fatal("the server notes no builds: there is nothing to spare it")
	}
	if at := startBuilds(t, c, "child"); at != noted {
		t.Errorf("the child started with the builds %s, and the server notes %s", at, noted)
	}
	if then := describedBuilds(t, c, "child"); then != noted {
		t.Errorf("after its first task the child has the builds %s, its parent %s", then, noted)
	}
	in, err := c.DescribeWorkflowExecution(t.Context(), "child", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := payload(in.GetWorkflowExecutionInfo().GetSearchAttributes(), contract.AttrCrawl.GetName()); got != `"c"` {
		t.Errorf("the attribute that the child was given is %s", got)
	}
}

// describedBuilds are the builds that the server has of a workflow now.
func describedBuilds(t *testing.T, c client.Client, id string) string {
	t.Helper()
	in, err := c.DescribeWorkflowExecution(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	return payload(in.GetWorkflowExecutionInfo().GetSearchAttributes(), "BuildIds")
}

// startBuilds are the builds that a workflow was started with.
func startBuilds(t *testing.T, c client.Client, id string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events := c.GetWorkflowHistory(ctx, id, "", false, 0)
	first, err := events.Next()
	if err != nil {
		t.Fatal(err)
	}
	return payload(first.GetWorkflowExecutionStartedEventAttributes().GetSearchAttributes(), "BuildIds")
}

// payload is a search attribute as the server has it, in JSON.
func payload(attributes *commonpb.SearchAttributes, name string) string {
	return string(attributes.GetIndexedFields()[name].GetData())
}
