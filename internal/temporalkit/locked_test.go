package temporalkit_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
	"recrawl/internal/temporalkit"
)

// TestLockedPage: a page that was started with a key that its worker lacks says so. It is started
// anew only for a person who asks for that, and who lacks the key too.
func TestLockedPage(t *testing.T) {
	t.Parallel()
	_, address := contracttest.DevServerAt(t)
	in := contract.PageIn{Page: crawl.PageRef{CrawlID: 1, Crawl: "news", PageID: 7, URL: "https://example.com/"}, State: crawl.Active, Visit: 3}
	id := contract.PageID(in.Page.Crawl, in.Page.URL)
	ours := temporalkit.Workflows{Client: dialWith(t, address, keys(t, "k1"))}
	theirs := temporalkit.Workflows{Client: dialWith(t, address, keys(t, "k3", "k1")), ReplaceLocked: true}
	if err := theirs.StartPage(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	w := temporalkit.NewWorker(dialWith(t, address, keys(t, "k1")), temporalkit.WorkerOptions{
		TaskQueue: contract.TaskQueue, Activities: 2, WorkflowTasks: 2, LocalActivities: 2,
		WorkflowPollers: temporalkit.Pollers{Min: 2, Max: 2}, ActivityPollers: temporalkit.Pollers{Min: 1, Max: 1}, Sticky: time.Second,
	})
	took := make(chan contract.PageIn, 1)
	w.RegisterWorkflowWithOptions(func(_ workflow.Context, in contract.PageIn) error {
		took <- in
		return nil
	}, workflow.RegisterOptions{Name: contract.PageWorkflow})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	awaitCondition(t, "the task has failed often", func() bool {
		health, err := ours.Health(t.Context(), id)
		return err == nil && health.WantsKey()
	})
	if _, err := ours.Update(t.Context(), id, contract.VisitNow, nil); !errors.Is(err, temporalkit.ErrLocked) || !strings.Contains(err.Error(), `"k3"`) {
		t.Errorf("a visit of a locked page: %v", err)
	}
	if _, err := ours.Explain(t.Context(), in.Page); !errors.Is(err, temporalkit.ErrLocked) {
		t.Errorf("explain of a locked page: %v", err)
	}
	mend := func(what string, flows temporalkit.Workflows, want temporalkit.Condition) {
		t.Helper()
		m, err := flows.MendPage(t.Context(), in)
		if err != nil || m.Condition != want || !strings.Contains(m.Why, `"k3"`) {
			t.Errorf("%s: %+v, %v", what, m, err)
		}
	}
	mend("a worker", ours, temporalkit.Runs)
	mend("a person with the key", theirs, temporalkit.Runs)
	ours.ReplaceLocked = true
	mend("a person without", ours, temporalkit.Stuck)
	if got := <-took; got.Visit != 3 {
		t.Errorf("started anew with %+v", got)
	}
}
