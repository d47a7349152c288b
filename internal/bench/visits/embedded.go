package visits

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"

	"recrawl/internal/bench"
	"recrawl/internal/temporalkit/embedded"
)

// embeddedDeployment is `starter dev`: a Temporal server with a SQLite file, a store
// with another.
type embeddedDeployment struct{ o Options }

func (d embeddedDeployment) close() error { return nil }

// bare runs the server that `starter dev` runs, on a folder of its own.
func (d embeddedDeployment) bare(ctx context.Context, name string) (*place, error) {
	dir, err := d.o.folder(name)
	if err != nil {
		return nil, err
	}
	var child embedded.Child
	server := &embedded.Server{
		CLI: d.o.temporalCLI(), Files: embedded.In(dir), Log: slog.New(slog.DiscardHandler),
		OnStart: func(c embedded.Child) { child = c }, OnUp: func() {},
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended, err := server.Start(ctx, running)
	if err != nil {
		stop()
		<-ended
		return nil, fmt.Errorf("start a Temporal server: %w", err)
	}
	return &place{
		address: child.Address(), namespace: client.DefaultNamespace, embedded: true,
		server: func() (time.Duration, error) { return bench.CPU(child.PID) },
		stop: func(context.Context) error {
			stop()
			<-ended
			return os.RemoveAll(dir)
		},
	}, nil
}

func (d embeddedDeployment) product(ctx context.Context, name string, counting bool) (*product, error) {
	dir, err := d.o.folder(name)
	if err != nil {
		return nil, err
	}
	p := &product{}
	options := bench.DevOptions{Starter: filepath.Join(d.o.programs(counting), "starter"), CLI: d.o.temporalCLI(), Folder: dir}
	var syncs syncCounter
	if counting {
		p.counts = filepath.Join(dir, "counts")
		options.Env = []string{"RECRAWL_COUNTS=" + p.counts}
		if strace := tracer(); strace != "" {
			log := filepath.Join(dir, "fsyncs")
			syncs = tracedSyncs(log)
			options.Wrap = func(program string, args []string) (string, []string) { return strace, traced(log, program, args) }
		}
	}
	dev, err := bench.StartDev(ctx, options)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	p.place = &place{
		address: dev.Address, namespace: client.DefaultNamespace, embedded: true, syncs: syncs,
		server: func() (time.Duration, error) { return bench.CPU(dev.ServerPID) },
	}
	p.worker, p.starter = dev.Process, dev.Run
	p.stop = func(context.Context) error { return errors.Join(dev.Stop(), os.RemoveAll(dir)) }
	return p, nil
}
