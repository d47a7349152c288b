package visits

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"

	"recrawl/internal/bench"
	"recrawl/internal/config"
	"recrawl/internal/temporalkit/embedded"
)

// embeddedDeployment is `starter dev`: a Temporal server with a SQLite file, a store
// with another.
type embeddedDeployment struct{ o Options }

// lookEvery is how often a program that starts is looked at.
const lookEvery = 50 * time.Millisecond

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
	data := filepath.Join(dir, "data")
	p := &product{
		place: &place{namespace: client.DefaultNamespace, embedded: true}, bin: filepath.Join(d.o.programs(counting), "starter"),
		env: bench.CleanEnv(dir, "RECRAWL_TEMPORAL_CLI="+d.o.temporalCLI()), where: []string{"--data", data},
	}
	command := bench.Command{Path: p.bin, Args: []string{"dev", "--data", data}, Env: p.env}
	if counting {
		p.counts = filepath.Join(dir, "counts")
		command.Env = append(command.Env, "RECRAWL_COUNTS="+p.counts)
		if strace := tracer(); strace != "" {
			log := filepath.Join(dir, "fsyncs")
			command.Path, command.Args = strace, traced(log, p.bin, command.Args)
			p.syncs = tracedSyncs(log)
		}
	}
	if p.worker, err = bench.Start(command, nil); err != nil {
		return nil, err
	}
	p.stop = func(context.Context) error { return errors.Join(p.worker.Stop(), os.RemoveAll(dir)) }
	err = bench.Await(ctx, "starter dev is ready", lookEvery, says(p.worker, "ready"), p.worker)
	if err == nil {
		err = d.find(p, data)
	}
	if err != nil {
		return nil, errors.Join(err, p.stop(ctx))
	}
	return p, nil
}

// find reads where the server is.
func (d embeddedDeployment) find(p *product, data string) error {
	text, err := os.ReadFile(filepath.Join(data, config.StateFile))
	if err != nil {
		return fmt.Errorf("find the Temporal server: %w", err)
	}
	var state config.DevState
	if err := json.Unmarshal(text, &state); err != nil {
		return fmt.Errorf("find the Temporal server: %w", err)
	}
	p.address = state.TemporalAddress
	p.server = func() (time.Duration, error) { return bench.CPU(state.TemporalPID) }
	return nil
}
