package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"recrawl/internal/config"
	"recrawl/internal/filters"
	"recrawl/internal/temporalkit"
)

// RunWorker runs a worker until ctx ends and returns the exit code. All
// settings are RECRAWL_* and TEMPORAL_* variables.
func RunWorker(ctx context.Context, getenv func(string) string, stderr io.Writer) int {
	cfg, err := workerConfig(getenv)
	code := 2 // a setting is wrong; nothing was done
	if err == nil {
		err, code = runWorker(ctx, cfg, stderr), 1
	}
	if err == nil {
		return 0
	}
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
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: cfg.Log}))
	// First what writes nothing.
	c, err := temporalkit.Dial(ctx, temporalkit.Options{Logger: sdkLogger(log)})
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := openStore(ctx, cfg.Store, storeOwn, cfg.GroupHosts)
	if err != nil {
		return err
	}
	defer s.Close()
	a, err := openArchive(ctx, cfg.Archive, storeOwn)
	if err != nil {
		return err
	}
	namespace := temporalkit.Namespace(temporalkit.Options{})
	if err := temporalkit.EnsureSearchAttributes(ctx, c, namespace); err != nil {
		return err
	}
	programs, err := filters.Start(cfg.Filters, filters.Options{Log: log})
	if err != nil {
		return err
	}
	defer programs.Close()
	p := parts{client: c, store: s, files: a, keeper: newKeeper(cfg.Store, cfg.Archive, cfg), programs: programs}
	stop, err := startWorker(ctx, p, cfg, temporalkit.StickyFleet, log)
	if err != nil {
		return err
	}
	if d := deployment(cfg); d.Name != "" {
		log.Info("this worker gets tasks when its build is the deployment's current one", "deployment", d.Name, "build", d.Build)
	}
	log.Info("worker ready", "namespace", namespace, "concurrency", cfg.Concurrency)
	<-ctx.Done()
	stop()
	if err := s.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// sdkLogger keeps the SDK's own chatter to what an operator can act on.
func sdkLogger(log *slog.Logger) *slog.Logger {
	return slog.New(levelHandler{log.Handler(), slog.LevelWarn})
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
