package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"recrawl/activities"
	"recrawl/internal/admission"
	"recrawl/internal/archive"
	"recrawl/internal/archive/s3"
	"recrawl/internal/backup"
	"recrawl/internal/care"
	"recrawl/internal/cli"
	"recrawl/internal/config"
	"recrawl/internal/feed/reader"
	"recrawl/internal/fetch"
	"recrawl/internal/room"
	"recrawl/internal/scope/program"
	"recrawl/internal/store"
	"recrawl/internal/store/postgres"
	"recrawl/internal/store/sqlite"
	"recrawl/internal/temporalkit"
	"recrawl/internal/tracing"
	"recrawl/internal/urlkey"
	"recrawl/workflows"
)

// storeUse is the purpose for which a store is opened.
type storeUse int

const (
	storeRead  storeUse = iota
	storeWrite          // beside its owner: one command of a person
	storeAdopt          // storeWrite to a store that may have been restored, and no worker has yet: it may be of an older release
	storeOwn            // the one process that makes requests from an embedded store
)

// openStore opens a store by its DSN: sqlite:PATH or postgres://…. The grouping
// of hosts is that of a new store; "" keeps an existing one's.
func openStore(ctx context.Context, dsn string, use storeUse, grouping urlkey.Grouping) (store.Store, error) {
	return openStoreLogging(ctx, dsn, use, grouping, nil)
}

// openStoreLogging is openStore for a program that runs on.
func openStoreLogging(ctx context.Context, dsn string, use storeUse, grouping urlkey.Grouping, log *slog.Logger) (store.Store, error) {
	if err := config.CheckStore(dsn); err != nil {
		return nil, err
	}
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		if err := storeThere(path); err != nil && use != storeOwn {
			return nil, err
		}
		s, err := sqlite.Open(ctx, path, sqlite.Options{Owner: use == storeOwn, ReadOnly: use == storeRead, Yields: use == storeWrite, Grouping: grouping, Log: log})
		return s, orFull(err, dsn, room.Measure)
	}
	s, err := postgres.Open(ctx, dsn, postgres.Options{Upgrade: use == storeOwn || use == storeAdopt, ReadOnly: use == storeRead, Grouping: grouping, Log: log})
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("%w in this database: name the right one with --store or %s; a worker makes it", cli.ErrNoStoreThere, config.EnvStore)
	}
	return s, err
}

// storeThere fails if an embedded store's file is missing: a command must not make one where
// somebody has mistyped a path.
func storeThere(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w at %s: name the right one with --store or %s; a worker makes it", cli.ErrNoStoreThere, path, config.EnvStore)
	}
	return nil
}

// orFull says that the disk is full where SQLite only knows that it failed, as when it cannot
// make the file beside the store's that its processes share.
func orFull(err error, dsn string, measure func(string) (room.Space, error)) error {
	if !sqlite.DiskFails(err) {
		return err
	}
	if short := room.Short(config.LocalFolders(dsn, ""), room.Least, measure); short != "" {
		return fmt.Errorf("the disk is full (%s): %w", strings.TrimPrefix(short, "no room: "), err)
	}
	return err
}

// openArchive opens an archive: a folder, as dir:PATH or PATH, or a bucket, whose
// credentials come from the environment of the process, as Temporal's do. Only the
// owner of the store creates a missing folder: for others the name is probably a
// typing error.
func openArchive(ctx context.Context, url string, use storeUse) (archive.Store, error) {
	if strings.HasPrefix(url, s3.Scheme) {
		return s3.Open(ctx, url, os.Getenv)
	}
	if scheme, _, ok := strings.Cut(url, "://"); ok {
		return nil, fmt.Errorf("archive %s://: an archive is a folder, write its path, or a bucket, write s3://BUCKET/PREFIX", scheme)
	}
	path := archiveFolder(url)
	if use != storeOwn && isEmpty(path) {
		return nil, fmt.Errorf("there is no archive at %s: name the one that belongs to the store with --archive or %s", path, config.EnvArchive)
	}
	return archive.OpenDir(path)
}

// isEmpty reports whether a folder is missing or has nothing in it, not even what
// archive.OpenDir makes.
func isEmpty(folder string) bool {
	entries, err := os.ReadDir(folder)
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0
}

// openOwnArchive opens the archive of a store for the store's owner. If the store has
// contents, it does not make a folder that is not there: its disk may not be mounted, and
// what is written below the mount point is out of sight later. Nor does it take an empty
// place in a bucket: its name is probably a typing error.
func openOwnArchive(ctx context.Context, url string, contents backup.Contents) (archive.Store, error) {
	folder := archiveFolder(url)
	if files, was := archive.ExistingDir(folder); folder != "" && !was {
		holds, err := belongs(ctx, files, contents)
		if err != nil {
			return nil, err
		}
		if !holds {
			return nil, fmt.Errorf("the archive %s holds nothing of this store's contents: is its disk mounted? If they are lost, make it anew: mkdir -p %s",
				folder, filepath.Join(folder, "tmp"))
		}
	}
	files, err := openArchive(ctx, url, storeOwn)
	if bucket, ok := files.(*s3.Store); ok && err == nil {
		err = inUse(ctx, bucket, contents)
	}
	return files, err
}

// inUse fails if a store has contents and nothing at all is at its archive's place in a bucket.
func inUse(ctx context.Context, bucket *s3.Store, contents backup.Contents) error {
	if holds, err := belongs(ctx, bucket, contents); err != nil || holds {
		return err
	}
	if empty, err := bucket.Empty(ctx); err != nil || !empty {
		return err
	}
	return fmt.Errorf("the archive %s is empty, and this store has contents: are its bucket and prefix right? If they are lost, put any object there", bucket)
}

// samples is how many contents tell whether an archive belongs to a store. A few may be gone.
const samples = 10

