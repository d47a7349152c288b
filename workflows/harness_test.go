package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
)

// start is far ahead of the real clock: the SDK compares the deadline of a local activity's
// retries, which is in the test's time, with the real clock.
var start = time.Date(2100, 1, 4, 6, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// outage is how long the store may fail for activities that are retried for ever: the test
// environment gives up after ten attempts.
const outage = 3 * time.Minute

func ref() crawl.PageRef {
	return crawl.PageRef{CrawlID: 1, Crawl: "news", PageID: 42, URL: "https://example.com/a", Host: "example.com"}
}

func pageIn() contract.PageIn { return contract.PageIn{Page: ref(), State: crawl.Active} }

// visited is a page that has been visited before and is due at a time.
func visited(due time.Time) contract.PageIn {
	in := pageIn()
	in.Visit, in.Due, in.Why = 3, due, "policy"
	in.Recent = []contract.VisitLine{{Visit: 3, At: start.Add(-day), Outcome: crawl.OutcomeUnchanged, Status: 304}}
	return in
}

// at is something that happens to a workflow at a time after start.
type at struct {
	after time.Duration
	do    func(*live)
	done  bool
}

// live is a workflow under test. Each run has an environment of its own; the time, the World
// and the search attributes are carried from run to run.
type live struct {
	t       *testing.T
	world   *contracttest.World
	env     *testsuite.TestWorkflowEnvironment
	events  []*at
	now     time.Time
	attrs   temporal.SearchAttributes
	upserts []string
	runs    int
	err     error // of the last run
	acks    []contract.Ack
	rejects []error
	updates int
	opts    []func(*testsuite.TestWorkflowEnvironment)
	stub    bool // Discover is played by the World
	id      string
	timers  int
	views   []contract.PageView
	inputs  []contract.PageIn // of the continued runs
}

func newLive(t *testing.T, events ...*at) *live {
	t.Helper()
	l := &live{
		t: t, world: contracttest.NewWorld(), now: start, events: events, stub: true,
		id: contract.PageID("news", ref().URL),
	}
	l.attrs = contract.PageAttributes(pageIn())
	return l
}

// page runs a Page to its end, across every continue-as-new.
func (l *live) page(in contract.PageIn) error {
	l.t.Helper()
	return l.follow(contract.PageWorkflow, func(next *converterArgs) []any {
		if next != nil {
			in = contract.PageIn{}
			next.get(l.t, &in)
			l.inputs = append(l.inputs, in)
		}
		return []any{in}
	})
}

// converterArgs are the arguments that a run continued with.
type converterArgs struct{ err *workflow.ContinueAsNewError }

func (a *converterArgs) get(t *testing.T, into ...any) {
	t.Helper()
	if err := converter.GetDefaultDataConverter().FromPayloads(a.err.Input, into...); err != nil {
		t.Fatalf("continue-as-new input: %v", err)
	}
}

// follow is runAcrossContinue: it runs the workflow in fresh environments until
// a run does not continue as new.
func (l *live) follow(name string, args func(*converterArgs) []any) error {
	l.t.Helper()
	var next *converterArgs
	for {
		l.runs++
		if l.runs > 1500 {
			l.t.Fatalf("the workflow spins: %d runs at %s", l.runs, l.now)
		}
		l.run(name, args(next))
		var again *workflow.ContinueAsNewError
		if !errors.As(l.err, &again) {
			return l.err
		}
		next = &converterArgs{again}
	}
}

func (l *live) run(name string, args []any) {
	suite := testsuite.WorkflowTestSuite{}
	suite.SetLogger(contracttest.Quiet())
	env := suite.NewTestWorkflowEnvironment()
	// A busy machine may leave us without CPU for the second after which the SDK considers a
	// workflow stuck, and goes on beside it.
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute})
	l.env = env
	env.SetTestTimeout(10 * time.Minute) // only ends a hang
	env.SetStartTime(l.now)
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: l.id, TaskQueue: contract.TaskQueue})
	if err := env.SetTypedSearchAttributesOnStart(l.attrs); err != nil {
		l.t.Fatal(err)
	}
	env.SetOnTimerScheduledListener(func(string, time.Duration) { l.timers++ })
	l.register(env)
	l.world.SetClock(env.Now)
	l.world.Register(env)
	env.OnUpsertTypedSearchAttributes(mock.MatchedBy(l.upserted)).Return(nil).Maybe()
	for _, opt := range l.opts {
		opt(env)
	}
	for _, e := range l.events {
		if e.done {
			continue
		}
		env.RegisterDelayedCallback(func() {
			// Events after the end of a run go to the next one.
			if !e.done && !env.IsWorkflowCompleted() {
				e.done = true
				e.do(l)
			}
		}, max(start.Add(e.after).Sub(l.now), 0))
	}
	env.ExecuteWorkflow(name, args...)
	if !env.IsWorkflowCompleted() {
		l.t.Fatal("the workflow did not complete")
	}
	l.err = env.GetWorkflowError()
	l.now = env.Now()
}

