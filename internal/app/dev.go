package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"

	"go.temporal.io/sdk/client"

	"recrawl/internal/archive"
	"recrawl/internal/cli"
	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/scope/program"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
	"recrawl/internal/temporalkit/embedded"
	"recrawl/internal/tracing"
)

// Ports of the embedded Temporal where they are free.
const (
	defaultTemporalPort = 7233
	defaultUIPort       = 8233
)

// Dev implements cli.Backend: everything on this machine on one data folder,
// until ctx ends: the Temporal server as a child process, the store, and a
// worker in this process.
func (Backend) Dev(ctx context.Context, o cli.DevOptions) (err error) {
	dir, err := openDataDir(o.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.close()) }()
	d := &devRun{
		DevOptions: o, dir: dir,
		log: o.Config.NewLog(o.Err, max(o.Config.Log, slog.LevelWarn)),
	}
	d.keepPrivate()
	defer reserveHeap()()
	defer outliveReaders()()
	ctx, out, end := endUnread(ctx, o.Out)
	defer end()
	d.Out = out
	return d.run(ctx)
}

// keepPrivate takes the data folder away from other users. Where that is impossible
// (it is another user's, or its file system knows no users) the operator decides.
func (d *devRun) keepPrivate() {
	if err := d.dir.keepPrivate(); err != nil {
		d.log.Warn("other users of this machine may be able to read the data folder", "error", err)
	}
}

// devRun is one run of everything.
type devRun struct {
	cli.DevOptions
	dir       *dataDir
	log       *slog.Logger
	stateMu   sync.Mutex // the Temporal server's supervisor writes it too
	state     config.DevState
	announced bool   // the addresses were printed
	cli       string // the Temporal CLI
	server    *embedded.Server
	ui        *embedded.Gate
	store     store.Store
	files     archive.Store
	client    client.Client
	// struggling collects workflows whose tasks fail again and again.
	struggling temporalkit.Struggling
	waits      temporalkit.Waits
	demo       *demo // nil without --demo
	home       store.Home
	watched    *watched        // nil without RECRAWL_METRICS
	tracer     *tracing.Tracer // nil without OpenTelemetry's variables
}

// run starts the parts in order, each ended in the reverse order: the worker
// first, so that nothing asks a part that is gone.
func (d *devRun) run(ctx context.Context) (err error) {
	watched, unwatch, err := beWatched(ctx, d.Config, d.log)
	if err != nil {
		return err
	}
	defer unwatch()
	tracer, untrace, err := beTraced(ctx, os.Getenv, d.log)
	if err != nil {
		return err
	}
	defer untrace()
	d.watched, d.tracer = watched, tracer
	programs, err := d.findParts(ctx)
	if err != nil {
		return notInterrupted(ctx, err)
	}
	defer programs.Close()
	if err := d.openStore(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.store.Close()) }()
	serverCtx, stopServer := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServer()
	ended, err := d.startTemporal(ctx, serverCtx)
	if ended != nil {
		defer func() { stopServer(); <-ended; err = errors.Join(err, d.ui.Close()); d.forgetProcesses() }()
	}
	if err != nil {
		return notInterrupted(ctx, err)
	}
	if err := d.dial(ctx); err != nil {
		return notInterrupted(ctx, err)
	}
	defer d.client.Close()
	if d.Demo {
		if d.demo, err = startDemo(ctx, d.dir); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.demo.site.Close()) }()
	}
	stopWorker, err := d.startWorker(ctx, programs)
	if err != nil {
		return err
	}
	defer stopWorker()
	stopWeb, err := d.startWeb(ctx)
	if err != nil {
		return err
	}
	defer stopWeb()
	if err := d.startCrawls(ctx); err != nil {
		return notInterrupted(ctx, err)
	}
	d.announce()
	running := ctx
	if d.For > 0 { // not counting the set-up, which may build Temporal
		var cancel context.CancelFunc
		running, cancel = context.WithTimeout(ctx, d.For)
		defer cancel()
	}
	d.watch(running)
	fmt.Fprintln(d.Out, "stopping when the requests under way have ended; start again on the same data folder to continue")
	if d.demo != nil && ctx.Err() == nil {
		return d.demo.summary(ctx, d.store, d.Out)
	}
	return nil
}

