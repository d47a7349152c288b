package app

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/activities"
	"recrawl/internal/archive"
	"recrawl/internal/config"
)

// The output of `worker ready` before there is a worker, and for one that is starting.
func TestAskReady(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Metrics = "127.0.0.1:0"
	w, stop, err := beWatched(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	w.not("it waits for the store")
	for _, c := range []struct {
		args    []string
		metrics string
		code    int
		want    string
	}{
		{[]string{"ready"}, "", 2, "worker: set RECRAWL_METRICS to where the worker listens\n"},
		{[]string{"ready"}, "9090", 2, "worker: RECRAWL_METRICS: \"9090\" is not an address to listen on"},
		{[]string{"ready"}, w.address(), 1, "worker: not ready; worker: it waits for the store\n"},
		{[]string{"reday", "now"}, "", 2, "worker: \"reday now\" is not a command: write `worker`"},
	} {
		var out bytes.Buffer
		getenv := func(name string) string {
			if name == config.EnvMetrics {
				return c.metrics
			}
			return ""
		}
		if code := RunWorker(t.Context(), c.args, getenv, &out); code != c.code || !strings.HasPrefix(out.String(), c.want) || strings.Count(out.String(), "\n") != 1 {
			t.Errorf("worker %v with %q: %d %s, want %d %s", c.args, c.metrics, code, out.String(), c.code, c.want)
		}
	}
}

// An archive whose disk is not mounted is not there, and one with nothing in it is.
func TestReachable(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "archive")
	a, err := archive.OpenDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := archivePart(a).Ask(t.Context()); err != nil {
		t.Errorf("an empty archive: %v", err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := archivePart(a).Ask(t.Context()); err == nil {
		t.Error("an archive that is gone is there")
	}
}

// A worker that is not watched measures nothing, and no code asks whether it is.
func TestNotWatched(t *testing.T) {
	t.Parallel()
	w, stop, err := beWatched(t.Context(), config.Default(), slog.New(slog.DiscardHandler))
	if w != nil || err != nil || w.meter() != nil || w.denied() != nil || w.address() != "" {
		t.Errorf("without RECRAWL_METRICS: %v %v", w, err)
	}
	if w.archive(nil) != nil || w.fetcher(nil) != nil || w.stores(activities.Stores{}) != (activities.Stores{}) {
		t.Error("parts are measured for nobody")
	}
	said := ""
	w.idle(func(_ context.Context, held string) { said = held })(t.Context(), "another store")
	if said != "another store" {
		t.Errorf("the note is %q", said)
	}
	w.working(parts{}, config.Default(), "", "")()
	stop()
}