func (l *live) register(env *testsuite.TestWorkflowEnvironment) {
	env.RegisterWorkflowWithOptions(Crawl, workflow.RegisterOptions{Name: contract.CrawlWorkflow})
	env.RegisterWorkflowWithOptions(Sink, workflow.RegisterOptions{Name: contract.SinkWorkflow})
	if !l.stub {
		env.RegisterWorkflowWithOptions(Discover, workflow.RegisterOptions{Name: contract.DiscoverWorkflow})
		env.RegisterWorkflowWithOptions(pageStub, workflow.RegisterOptions{Name: contract.PageWorkflow})
		return
	}
	env.RegisterWorkflowWithOptions(Page, workflow.RegisterOptions{Name: contract.PageWorkflow})
	env.RegisterWorkflowWithOptions(l.world.DiscoverStub, workflow.RegisterOptions{Name: contract.DiscoverWorkflow})
}

// pageStub ends at once, since the environment waits for abandoned children.
func pageStub(workflow.Context, contract.PageIn) error { return nil }

// upserted records a write of search attributes, with which the next run starts.
func (l *live) upserted(attrs temporal.SearchAttributes) bool {
	state, ok := attrs.GetKeyword(contract.AttrState)
	if !ok {
		return true
	}
	l.upserts = append(l.upserts, state)
	updates := []temporal.SearchAttributeUpdate{contract.AttrState.ValueSet(state)}
	for _, key := range []temporal.SearchAttributeKeyKeyword{contract.AttrCrawl, contract.AttrHost} {
		for _, from := range []temporal.SearchAttributes{l.attrs, attrs} {
			if value, ok := from.GetKeyword(key); ok {
				updates = append(updates, key.ValueSet(value))
			}
		}
	}
	l.attrs = temporal.NewSearchAttributes(updates...)
	return true
}

// The things that can happen.

func do(after time.Duration, f func(*live)) *at { return &at{after: after, do: f} }

func signal(after time.Duration, name string, arg any) *at {
	return do(after, func(l *live) { l.env.SignalWorkflow(name, arg) })
}

func stopAt(after time.Duration) *at { return signal(after, contract.StopName, nil) }

func update(after time.Duration, name string, args ...any) *at {
	return do(after, func(l *live) { l.update(name, args...) })
}

func (l *live) update(name string, args ...any) {
	l.updates++
	l.env.UpdateWorkflow(name, fmt.Sprintf("u%d", l.updates), &testsuite.TestUpdateCallback{
		OnAccept: func() {},
		OnReject: func(err error) { l.rejects = append(l.rejects, err) },
		OnComplete: func(result any, err error) {
			if err != nil {
				l.rejects = append(l.rejects, err)
				return
			}
			l.acks = append(l.acks, result.(contract.Ack))
		},
	}, args...)
}

// look runs the state query and keeps its answer.
func look(after time.Duration) *at {
	return do(after, func(l *live) { l.views = append(l.views, l.view()) })
}

func (l *live) view() contract.PageView {
	l.t.Helper()
	var v contract.PageView
	value, err := l.env.QueryWorkflow(contract.StateQuery)
	if err == nil {
		err = value.Get(&v)
	}
	if err != nil {
		l.t.Fatalf("state query: %v", err)
	}
	return v
}

// times are the times of the recorded visits after start.
func (l *live) times() []time.Duration {
	var all []time.Duration
	for _, v := range l.world.Visits() {
		all = append(all, v.At.Sub(start))
	}
	return all
}

func (l *live) wantTimes(want ...time.Duration) {
	l.t.Helper()
	if got := l.times(); !slices.Equal(got, want) {
		l.t.Errorf("visits at %v, want %v", got, want)
	}
}

func (l *live) wantCalls(name string, want int) {
	l.t.Helper()
	if got := l.world.Calls(name); got != want {
		l.t.Errorf("%s ran %d times, want %d", name, got, want)
	}
}

func (l *live) wantClasses(want ...crawl.Class) {
	l.t.Helper()
	var got []crawl.Class
	for _, v := range l.world.Visits() {
		got = append(got, v.Class)
	}
	if !slices.Equal(got, want) {
		l.t.Errorf("classes %v, want %v", got, want)
	}
}

// wantAhead checks after which visits the page's tasks stopped overtaking others.
func (l *live) wantAhead(want ...bool) {
	l.t.Helper()
	var got []bool
	for _, v := range l.world.Visits() {
		got = append(got, v.Ahead)
	}
	if !slices.Equal(got, want) {
		l.t.Errorf("ahead %v, want %v", got, want)
	}
}

// stopped checks the usual end: stopped by a person, the line left.
func (l *live) stopped(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatalf("the page ended with %v", err)
	}
	left := l.world.Left()
	if len(left) == 0 || left[len(left)-1].State != crawl.Stopped {
		l.t.Errorf("left the line with %v, want a last call with state stopped", left)
	}
}

// onStarted calls f when an activity of this name starts.
func onStarted(name string, f func()) func(*activity.Info, context.Context, converter.EncodedValues) {
	return func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if info.ActivityType.Name == name {
			f()
		}
	}
}

func onStartedLocal(name string, f func()) func(*activity.Info, context.Context, []any) {
	return func(info *activity.Info, _ context.Context, _ []any) {
		if info.ActivityType.Name == name {
			f()
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
