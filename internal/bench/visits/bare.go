package visits

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"golang.org/x/sync/errgroup"

	"recrawl/internal/bench"
	"recrawl/internal/config"
	"recrawl/internal/temporalkit"
)

// Bare is a worker whose workflows do only what a visit needs of Temporal itself: a timer
// and a regular activity, with Locals local activities around it. The activities are empty.
// Its first visits need a start besides: with Children, one workflow starts all others as
// its children, each of which makes one visit and then sleeps for as long as Timer.
type Bare struct {
	Address, Namespace string
	// Embedded connects as `starter dev` does, without compression.
	Embedded  bool
	Workflows int
	Timer     time.Duration
	Locals    int
	Children  bool
}

// RunBare is the bare worker as a program, `bench bare`, which measuring visits starts.
func RunBare(ctx context.Context, args []string, asks io.Reader, answers io.Writer) error {
	var b Bare
	flags := flag.NewFlagSet("bench bare", flag.ContinueOnError)
	flags.StringVar(&b.Address, "address", "", "Temporal's `address`")
	flags.StringVar(&b.Namespace, "namespace", "", "its namespace")
	flags.BoolVar(&b.Embedded, "embedded", false, "connect as starter dev does")
	flags.IntVar(&b.Workflows, "workflows", 1, "how many workflows")
	flags.DurationVar(&b.Timer, "timer", time.Second, "their timers")
	flags.IntVar(&b.Locals, "locals", 0, "local activities a visit, 0 to 2")
	flags.BoolVar(&b.Children, "children", false, "start them as children, which make one visit each")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return b.Run(ctx, asks, answers)
}

// bareQueue is the bare workers' task queue.
const bareQueue = "bare"

// The names under which Temporal knows them.
const (
	bareWorkflow = "Bare"
	bareChild    = "BareChild"
	bareParent   = "BareParent"
	bareVisit    = "Visit"
	bareStep     = "Step"
)

// runVisits is the number of visits after which a workflow begins a new history.
const runVisits = 100

// loop is a bare workflow. first delays its first visit, so that not all come at once.
func (b Bare) loop(ctx workflow.Context, first time.Duration) error {
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: 10 * time.Second})
	regular := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	step := func(at int) error {
		if at >= b.Locals {
			return nil
		}
		return workflow.ExecuteLocalActivity(local, bareStep).Get(ctx, nil)
	}
	for i := range runVisits {
		sleep := b.Timer
		if i == 0 && first > 0 {
			sleep = first
		}
		if err := workflow.Sleep(ctx, sleep); err != nil {
			return err
		}
		if err := step(0); err != nil {
			return err
		}
		if err := workflow.ExecuteActivity(regular, bareVisit).Get(ctx, nil); err != nil {
			return err
		}
		if err := step(1); err != nil {
			return err
		}
	}
	return workflow.NewContinueAsNewError(ctx, bareWorkflow, time.Duration(0))
}

// childrenAtOnce and childrenPerRun are how many children the parent starts at once, and in
// a run, as Discover does.
const (
	childrenAtOnce = 100
	childrenPerRun = 500
)

// parent starts the children from the given number on.
func (b Bare) parent(ctx workflow.Context, from int) error {
	until := min(from+childrenPerRun, b.Workflows)
	for ; from < until; from += childrenAtOnce {
		var starts []workflow.Future
		for i := from; i < min(from+childrenAtOnce, until); i++ {
			child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
				WorkflowID: bareChild + "/" + strconv.Itoa(i), ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_ABANDON,
			})
			starts = append(starts, workflow.ExecuteChildWorkflow(child, bareChild).GetChildWorkflowExecution())
		}
		for _, start := range starts {
			if err := start.Get(ctx, nil); err != nil {
				return err
			}
		}
	}
	if until < b.Workflows {
		return workflow.NewContinueAsNewError(ctx, bareParent, until)
	}
	return nil
}

// child makes one visit, and then sleeps.
func (b Bare) child(ctx workflow.Context) error {
	regular := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	if err := workflow.ExecuteActivity(regular, bareVisit).Get(ctx, nil); err != nil {
		return err
	}
	return workflow.Sleep(ctx, b.Timer)
}

// begin is the line of asks that has a bare worker start its workflows.
const begin = "begin"

