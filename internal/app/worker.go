package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"go.temporal.io/sdk/client"

	"recrawl/internal/config"
	"recrawl/internal/scope/program"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// RunWorker runs a worker until ctx ends and returns the exit code. All
// settings are RECRAWL_* and TEMPORAL_* variables. With the one argument "ready" it asks the
// worker that listens at RECRAWL_METRICS whether it works.
func RunWorker(ctx context.Context, args []string, getenv func(string) string, stderr io.Writer) int {
	if len(args) > 0 {
		return askReady(ctx, args, getenv, stderr)
	}
	defer outliveReaders()()
	cfg, err := workerConfig(getenv)
	for _, wrong := range config.Misspelt(os.Environ()) {
		cfg.NewLog(stderr, cfg.Log).Warn("a variable is not read: is its name misspelt?", "variable", wrong.Given, "meant", wrong.Meant)
	}
	code := 2 // a setting is wrong; nothing was done
	if err == nil {
		err, code = runWorker(ctx, cfg, stderr), 1
	}
	if err == nil {
		return 0
	}
	if cfg.LogJSON { // the last line, too, is for readers of the others
		cfg.NewLog(stderr, cfg.Log).Error("the worker ends", "error", err)
		return code
	}
	return complain(stderr, err, code)
}

// complain writes an error line by line.
func complain(stderr io.Writer, err error, code int) int {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintln(stderr, "worker:", line)
	}
	return code
}

// workerConfig loads the settings that a worker needs.
func workerConfig(getenv func(string) string) (config.Config, error) {
	cfg, err := config.Load(getenv)
	if err != nil {
		return cfg, err
	}
	if cfg.Store == "" || cfg.Archive == "" {
		return cfg, fmt.Errorf("set %s (postgres://… or sqlite:PATH) and %s (a folder that all workers share, or s3://BUCKET/PREFIX)", config.EnvStore, config.EnvArchive)
	}
	return cfg, nil
}

func runWorker(ctx context.Context, cfg config.Config, stderr io.Writer) error {
	defer reserveHeap()()
	log := cfg.NewLog(stderr, cfg.Log)
	watch, unwatch, err := beWatched(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer unwatch()
	tracer, untrace, err := beTraced(ctx, os.Getenv, log)
	if err != nil {
		return err
	}
	defer untrace()
	struggling, waits := &temporalkit.Struggling{}, &temporalkit.Waits{}
	watch.not("it waits for Temporal")
	// First the steps that write nothing.
	c, err := reach(ctx, log, "Temporal", func(ctx context.Context) (client.Client, error) {
		return temporalkit.Dial(ctx, temporalkit.Options{Logger: sdkLogger(log), Keys: cfg.Keys, Struggling: struggling, Waits: waits, Meter: watch.meter()})
	}, temporalkit.IsAbsent)
	if err != nil {
		return notInterrupted(ctx, err)
	}
	defer c.Close()
	watch.not("it waits for the store")
	s, err := reach(ctx, log, "the store", func(ctx context.Context) (store.Store, error) {
		return openStoreLogging(ctx, cfg.Store, storeOwn, cfg.GroupHosts, log)
	}, absentStore(cfg.Store))
	if err != nil {
		return notInterrupted(ctx, err)
	}
	defer s.Close()
	a, err := openOwnArchive(ctx, cfg.Archive, s)
	if err != nil {
		return err
	}
	r := resident{client: c, store: s, namespace: temporalkit.Namespace(temporalkit.Options{}), queue: cfg.TaskQueue}
	if err := temporalkit.EnsureSearchAttributes(ctx, c, r.namespace); err != nil {
		return notInterrupted(ctx, err)
	}
	programs, err := program.Start(cfg.Filters, program.Options{Log: log})
	if err != nil {
		return err
	}
	defer programs.Close()
	p := parts{client: c, store: s, dsn: cfg.Store, files: a, keeper: newKeeper(cfg.Store, cfg.Archive, cfg), programs: programs, struggling: struggling, waits: waits, watch: watch, tracer: tracer}
	idle := &idleNote{store: s, log: log}
	err = r.keepWorking(ctx, func(ctx context.Context, home store.Home, strange func(string)) error {
		p.home, p.ended, p.strange = home, home.HasEnded, strange
		return workUntilDone(ctx, p, cfg, log)
	}, watch.idle(idle.note), log)
	idle.remove()
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// workUntilDone runs a worker until ctx ends, or until the worker has given up: whoever called
// looks then whether there is anything to poll, and starts another.
func workUntilDone(ctx context.Context, p parts, cfg config.Config, log *slog.Logger) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	p.gaveUp = func(err error) {
		log.Error("Temporal refuses this worker's polls", "error", err)
		end()
	}
	stop, err := startWorker(ctx, p, cfg, temporalkit.StickyFleet, log)
	if err != nil {
		return notInterrupted(ctx, err)
	}
	if d := deployment(cfg); d.Name != "" {
		log.Info("this worker gets tasks when its build is the deployment's current one", "deployment", d.Name, "build", d.Build)
	}
	defer p.watch.working(p, cfg, cfg.Store, cfg.Archive)()
	log.Info("worker ready", "namespace", p.home.Namespace, "task queue", p.home.TaskQueue, "concurrency", cfg.Concurrency)
	<-ctx.Done()
	log.Info("stopping: requests under way may end", "at most", cfg.Worker.StopTimeout)
	stop()
	return nil
}

// absentStore reports whether an error of the store means that the database is not
// there yet, as while it starts or recovers. The file of an embedded one is there or
// is another's.
func absentStore(dsn string) func(error) bool {
	embedded := strings.HasPrefix(dsn, "sqlite:")
	return func(err error) bool {
		return !embedded && errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrDenied)
	}
}

// idleNote records in the store why a worker takes up nothing.
type idleNote struct {
	store store.Workers
	log   *slog.Logger
	noted bool
}

func (n *idleNote) note(ctx context.Context, held string) {
	ctx, cancel := context.WithTimeout(ctx, noteLimit)
	defer cancel()
	if err := n.store.NoteWorker(ctx, workerName(), held); err != nil {
		n.log.Debug("the worker's state was not noted", "error", err)
		return
	}
	n.noted = true
}

// remove removes the note when the worker ends.
func (n *idleNote) remove() {
	if !n.noted {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), noteLimit)
	defer cancel()
	if err := n.store.RemoveWorker(ctx, workerName()); err != nil {
		n.log.Debug("the worker's note was not removed", "error", err)
	}
}

// sdkLogger limits the SDK's own messages, and those of workflows, to those that an operator can act
// on, and, unless all is to be logged, to some of each kind in a minute.
func sdkLogger(log *slog.Logger) *slog.Logger {
	handler := log.Handler()
	if !handler.Enabled(context.Background(), slog.LevelDebug) {
		handler = newSeldom(handler)
	}
	return slog.New(levelHandler{handler, slog.LevelWarn})
}

// levelHandler raises the least level of a handler.
type levelHandler struct {
	slog.Handler
	least slog.Level
}

func (h levelHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.least && h.Handler.Enabled(ctx, l)
}

func (h levelHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return levelHandler{h.Handler.WithAttrs(attrs), h.least}
}

func (h levelHandler) WithGroup(name string) slog.Handler {
	return levelHandler{h.Handler.WithGroup(name), h.least}
}
