//go:build unix

package visits

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"recrawl/internal/bench"
	"recrawl/internal/deploytest"
	"recrawl/internal/porttest"
	"recrawl/internal/store/storetest/pgtest"
)

// clusterDeployment is docker-compose.yml without containers and with one worker: a
// Temporal server of all roles, and a Postgres for it and the store that keeps its
// commits safe.
type clusterDeployment struct {
	o        Options
	thin     bool // Temporal's list of workflows has fewer indexes
	project  deploytest.Project
	postgres *pgtest.Server
	dsn      *url.URL
	frontend string // address
	env      []string
	temporal *bench.Process
}

// durable settings are those of docker-compose.yml's server, and the defaults that servers
// of tests lack.
var durable = []string{"fsync=on", "full_page_writes=on", "autovacuum_naptime=1min", "max_connections=300", "shared_buffers=256MB", "jit=on"}

// lookEvery is the time between two looks at a starting program.
const lookEvery = 50 * time.Millisecond

func startCluster(ctx context.Context, o Options, thin bool) (deployment, error) {
	d := &clusterDeployment{o: o, thin: thin}
	if err := d.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start a cluster: %w", err), d.close())
	}
	return d, nil
}

func (d *clusterDeployment) start(ctx context.Context) (err error) {
	if d.project, err = deploytest.Load(ctx); err != nil {
		return err
	}
	if d.postgres, err = pgtest.Start(ctx, durable...); err != nil {
		return err
	}
	if d.dsn, err = url.Parse(d.postgres.DSN()); err != nil {
		return err
	}
	if err := d.connect(ctx); err != nil {
		return err
	}
	if err := d.job(ctx, "temporal-schema"); err != nil {
		return err
	}
	if d.thin {
		if err := d.thinVisibility(ctx); err != nil {
			return err
		}
	}
	env, err := d.environment("temporal")
	if err != nil {
		return err
	}
	d.temporal, err = bench.Start(bench.Command{Path: filepath.Join(d.o.Root, "bin", "temporal-server"), Args: []string{"start"}, Env: env}, nil)
	if err != nil {
		return err
	}
	return bench.Await(ctx, "Temporal listens", lookEvery, func(ctx context.Context) (bool, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", d.frontend)
		if err != nil {
			return false, nil
		}
		return true, conn.Close()
	}, d.temporal)
}

// thinVisibility removes what is not needed of the indexes of Temporal's list of workflows.
func (d *clusterDeployment) thinVisibility(ctx context.Context) error {
	list := *d.dsn
	list.Path = "/temporal_visibility"
	_, err := d.psql(ctx, &list, "--single-transaction", "--file", filepath.Join(d.o.Root, "deploy", "temporal", "thin-visibility.sql"))
	return err
}

// connect chooses the server's ports.
func (d *clusterDeployment) connect(ctx context.Context) error {
	for _, name := range []string{
		"FRONTEND_GRPC_PORT", "FRONTEND_HTTP_PORT", "FRONTEND_MEMBERSHIP_PORT", "HISTORY_GRPC_PORT", "HISTORY_MEMBERSHIP_PORT",
		"MATCHING_GRPC_PORT", "MATCHING_MEMBERSHIP_PORT", "WORKER_GRPC_PORT", "WORKER_MEMBERSHIP_PORT",
	} {
		port, err := porttest.Free(ctx)
		if err != nil {
			return err
		}
		if name == "FRONTEND_GRPC_PORT" {
			d.frontend = net.JoinHostPort("127.0.0.1", port)
		}
		d.env = append(d.env, name+"="+port)
	}
	return nil
}

// environment returns that of a service, with addresses and folders of this machine.
func (d *clusterDeployment) environment(name string) ([]string, error) {
	service, ok := d.project.Services[name]
	if !ok {
		return nil, fmt.Errorf("docker-compose.yml has no service %s", name)
	}
	env := append(bench.CleanEnv(d.o.Folder), d.env...)
	env = append(env, "PATH="+filepath.Join(d.o.Root, "bin")+":"+os.Getenv("PATH"))
	for _, key := range slices.Sorted(maps.Keys(service.Env())) {
		env = append(env, key+"="+d.translate(service, service.Env()[key]))
	}
	return env, nil
}

func (d *clusterDeployment) translate(service deploytest.Service, value string) string {
	switch value {
	case "postgres", "0.0.0.0":
		return "127.0.0.1"
	case "5432":
		return d.dsn.Port()
	}
	for _, m := range service.Volumes {
		if rest, ok := strings.CutPrefix(value, m.Target); ok && m.Type == "bind" {
			return m.Source + rest
		}
	}
	return strings.NewReplacer("postgres:5432", d.dsn.Host, "temporal:7233", d.frontend).Replace(value)
}

// job runs a service that ends.
func (d *clusterDeployment) job(ctx context.Context, name string, more ...string) error {
	env, err := d.environment(name)
	if err != nil {
		return err
	}
	service := d.project.Services[name]
	argv := service.Argv()
	for i := range argv {
		argv[i] = d.translate(service, argv[i])
	}
	_, err = bench.Run(ctx, bench.Command{Path: argv[0], Args: argv[1:], Env: append(env, more...)})
	return err
}