// Run works until asks ends. To each line of asks it answers with the number of visits
// so far, to begin once the workflows have been started.
func (b Bare) Run(ctx context.Context, asks io.Reader, answers io.Writer) error {
	c, err := b.dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	var visits atomic.Int64
	w := temporalkit.NewWorker(c, b.options())
	w.RegisterWorkflowWithOptions(b.loop, workflow.RegisterOptions{Name: bareWorkflow})
	w.RegisterWorkflowWithOptions(b.parent, workflow.RegisterOptions{Name: bareParent})
	w.RegisterWorkflowWithOptions(b.child, workflow.RegisterOptions{Name: bareChild})
	w.RegisterActivityWithOptions(func(context.Context) error { return nil }, activity.RegisterOptions{Name: bareStep})
	w.RegisterActivityWithOptions(func(context.Context) error { visits.Add(1); return nil }, activity.RegisterOptions{Name: bareVisit})
	if err := w.Start(); err != nil {
		return fmt.Errorf("start the bare worker: %w", err)
	}
	defer w.Stop()
	lines := bufio.NewScanner(asks)
	for lines.Scan() {
		if lines.Text() == begin {
			if err := b.start(ctx, c); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(answers, visits.Load()); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
	return lines.Err()
}

// options returns the options of the product's worker.
func (b Bare) options() temporalkit.WorkerOptions {
	cfg, sticky := config.Default(), temporalkit.StickyFleet
	if b.Embedded {
		sticky = temporalkit.StickyEmbedded
	}
	worker.SetStickyWorkflowCacheSize(cfg.Worker.WorkflowCache)
	return temporalkit.WorkerOptions{
		TaskQueue: bareQueue, Activities: cfg.Concurrency, WorkflowTasks: cfg.Worker.WorkflowTasks, LocalActivities: cfg.Worker.LocalActivities,
		WorkflowPollers: temporalkit.Pollers(cfg.Worker.WorkflowPollers), ActivityPollers: temporalkit.Pollers(cfg.Worker.ActivityPollers),
		Sticky: sticky, StopTimeout: time.Second,
	}
}

// dialLimit is the time that a server that has just begun to listen may take to answer.
const dialLimit = 60 * time.Second

func (b Bare) dial(ctx context.Context) (client.Client, error) {
	return dial(ctx, b.Address, b.Namespace, b.Embedded)
}

func dial(ctx context.Context, address, namespace string, embedded bool) (client.Client, error) {
	o := temporalkit.Options{Address: address, Namespace: namespace, Patience: dialLimit, Logger: slog.New(slog.DiscardHandler)}
	if embedded {
		o.Dial = func(ctx context.Context, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	}
	return temporalkit.Dial(ctx, o)
}

func (b Bare) start(ctx context.Context, c client.Client) error {
	if b.Children {
		_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: bareParent, TaskQueue: bareQueue}, bareParent, 0)
		if err != nil {
			return fmt.Errorf("start the parent of the bare workflows: %w", err)
		}
		return nil
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for i := range b.Workflows {
		group.Go(func() error {
			_, err := c.ExecuteWorkflow(groupCtx, client.StartWorkflowOptions{ID: bareWorkflow + "/" + strconv.Itoa(i), TaskQueue: bareQueue},
				bareWorkflow, time.Millisecond+rand.N(b.Timer))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("start the bare workflows: %w", err)
	}
	return nil
}

// asker asks a bare worker in another process for its visits. The worker ends when it is
// closed, and so also when this process ends, however that happens.
type asker struct {
	asks    *os.File
	answers chan int64
}

// newAsker also returns a bare worker's standard input, which the caller must close, and
// the receiver of its output.
func newAsker() (a *asker, stdin *os.File, output io.Writer, err error) {
	stdin, asks, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	a = &asker{asks: asks, answers: make(chan int64, 1)}
	return a, stdin, &answerReader{to: a.answers}, nil
}

func (a *asker) visits(ctx context.Context, on *bench.Process) (int64, error) {
	return a.ask(ctx, on, "")
}

func (a *asker) ask(ctx context.Context, on *bench.Process, line string) (int64, error) {
	if _, err := io.WriteString(a.asks, line+"\n"); err != nil {
		return 0, fmt.Errorf("ask the bare worker: %w: %s", err, on.Output())
	}
	select {
	case n := <-a.answers:
		return n, nil
	case <-on.Done():
		return 0, fmt.Errorf("the bare worker has ended: %s", on.Output())
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// answerReader sends the number of each whole line that is written to it.
type answerReader struct {
	to   chan<- int64
	line []byte
}

// Write implements io.Writer. Lines without a number are messages.
func (r *answerReader) Write(b []byte) (int, error) {
	for _, c := range b {
		if c != '\n' {
			r.line = append(r.line, c)
			continue
		}
		if n, err := strconv.ParseInt(string(r.line), 10, 64); err == nil {
			select {
			case r.to <- n:
			default: // nobody waits: an ask was given up
			}
		}
		r.line = nil
	}
	return len(b), nil
}
