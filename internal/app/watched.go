package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"recrawl/activities"
	"recrawl/internal/archive"
	"recrawl/internal/config"
	"recrawl/internal/monitor"
	"recrawl/internal/report"
	"recrawl/internal/room"
	"recrawl/internal/temporalkit"
	"recrawl/internal/tracing"
)

// watched reports on a worker to those who watch it. Nil is a worker that nobody watches,
// which measures nothing.
type watched struct{ server *monitor.Server }

// beWatched listens at the address in RECRAWL_METRICS, if there is one, until stop is
// called.
func beWatched(ctx context.Context, cfg config.Config, log *slog.Logger) (w *watched, stop func(), err error) {
	if cfg.Metrics == "" {
		return nil, func() {}, nil
	}
	server, err := monitor.Listen(ctx, cfg.Metrics, config.VersionText())
	if err != nil {
		return nil, nil, err
	}
	return &watched{server}, server.Start(log), nil
}

// beTraced sends traces, if OpenTelemetry's variables ask for them, until stop is called.
func beTraced(ctx context.Context, getenv func(string) string, log *slog.Logger) (t *tracing.Tracer, stop func(), err error) {
	t, err = tracing.Start(ctx, getenv, config.VersionText(), log)
	return t, func() {
		if err := t.End(); err != nil {
			log.Warn("the last traces were not sent", "error", err)
		}
	}, err
}

// address is where to ask, "" if nobody listens.
func (w *watched) address() string {
	if w == nil {
		return ""
	}
	return w.server.Address()
}

// meter takes the SDK's measurements.
func (w *watched) meter() temporalkit.Meter {
	if w == nil {
		return nil
	}
	return w.server.Metrics.Engine()
}

// not says why the worker does not work.
func (w *watched) not(why string) {
	if w != nil {
		w.server.Readiness.Not(why)
	}
}

// archive is an archive with a meter around it.
func (w *watched) archive(a archive.Store) archive.Store {
	if w == nil {
		return a
	}
	return w.server.Metrics.Archive(a)
}

// stores are the parts of a store with meters around them.
func (w *watched) stores(s activities.Stores) activities.Stores {
	if w == nil {
		return s
	}
	return w.server.Metrics.Stores(s)
}

// fetcher is a fetcher with a meter around it.
func (w *watched) fetcher(f activities.Fetcher) activities.Fetcher {
	if w == nil {
		return f
	}
	return w.server.Metrics.Fetcher(f)
}

// denied counts visits that robots.txt forbids.
func (w *watched) denied() func() {
	if w == nil {
		return nil
	}
	return w.server.Metrics.RobotsDenied
}

// maintained records how long steps of maintenance take.
func (w *watched) maintained() func(step string, took time.Duration) {
	if w == nil {
		return nil
	}
	return w.server.Metrics.Maintained
}

// working reports that the worker works, with these parts, until rest is called.
func (w *watched) working(p parts, cfg config.Config, storeURL, archiveURL string) (rest func()) {
	if w == nil {
		return func() {}
	}
	w.server.Metrics.Watch(monitor.Sources{
		Crawls: report.Reporter{Store: p.store, Deliveries: p.store}.StatusOfAll,
		Disks:  disksOf(storeURL, archiveURL),
		Held: func() bool {
			_, short := p.keeper.Trouble()
			return short
		},
		Reserve: int64(cfg.Reserve),
	})
	w.server.Readiness.Working(
		temporalPart(func(context.Context) (client.Client, error) { return p.client, nil }), storePart(p.store), archivePart(p.files),
	)
	return func() {
		w.not("it is stopping")
		w.server.Metrics.Watch(monitor.Sources{})
	}
}

// temporalPart asks a Temporal server whether it is healthy.
func temporalPart(dial func(context.Context) (client.Client, error)) monitor.Part {
	return monitor.Part{Name: "temporal", Ask: func(ctx context.Context) error {
		c, err := dial(ctx)
		if err != nil {
			return err
		}
		_, err = c.CheckHealth(ctx, &client.CheckHealthRequest{})
		return err
	}}
}

// storePart asks a store for its time.
func storePart(s interface {
	Now(ctx context.Context) (time.Time, error)
},
) monitor.Part {
	return monitor.Part{Name: "store", Ask: func(ctx context.Context) error {
		_, err := s.Now(ctx)
		return err
	}}
}

// archivePart asks an archive for the first of its contents; there may be none.
func archivePart(a archive.Store) monitor.Part {
	return monitor.Part{Name: "archive", Ask: func(ctx context.Context) error {
		for _, err := range a.List(ctx, "") {
			return err
		}
		return nil
	}}
}

// disksOf returns the disks of this machine that hold the store and the archive.
func disksOf(storeURL, archiveURL string) []monitor.Disk {
	var disks []monitor.Disk
	for _, d := range []struct{ of, store, archive string }{{"store", storeURL, ""}, {"archive", "", archiveURL}} {
		for _, folder := range config.LocalFolders(d.store, d.archive) {
			disks = append(disks, monitor.Disk{Of: d.of, Bytes: func() (int64, error) {
				space, err := room.Measure(folder)
				return space.Bytes, err
			}})
		}
	}
	return disks
}

// idle is a note of why a worker takes up nothing, which those who watch it get too.
func (w *watched) idle(note func(ctx context.Context, held string)) func(ctx context.Context, held string) {
	return func(ctx context.Context, held string) {
		w.not("it takes up nothing: " + strings.Join(strings.Fields(held), " "))
		note(ctx, held)
	}
}

// askReady is the command `worker ready`, for health checks: 0 if the worker of the same
// environment works, 1 if not, 2 if the question was wrong.
func askReady(ctx context.Context, args []string, getenv func(string) string, stderr io.Writer) int {
	if len(args) != 1 || args[0] != "ready" {
		return complain(stderr, fmt.Errorf("%q is not a command: write `worker`, which works, or `worker ready`, which asks it whether it does", strings.Join(args, " ")), 2)
	}
	cfg, err := config.Load(getenv)
	if err == nil && cfg.Metrics == "" {
		err = fmt.Errorf("set %s to where the worker listens", config.EnvMetrics)
	}
	if err != nil {
		return complain(stderr, err, 2)
	}
	if err := monitor.Ready(ctx, "the worker", cfg.Metrics); err != nil {
		return complain(stderr, err, 1)
	}
	return 0
}