// belongs reports whether a store has no contents, or an archive one of the first of them.
func belongs(ctx context.Context, files archive.Store, contents backup.Contents) (bool, error) {
	first, err := contents.ListContents(ctx, "", samples)
	if err != nil || len(first) == 0 {
		return true, err
	}
	for _, digest := range first {
		if has, err := files.Has(ctx, digest); err != nil || has {
			return has, err
		}
	}
	return false, nil
}

// archiveFolder is the folder of an archive, "" if it is in none.
func archiveFolder(url string) string {
	if strings.Contains(url, "://") {
		return ""
	}
	return strings.TrimPrefix(url, "dir:")
}

// parts are the parts of a worker.
type parts struct {
	client   client.Client
	store    store.Store
	dsn      string // the store's
	files    archive.Store
	keeper   *room.Keeper
	programs *program.Set
	// home is the place of the workflows. ended reports whether another store no
	// longer exists; strange, unless nil, is called when something belongs to another
	// store.
	home    store.Home
	ended   func(store string) bool
	strange func(store string)
	// gaveUp, unless nil, is called when the worker has stopped by itself, for good.
	gaveUp func(error)
	// struggling, unless nil, collects workflows whose tasks fail again and again.
	struggling *temporalkit.Struggling
	// watch reports to those who watch the worker, nil if nobody does.
	watch *watched
	// tracer makes spans, nil if the operator wants none.
	tracer *tracing.Tracer
	// waits, unless nil, knows how long tasks wait for a worker.
	waits *temporalkit.Waits
}

// engine is the worker's view of the engine.
func (p parts) engine() admission.Engine {
	if p.waits == nil {
		return admission.Engine{}
	}
	return admission.Engine{Wait: p.waits.Recent()}
}

// workflows starts and signals the workflows of the store.
func (p parts) workflows() temporalkit.Workflows {
	return temporalkit.Workflows{
		Client: p.client, Namespace: p.home.Namespace, TaskQueue: p.home.TaskQueue, Store: p.store.ID(), Code: workflows.Register,
	}
}

// care looks after the crawls of the store while the worker runs.
func (p parts) care(log *slog.Logger) *care.Care {
	return care.New(care.Parts{
		Store: p.store, Flows: p.workflows(), Struggling: p.struggling,
		OpenIndex: searchIndex{p.dsn, p.store.ID()}.openFor, Sweep: sweeper(p.store, p.files), Log: log,
	})
}

// deployment is the Worker Deployment of the settings, with this program as its build
// unless they name another.
func deployment(cfg config.Config) temporalkit.Deployment {
	name, build, _ := strings.Cut(cfg.Deployment, ":")
	return temporalkit.Deployment{Name: name, Build: cmp.Or(build, config.VersionText())}
}

func workerOptions(queue string, cfg config.Config, sticky time.Duration) temporalkit.WorkerOptions {
	return temporalkit.WorkerOptions{
		TaskQueue: queue, Activities: cfg.Concurrency, WorkflowTasks: cfg.Worker.WorkflowTasks, LocalActivities: cfg.Worker.LocalActivities,
		WorkflowPollers: temporalkit.Pollers(cfg.Worker.WorkflowPollers), ActivityPollers: temporalkit.Pollers(cfg.Worker.ActivityPollers),
		Sticky: sticky, StopTimeout: cfg.Worker.StopTimeout, Deployment: deployment(cfg),
	}
}

// startWorker starts a worker and returns the function that ends it.
func startWorker(ctx context.Context, p parts, cfg config.Config, sticky time.Duration, log *slog.Logger) (stop func(), err error) {
	temporalkit.CacheWorkflows(cfg.Worker.WorkflowCache)
	temporalkit.NameBuild(config.VersionText())
	takes := &refusals{Store: p.watch.archive(damageLog{p.files, log})}
	p.files = takes
	options := workerOptions(p.home.TaskQueue, cfg, sticky)
	options.GaveUp = p.gaveUp
	if p.tracer != nil {
		options.Tracer = p.tracer
	}
	w := temporalkit.NewWorker(p.client, options)
	workflows.Register(w)
	flows := p.workflows()
	settings := activities.Settings{Version: config.Release, Contact: cfg.Contact, Overdue: cfg.Overdue, Running: flows.RunningPages, Filters: p.programs, Room: p.keeper, Engine: p.engine, Ended: p.ended, AtOnce: true, Foreign: p.strange, Denied: p.watch.denied(), Maintained: p.watch.maintained(), Senders: newSenders(cfg, p, log), Events: sinkEvents{reader.New(p.store, p.files)}}
	acts := activities.New(p.watch.stores(storesOf(p.store)), p.files, p.tracer.Fetcher(p.watch.fetcher(fetch.New(fetch.Options{}))), flows, settings, log)
	acts.Register(w)
	watch := &roomWatch{keeper: p.keeper, refused: takes.trouble, store: p.store, name: workerName(), wake: acts.WakeForRoom, log: log}
	unwatch := watch.start(ctx)
	unkeep := owned(ctx, acts.KeepTurns)
	if err := w.Start(); err != nil {
		unkeep()
		unwatch()
		return nil, fmt.Errorf("start the worker: %w", err)
	}
	uncare := p.care(log).Start(ctx)
	return func() { uncare(); w.Stop(); acts.Close(); unkeep(); unwatch() }, nil
}

// storesOf returns the parts of a store that activities need.
func storesOf(s store.Store) activities.Stores {
	return activities.Stores{
		Crawls: s, Gate: s, Pages: s, Frontier: s, Contents: s,
		Allocation: s, Duplicates: s, Feed: s, Hints: s, Ranks: s, Replacement: s, Scope: s, Traps: s, Sinks: s,
	}
}