// notInterrupted drops an error that only means that we were told to end.
func notInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// findParts looks for what a run needs before it makes a store, and starts the filter
// programs: a mistake leaves no store behind, which would fix settings of the next try.
func (d *devRun) findParts(ctx context.Context) (programs *program.Set, err error) {
	if d.cli, err = embedded.FindCLI(ctx, d.Getenv, d.Out); err != nil {
		return nil, err
	}
	if _, err := os.Stat(d.dir.file(storeFile)); errors.Is(err, fs.ErrNotExist) {
		if err := d.findPorts(); err != nil {
			return nil, err
		}
	}
	return program.Start(d.Config.Filters, program.Options{Log: d.log})
}

// findPorts fails if a port that must be used is not free. A folder that was used before is
// not asked: what a killed run left there may have the port, and is ended first.
func (d *devRun) findPorts() error {
	for _, p := range []struct {
		port int
		what string
	}{{d.TemporalPort, "Temporal"}, {d.UIPort, "the Temporal UI"}, {d.WebPort, "the page for operators"}} {
		if p.port == 0 {
			continue
		}
		if _, err := embedded.ChoosePort(embedded.Port{Number: p.port, Must: true}, p.what); err != nil {
			return err
		}
	}
	return nil
}

func (d *devRun) openStore(ctx context.Context) (err error) {
	dsn := "sqlite:" + d.dir.file(storeFile)
	if d.store, err = openStoreLogging(ctx, dsn, storeOwn, d.Config.GroupHosts, d.log); err != nil {
		return err
	}
	if d.files, err = openOwnArchive(ctx, d.dir.file(archiveDir), d.store); err != nil {
		return errors.Join(err, d.store.Close())
	}
	old, err := d.dir.readState()
	if err != nil {
		d.log.Warn("the state file is unreadable and is written again", "error", err)
	}
	if old.MovedFrom != "" {
		d.log.Warn("this data folder was copied or moved: if the original is in use, too, both ask the same sites", "original", old.MovedFrom)
	}
	d.state = config.DevState{
		PID: os.Getpid(), Store: dsn, Archive: d.dir.file(archiveDir), TemporalNamespace: client.DefaultNamespace,
		TemporalAddress: old.TemporalAddress, TemporalPID: old.TemporalPID, Web: old.Web,
	}
	return nil
}

func (d *devRun) startTemporal(ctx, serverCtx context.Context) (<-chan struct{}, error) {
	files := embedded.In(d.dir.path)
	embedded.EndLeftOver(d.state.TemporalPID, files.Database, d.log)
	d.server = &embedded.Server{
		CLI: d.cli, Files: files, Log: d.log, OnStart: d.rememberChild, OnUp: d.keepPrivate, Alive: temporalkit.Alive,
		Port: embedded.Port{Number: portOr(d.TemporalPort, rememberedPort(d.state.TemporalAddress), defaultTemporalPort), Must: d.TemporalPort != 0},
	}
	var err error
	if d.ui, err = embedded.OpenGate(embedded.Port{Number: portOr(d.UIPort, defaultUIPort), Must: d.UIPort != 0}, d.server.DialUI); err != nil {
		return nil, err
	}
	return d.server.Start(ctx, serverCtx)
}

// rememberChild writes at once where each new child is: the commands of this
// data folder find it there, and so does the next owner if we are killed.
func (d *devRun) rememberChild(c embedded.Child) {
	d.stateMu.Lock()
	defer d.stateMu.Unlock()
	if d.announced && c.Address() != d.state.TemporalAddress {
		d.log.Warn("another program has taken the Temporal server's port", "temporal", c.Address())
	}
	d.state.TemporalPID, d.state.TemporalAddress, d.state.TemporalUI = c.PID, c.Address(), d.ui.Address()
	d.writeState()
}

func (d *devRun) forgetProcesses() {
	d.stateMu.Lock()
	defer d.stateMu.Unlock()
	d.state.PID, d.state.TemporalPID = 0, 0
	d.writeState()
}

func (d *devRun) writeState() {
	if err := d.dir.writeState(d.state); err != nil {
		d.log.Warn("the state file cannot be written", "error", err)
	}
}

func (d *devRun) dial(ctx context.Context) (err error) {
	d.client, err = temporalkit.Dial(ctx, temporalkit.Options{
		Dial: d.server.Dial, Namespace: client.DefaultNamespace, Logger: sdkLogger(d.log), Keys: d.Config.Keys,
		Struggling: &d.struggling, Waits: &d.waits, Meter: d.watched.meter(),
		Patience: embedded.StartLimit, // it has only just begun to listen
	})
	if err != nil {
		return err
	}
	if err := temporalkit.EnsureSearchAttributes(ctx, d.client, client.DefaultNamespace); err != nil {
		return err
	}
	return d.adopt(ctx)
}

