package temporalkit_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
	"recrawl/internal/temporalkit"
)

// until waits for the server's background work.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for !holds() {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatalf("never: %s", what)
		}
	}
}

// TestEndedPages: the runs that ended pages are listed, the last first, in parts; a
// replaced run is distinguished from one that somebody terminated; and a page is
// identified by its run's input.
func TestEndedPages(t *testing.T) {
	t.Parallel()
	c := contracttest.DevServer(t)
	flows := temporalkit.Workflows{Client: c}
	const pages = 201 // one more than a part has
	in := func(i int) contract.PageIn {
		url := fmt.Sprintf("https://example.com/%d", i)
		return contract.PageIn{Page: crawl.PageRef{CrawlID: 1, Crawl: "news", PageID: int64(i), URL: url, Host: "example.com"}, State: crawl.Active}
	}
	id := func(i int) string { return contract.PageID("news", in(i).Page.URL) }
	terminate := func(i int) {
		t.Helper()
		if err := c.TerminateWorkflow(t.Context(), id(i), "", "a mistake"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range pages {
		if err := flows.StartPage(t.Context(), in(i)); err != nil {
			t.Fatal(err)
		}
		terminate(i)
	}
	if err := flows.RestartCrawl(t.Context(), []byte(`{}`), contract.CrawlProgress{Name: "news"}, false); err != nil {
		t.Fatal(err)
	}
	if err := c.TerminateWorkflow(t.Context(), contract.CrawlID("news"), "", "no page"); err != nil {
		t.Fatal(err)
	}
	var ended []temporalkit.EndedRun
	until(t, "the list has all", func() bool {
		ended = nil
		var token []byte
		for parts := 0; ; parts++ {
			part, err := flows.EndedPages(t.Context(), temporalkit.EndTerminated, token)
			if err != nil {
				t.Fatal(err)
			}
			ended = append(ended, part.Pages...)
			if token = part.Next; len(token) == 0 {
				return len(ended) == pages && parts > 0
			}
		}
	})
	if !slices.IsSortedFunc(ended, func(a, b temporalkit.EndedRun) int { return b.At.Compare(a.At) }) || ended[0].TaskQueue != contract.TaskQueue {
		t.Errorf("listed as %+v", ended)
	}
	for _, end := range []temporalkit.End{temporalkit.EndFailed, temporalkit.EndTimedOut} {
		if part, err := flows.EndedPages(t.Context(), end, nil); err != nil || len(part.Pages) > 0 {
			t.Errorf("%s: %+v, %v", end, part, err)
		}
	}
	if got, err := flows.PageOf(t.Context(), ended[0].ID, ended[0].Run); err != nil || got.Page.URL != in(pages-1).Page.URL {
		t.Errorf("the last one's page is %+v, %v", got, err)
	}

	if replaced, err := flows.Replaced(t.Context(), ended[0].ID, ended[0].Run); err != nil || replaced {
		t.Errorf("one that somebody terminated was replaced: %v, %v", replaced, err)
	}
	for range 2 {
		_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
			ID: id(0), TaskQueue: contract.TaskQueue, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING,
		}, contract.PageWorkflow, in(0))
		if err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the replaced one is listed", func() bool {
		part, err := flows.EndedPages(t.Context(), temporalkit.EndTerminated, nil)
		if err != nil {
			t.Fatal(err)
		}
		if part.Pages[0].ID != id(0) {
			return false
		}
		replaced, err := flows.Replaced(t.Context(), id(0), part.Pages[0].Run)
		if err != nil || !replaced {
			t.Fatalf("one in whose place another was started: %v, %v", replaced, err)
		}
		return true
	})
}

// TestWhoPolls: a queue's pollers are known by process and host, as workers are in the
// store, and those in the lobby by the store as well.
func TestWhoPolls(t *testing.T) {
	t.Parallel()
	c := contracttest.DevServer(t)
	const queue = "polled"
	who := func() (polling, held []temporalkit.Poller) {
		t.Helper()
		polling, held, err := temporalkit.WhoPolls(t.Context(), c, queue)
		if err != nil {
			t.Fatal(err)
		}
		return polling, held
	}
	if polling, held := who(); len(polling)+len(held) > 0 {
		t.Fatalf("at first %v poll and %v wait", polling, held)
	}
	w := worker.New(c, queue, worker.Options{Identity: "7@crawler@" + queue})
	w.RegisterWorkflowWithOptions(func(workflow.Context) error { return nil }, workflow.RegisterOptions{Name: "none"})
	w.RegisterActivityWithOptions(func(context.Context) error { return nil }, activity.RegisterOptions{Name: "none"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { left <- temporalkit.StandInLobby(ctx, c, "default", queue, "8@other", "1f2e") }()
	until(t, "both are there", func() bool {
		polling, held := who()
		return len(polling) == 1 && polling[0].Name == "7@crawler" && polling[0].Store == "" && !polling[0].At.IsZero() &&
			len(held) == 1 && held[0].Name == "8@other" && held[0].Store == "1f2e"
	})
	cancel()
	if err := <-left; err != nil {
		t.Errorf("who leaves the lobby: %v", err)
	}
}
