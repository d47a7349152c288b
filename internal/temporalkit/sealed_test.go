package temporalkit_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/keyring"
	"recrawl/internal/temporalkit"
)

// keys is a ring of the keys with these names.
func keys(t *testing.T, names ...string) keyring.Ring {
	t.Helper()
	if len(names) == 0 {
		return keyring.Ring{}
	}
	var list []string
	for _, name := range names {
		if name != "none" {
			name += "=env:" + name
		}
		list = append(list, name)
	}
	ring, err := keyring.Parse(strings.Join(list, ","), func(name string) string {
		return base64.StdEncoding.EncodeToString([]byte((name + strings.Repeat("-", 32))[:32]))
	})
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// talk repeats its input, a signal, and an activity's result and error.
func talk(ctx workflow.Context, said string) (string, error) {
	var signal string
	workflow.GetSignalChannel(ctx, "say").Receive(ctx, &signal)
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{InitialInterval: 50 * time.Millisecond, MaximumInterval: 50 * time.Millisecond}, Summary: "echo of " + said,
	})
	var echo string
	if err := workflow.ExecuteActivity(ctx, "echo", said).Get(ctx, &echo); err != nil {
		return "", err
	}
	var failed *temporal.ApplicationError
	if err := workflow.ExecuteActivity(ctx, "fail", said).Get(ctx, nil); !errors.As(err, &failed) {
		return "", err
	}
	var detail string
	if err := failed.Details(&detail); err != nil {
		return "", err
	}
	return strings.Join([]string{said, signal, echo, failed.Message(), detail}, "|"), nil
}

func echo(_ context.Context, said string) (string, error) { return said, nil }

func fail(_ context.Context, said string) error {
	return temporal.NewNonRetryableApplicationError(said, "Type", nil, said)
}

// dialWith dials the server with these keys.
func dialWith(t *testing.T, address string, ring keyring.Ring) client.Client {
	t.Helper()
	c, err := temporalkit.Dial(t.Context(), temporalkit.Options{Address: address, Keys: ring, Logger: contracttest.QuietLog()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// work runs a worker with these keys on a task queue until stop is called.
func work(t *testing.T, address, queue string, ring keyring.Ring) (stop func()) {
	t.Helper()
	w := temporalkit.NewWorker(dialWith(t, address, ring), temporalkit.WorkerOptions{
		TaskQueue: queue, Activities: 2, WorkflowTasks: 2, LocalActivities: 2,
		WorkflowPollers: temporalkit.Pollers{Min: 2, Max: 2}, ActivityPollers: temporalkit.Pollers{Min: 1, Max: 1}, Sticky: time.Second,
	})
	w.RegisterWorkflowWithOptions(talk, workflow.RegisterOptions{Name: "talk"})
	w.RegisterActivityWithOptions(echo, activity.RegisterOptions{Name: "echo"})
	w.RegisterActivityWithOptions(fail, activity.RegisterOptions{Name: "fail"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(w.Stop)
	t.Cleanup(stop)
	return stop
}

const said = "https://secret.example/path"

func start(t *testing.T, c client.Client, id string) client.WorkflowRun {
	t.Helper()
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: id, TaskQueue: id, StaticSummary: said, Memo: map[string]any{contract.MemoStore: said},
	}, "talk", said)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func say(t *testing.T, c client.Client, id string) {
	t.Helper()
	if err := c.SignalWorkflow(t.Context(), id, "", "say", said); err != nil {
		t.Fatal(err)
	}
}

func checkSaid(t *testing.T, run client.WorkflowRun) {
	t.Helper()
	var got string
	if err := run.Get(t.Context(), &got); err != nil || got != strings.Join([]string{said, said, said, said, said}, "|") {
		t.Errorf("%s ended with %q, %v", run.GetID(), got, err)
	}
}

// rawHistory is the server's whole history of a run, as text.
func rawHistory(t *testing.T, plain client.Client, id string) string {
	t.Helper()
	var text strings.Builder
	events := plain.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(event.String())
		text.WriteByte('\n')
	}
	return text.String()
}

// TestWithoutTheKey: workers that lack a key, or have another of its name, end nothing and
// lose nothing: tasks are tried again until a worker with the key comes. Nor is the
// workflow taken for stuck.
func TestWithoutTheKey(t *testing.T) {
	t.Parallel()
	plain, address := contracttest.DevServerAt(t)
	namesake, err := keyring.Parse("k1=env:K", func(string) string { return strings.Repeat("ab", 32) })
	if err != nil {
		t.Fatal(err)
	}
	for name, lacking := range map[string]keyring.Ring{"none": keys(t), "namesake": namesake, "successor": keys(t, "k2")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, all := dialWith(t, address, keys(t, "k1")), dialWith(t, address, keys(t, "k2", "k1"))
			start(t, first, name)
			say(t, first, name)
			stop := work(t, address, name, lacking)
			if name == "successor" {
				flows := temporalkit.Workflows{Client: dialWith(t, address, lacking)}
				awaitCondition(t, "its task fails for want of the key", func() bool { return wants(t, flows, name, "k1") })
				// A worker with the other key cannot read why, and ends nothing either.
				if !wants(t, temporalkit.Workflows{Client: first}, name, "k2") {
					t.Error("who has the first key takes it for well")
				}
			}
			awaitCondition(t, "its task fails", func() bool {
				return strings.Contains(rawHistory(t, plain, name), "workflow_task_failed_event_attributes")
			})
			stop()
			work(t, address, name, keys(t, "k2", "k1"))
			checkSaid(t, all.GetWorkflow(t.Context(), name, ""))
			text := rawHistory(t, plain, name)
			if strings.Contains(text, "secret.example") {
				t.Errorf("the history says it: %s", text)
			}
			if !strings.Contains(text, `"k1"`) || !strings.Contains(text, `"k2"`) {
				t.Errorf("not encrypted with the first key, and then with the new one: %s", text)
			}
		})
	}
}

// wants reports whether a workflow is known to wait for a key. It must never be stuck.
func wants(t *testing.T, flows temporalkit.Workflows, id, key string) bool {
	t.Helper()
	h, err := flows.Health(t.Context(), id)
	if err != nil || h.Condition != temporalkit.Runs {
		t.Fatalf("%+v, %v: want that it runs", h, err)
	}
	return strings.Contains(h.Why, strconv.Quote(key)) && strings.Contains(h.Why, keyring.Setting)
}

// TestMixed: data from before encryption was switched on can be read, and so can data
// from programs that do not encrypt.
func TestMixed(t *testing.T) {
	t.Parallel()
	plain, address := contracttest.DevServerAt(t)
	before := start(t, dialWith(t, address, keys(t)), "before")
	say(t, dialWith(t, address, keys(t, "k1")), "before")
	after := start(t, dialWith(t, address, keys(t, "k1")), "after")
	say(t, plain, "after")
	for _, queue := range []string{"before", "after"} {
		work(t, address, queue, keys(t, "none", "k1")) // the first step of a fleet that is going to encrypt
	}
	checkSaid(t, dialWith(t, address, keys(t, "k1")).GetWorkflow(t.Context(), before.GetID(), ""))
	checkSaid(t, after)
	if text := rawHistory(t, plain, "before"); strings.Count(text, "binary/encrypted") != 1 {
		t.Errorf("more than the signal is encrypted: %s", text)
	}
}

// TestClientWithoutTheKey: a client that lacks the key learns that in one line.
func TestClientWithoutTheKey(t *testing.T) {
	t.Parallel()
	_, address := contracttest.DevServerAt(t)
	knowing := dialWith(t, address, keys(t, "k1"))
	run := start(t, knowing, "t")
	say(t, knowing, "t")
	work(t, address, "t", keys(t, "k1"))
	checkSaid(t, run)
	var got string
	err := dialWith(t, address, keys(t)).GetWorkflow(t.Context(), "t", "").Get(t.Context(), &got)
	var locked *keyring.LockedError
	if !errors.As(err, &locked) || locked.Key != "k1" {
		t.Errorf("%q, %v", got, err)
	}
}

// awaitCondition waits for the server's work, which cannot signal us.
func awaitCondition(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("never: " + what)
		}
	}
}