func (d *clusterDeployment) close() (err error) {
	if d.temporal != nil {
		err = d.temporal.Stop()
	}
	if d.postgres != nil {
		err = errors.Join(err, d.postgres.Stop())
	}
	return err
}

// place makes a namespace.
func (d *clusterDeployment) place(ctx context.Context, namespace string) (*place, error) {
	if err := d.job(ctx, "temporal-namespace", "TEMPORAL_NAMESPACE="+namespace); err != nil {
		return nil, err
	}
	return &place{
		address: d.frontend, namespace: namespace,
		server:   func() (time.Duration, error) { return bench.CPU(d.temporal.PID()) },
		database: func() (time.Duration, error) { return bench.CPUBelow(os.Getpid(), "postgres") },
		syncs:    d.syncs,
	}, nil
}

func (d *clusterDeployment) bare(ctx context.Context, name string) (*place, error) {
	p, err := d.place(ctx, name)
	if err != nil {
		return nil, err
	}
	p.stop = func(ctx context.Context) error { return d.clear(ctx, name) }
	return p, nil
}

func (d *clusterDeployment) product(ctx context.Context, name string, counting bool) (*product, error) {
	at, err := d.place(ctx, name)
	if err != nil {
		return nil, err
	}
	dir, err := d.o.folder(name)
	if err != nil {
		return nil, err
	}
	database := "store_" + name
	if _, err := d.sql(ctx, "CREATE DATABASE "+database); err != nil {
		return nil, err
	}
	dsn := *d.dsn
	dsn.Path = "/" + database
	env := bench.CleanEnv(dir, "RECRAWL_STORE="+dsn.String(), "RECRAWL_ARCHIVE="+filepath.Join(dir, "archive"),
		"TEMPORAL_ADDRESS="+d.frontend, "TEMPORAL_NAMESPACE="+name)
	p := &product{place: at}
	p.starter = func(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
		return bench.Run(ctx, bench.Command{Path: filepath.Join(d.o.programs(counting), "starter"), Args: args, Env: env, Stdin: stdin})
	}
	command := bench.Command{Path: filepath.Join(d.o.programs(counting), "worker"), Env: env}
	if counting {
		p.counts = filepath.Join(dir, "counts")
		command.Env = append(slices.Clip(env), "RECRAWL_COUNTS="+p.counts)
	}
	if p.worker, err = bench.Start(command, nil); err != nil {
		return nil, err
	}
	p.stop = func(ctx context.Context) error {
		return errors.Join(p.worker.Stop(), d.clear(ctx, name), os.RemoveAll(dir))
	}
	if err := bench.Await(ctx, "the worker is ready", lookEvery, bench.Says(p.worker, "worker ready"), p.worker); err != nil {
		return nil, errors.Join(err, p.stop(ctx))
	}
	return p, nil
}

// syncs counts how many times Postgres syncs its log, for the store and for Temporal
// together.
func (d *clusterDeployment) syncs(ctx context.Context) (func(context.Context) (Syncs, error), error) {
	synced := func(ctx context.Context) (int, error) {
		out, err := d.sql(ctx, "SELECT wal_sync FROM pg_stat_wal")
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimSpace(out))
	}
	before, err := synced(ctx)
	return func(ctx context.Context) (Syncs, error) {
		after, err := synced(ctx)
		return Syncs{Shared: after - before}, err
	}, err
}

func (d *clusterDeployment) sql(ctx context.Context, statement string) (string, error) {
	return d.psql(ctx, d.dsn, "-c", statement)
}

func (d *clusterDeployment) psql(ctx context.Context, dsn *url.URL, more ...string) (string, error) {
	return bench.Run(ctx, bench.Command{
		Path: filepath.Join(d.postgres.Bin(), "psql"),
		Args: append([]string{"-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-d", dsn.String()}, more...), Env: os.Environ(),
	})
}

// clear ends all workflows of a namespace, so that their timers are not part of the next
// measurement.
func (d *clusterDeployment) clear(ctx context.Context, namespace string) error {
	c, err := dial(ctx, d.frontend, namespace, false)
	if err != nil {
		return err
	}
	defer c.Close()
	var ended sync.Map
	for {
		runs, err := runsOf(ctx, c, namespace, time.Now(), time.Now())
		if err != nil {
			return err
		}
		left := 0
		group, groupCtx := errgroup.WithContext(ctx)
		group.SetLimit(16)
		for _, run := range runs {
			// The list lags a little.
			if _, known := ended.LoadOrStore(run.GetExecution().GetRunId(), true); known {
				continue
			}
			left++
			group.Go(func() error {
				_ = c.TerminateWorkflow(groupCtx, run.GetExecution().GetWorkflowId(), run.GetExecution().GetRunId(), "measured")
				return groupCtx.Err() // a run that has ended by itself is no failure
			})
		}
		if err := group.Wait(); err != nil {
			return fmt.Errorf("end the workflows: %w", err)
		}
		if left == 0 {
			return nil
		}
	}
}
