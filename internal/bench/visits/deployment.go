package visits

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"recrawl/internal/bench"
)

// deployment is where bare loops and the product run in turn.
type deployment interface {
	// bare returns a place for bare workflows.
	bare(ctx context.Context, name string) (*place, error)
	// product runs the built programs on a new store. With counting, it runs the counting
	// ones, traced if possible.
	product(ctx context.Context, name string, counting bool) (*product, error)
	close() error
}

// meter returns the processor time that something has used so far.
type meter func() (time.Duration, error)

// place is a namespace of a Temporal server.
type place struct {
	address, namespace string
	embedded           bool
	server             meter
	database           meter       // nil if the server has none of its own
	syncs              syncCounter // nil if they cannot be counted
	stop               func(ctx context.Context) error
}

// product is a running recrawl.
type product struct {
	*place
	worker *bench.Process
	counts string // the file; "" without
	// starter runs a command, which must succeed.
	starter func(ctx context.Context, stdin io.Reader, args ...string) (string, error)
	stop    func(ctx context.Context) error // and its place
}

// bareWorker is a running bare worker.
type bareWorker struct {
	*bench.Process
	asker *asker
}

// startBare runs a bare worker at a place, with no workflow yet.
func (o Options) startBare(ctx context.Context, at *place, kind bareKind) (*bareWorker, error) {
	asker, stdin, output, err := newAsker()
	if err != nil {
		return nil, err
	}
	args := []string{
		"bare", "-address", at.address, "-namespace", at.namespace, "-workflows", strconv.Itoa(o.Pages),
	}
	args = append(args, kind.args(o)...)
	if at.embedded {
		args = append(args, "-embedded")
	}
	p, err := bench.Start(bench.Command{Path: o.Self, Args: args, Env: bench.CleanEnv(o.Folder), Stdin: stdin}, output)
	err = errors.Join(err, stdin.Close())
	if err != nil {
		return nil, errors.Join(err, asker.asks.Close())
	}
	return &bareWorker{Process: p, asker: asker}, nil
}

// begin starts its workflows.
func (w *bareWorker) begin(ctx context.Context) error {
	_, err := w.asker.ask(ctx, w.Process, begin)
	return err
}

// stop ends it by the end of its input.
func (w *bareWorker) stop() error {
	return errors.Join(w.asker.asks.Close(), w.AwaitEnd())
}

// folder makes a folder for the data of one part of the benchmark.
func (o Options) folder(name string) (string, error) {
	dir := filepath.Join(o.Folder, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make a folder: %w", err)
	}
	return dir, nil
}

// programs returns the folder of the programs to run.
func (o Options) programs(counting bool) string {
	if counting {
		return o.Counting
	}
	return o.Programs
}

// temporalCLI returns the path of the server of `starter dev`.
func (o Options) temporalCLI() string {
	if path := os.Getenv("RECRAWL_TEMPORAL_CLI"); path != "" {
		return path
	}
	return filepath.Join(o.Root, "bin", "temporal")
}

// tracedSyncs counts the fsyncs in a tracer's log.
func tracedSyncs(path string) syncCounter {
	return func(context.Context) (func(context.Context) (Syncs, error), error) {
		from := time.Now()
		return func(context.Context) (Syncs, error) {
			until := time.Now()
			log, err := os.Open(path)
			if err != nil {
				return Syncs{}, fmt.Errorf("read the tracer's log: %w", err)
			}
			defer log.Close()
			return readSyncs(log, from, until)
		}, nil
	}
}