// adopt makes the Temporal of the data folder the home of its store, whatever either was
// before: the folder is a unit. The workflows of an earlier store end.
func (d *devRun) adopt(ctx context.Context) error {
	r := resident{client: d.client, store: d.store, namespace: client.DefaultNamespace, queue: d.Config.TaskQueue}
	place, home, err := r.place(ctx)
	if err != nil {
		return err
	}
	if home.NamespaceID == place.NamespaceID && home.TaskQueue != place.TaskQueue {
		return fmt.Errorf("the workflows of this data folder are on the task queue %s, and not on %s: unset %s", home.TaskQueue, place.TaskQueue, config.EnvTaskQueue)
	}
	if q, err := r.ask(ctx, place, home); err == nil && q.UnreadableKnown() != nil {
		return q.UnreadableKnown()
	}
	if d.home, err = d.store.SetHome(ctx, place, true); err != nil {
		return err
	}
	d.stateMu.Lock()
	defer d.stateMu.Unlock()
	d.state.TaskQueue = d.home.TaskQueue
	d.writeState()
	return nil
}

func (d *devRun) startWorker(ctx context.Context, programs *program.Set) (stop func(), err error) {
	p := parts{
		client: d.client, store: d.store, dsn: d.state.Store, files: d.files, programs: programs,
		keeper:     newKeeper(d.state.Store, d.state.Archive, d.Config),
		struggling: &d.struggling, waits: &d.waits, watch: d.watched, tracer: d.tracer,
		home: d.home, ended: func(string) bool { return true },
	}
	cfg := d.Config
	cfg.Deployment = "" // nobody would make this build its current one
	end, err := startWorker(ctx, p, cfg, temporalkit.StickyEmbedded, d.log)
	if err != nil {
		return nil, err
	}
	rest := d.watched.working(p, cfg, d.state.Store, d.state.Archive)
	return func() { rest(); end() }, nil
}

// crawlStarter starts the workflows of crawls.
type crawlStarter interface {
	Running(ctx context.Context, name string) (bool, error)
	StartCrawl(context.Context, crawl.Spec) error
}

// restart starts the workflows of known crawls. Where Temporal is slow, as it may be while
// it starts, that is left to maintenance, which starts what is missing.
func (d *devRun) restart(ctx context.Context, flows crawlStarter, known []store.CrawlRecord) error {
	for _, rec := range known {
		if rec.State == crawl.CrawlStopped {
			continue
		}
		// A running one need not be waited for: after a stop, pages that are due may come
		// before it.
		if runs, err := flows.Running(ctx, rec.Spec.Name); err == nil && runs {
			continue
		}
		err := flows.StartCrawl(ctx, rec.Spec)
		switch {
		case err == nil, errors.Is(err, cli.ErrOvertaken):
		case ctx.Err() == nil && errors.Is(err, temporalkit.ErrNotTaken):
			// After a crash Temporal waits for the dead worker; ours comes next.
			d.log.Warn("the crawl goes on when Temporal gives it to this process", "crawl", rec.Spec.Name)
		case ctx.Err() == nil && temporalkit.IsBusy(err):
			d.log.Warn("Temporal is too slow to start the crawl; maintenance starts it, if it is not running", "crawl", rec.Spec.Name, "error", err)
		default:
			return err
		}
	}
	return nil
}

// startCrawls starts the workflows of the crawls in the store, in case Temporal has
// lost them, and then carries out the request.
func (d *devRun) startCrawls(ctx context.Context) error {
	known, err := d.store.ListCrawls(ctx)
	if err != nil {
		return err
	}
	flows := flowClient{flows: temporalkit.Workflows{Client: d.client, Namespace: client.DefaultNamespace, TaskQueue: d.home.TaskQueue, Store: d.store.ID()}}
	if err := d.restart(ctx, flows, known); err != nil {
		return err
	}
	if d.Ready == nil {
		return nil
	}
	var seeds []string
	if d.demo != nil {
		seeds = d.demo.site.Seeds()
	}
	return d.Ready(ctx, d.store, flows, seeds)
}