// TestEncryptedCrawl: the parts of a crawl that are read without its worker, its memo and
// its history, are read with the key, and without it nobody draws conclusions.
func TestEncryptedCrawl(t *testing.T) {
	t.Parallel()
	_, address := contracttest.DevServerAt(t)
	c, lacking := dialWith(t, address, keys(t, "k1")), dialWith(t, address, keys(t))
	flows := func(c client.Client) temporalkit.Workflows {
		return temporalkit.Workflows{Client: c, Namespace: client.DefaultNamespace, Store: "store-1"}
	}
	if err := flows(c).RestartCrawl(t.Context(), []byte(`{"seeds":["`+said+`"]}`), contract.CrawlProgress{Name: "t"}, false); err != nil {
		t.Fatal(err)
	}
	names := func(text []byte) bool { return strings.Contains(string(text), said) }
	finish := func(c client.Client) ([]string, error) {
		return (&temporalkit.Eraser{Client: c, Namespace: client.DefaultNamespace}).Finish(t.Context(), []string{"t"}, names)
	}
	if left, err := finish(c); err != nil || len(left) != 1 || left[0] != contract.CrawlID("t") {
		t.Errorf("histories that name it: %q, %v", left, err)
	}
	var locked *keyring.LockedError
	if left, err := finish(lacking); !errors.As(err, &locked) {
		t.Errorf("histories that name it, without the key: %q, %v", left, err)
	}
	if runs, err := flows(c).CrawlRuns(t.Context(), "t"); err != nil || !runs {
		t.Errorf("the crawl runs: %t, %v", runs, err)
	}
	if _, err := flows(lacking).CrawlRuns(t.Context(), "t"); !errors.As(err, &locked) {
		t.Errorf("whose crawl it is, without the key: %v", err)
	}
	listed := func(c client.Client) temporalkit.OpenCrawl {
		t.Helper()
		var open []temporalkit.OpenCrawl
		awaitCondition(t, "the crawl is listed", func() (ok bool) {
			var err error
			open, err = temporalkit.OpenCrawls(t.Context(), c, client.DefaultNamespace)
			return err == nil && len(open) == 1
		})
		return open[0]
	}
	if got := listed(c); got.Store != "store-1" || got.Locked != nil {
		t.Errorf("listed %+v", got)
	}
	if got := listed(lacking); got.Store != "" || !errors.As(got.Locked, &locked) {
		t.Errorf("listed without the key %+v", got)
	}
	if ended, err := flows(c).EndUnread(t.Context(), "t"); err != nil || ended {
		t.Errorf("a crawl that waits for a worker was ended: %t, %v", ended, err)
	}
	if ended, err := flows(lacking).EndUnread(t.Context(), "t"); err != nil || !ended {
		t.Errorf("a crawl that cannot be read was not ended: %t, %v", ended, err)
	}
	if ended, err := flows(lacking).EndUnread(t.Context(), "t"); err != nil || ended {
		t.Errorf("ended a second time: %t, %v", ended, err)
	}
}
