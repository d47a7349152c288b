package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/serviceerror"

	"recrawl/internal/cli"
	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
	"recrawl/internal/temporalkit"
)

// TestStartWaitsForNoCrawlThatRuns: after a stop, a crawl's workflow answers only after
// the tasks that were due before it. The start does not ask it, and so has nothing to warn
// of.
func TestStartWaitsForNoCrawlThatRuns(t *testing.T) {
	t.Parallel()
	c := contracttest.DevServer(t) // no worker is there to answer
	s := crawltest.Store(t)
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = "news", []string{"http://127.0.0.1:2/"}
	if _, err := s.OpenCrawl(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	flows := temporalkit.Workflows{Client: c, Store: s.ID()}
	if err := flows.RestartCrawl(t.Context(), text, contract.CrawlProgress{Name: "news"}, false); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	d := &devRun{store: s, client: c, home: store.Home{TaskQueue: contract.TaskQueue}, log: slog.New(slog.NewTextHandler(&log, nil))}
	if err := d.startCrawls(t.Context()); err != nil || log.Len() > 0 {
		t.Errorf("%v; %s", err, &log)
	}
}

// TestMistakesOfDevLeaveNoStore: a store fixes what later starts may not change, so none is
// made before what a run needs is found.
func TestMistakesOfDevLeaveNoStore(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	here, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cli  string
		set  func(*cli.DevOptions)
		want string
	}{
		"no Temporal CLI":        {t.TempDir(), func(*cli.DevOptions) {}, "is not a program"},
		"Temporal's port in use": {here, func(o *cli.DevOptions) { o.TemporalPort = port }, "for Temporal is in use"},
		"the UI's port in use":   {here, func(o *cli.DevOptions) { o.UIPort = port }, "for the Temporal UI is in use"},
		"the page's port in use": {here, func(o *cli.DevOptions) { o.WebPort = port }, "for the page for operators is in use"},
		"a filter that is no program": {here, func(o *cli.DevOptions) {
			o.Config.Filters = map[string]string{"nowhere": filepath.Join(t.TempDir(), "nowhere")}
		}, "nowhere"},
	} {
		o := cli.DevOptions{Data: filepath.Join(t.TempDir(), "data"), Out: io.Discard, Err: io.Discard}
		o.Getenv = func(name string) string { return map[string]string{"RECRAWL_TEMPORAL_CLI": c.cli}[name] }
		c.set(&o)
		if err := (Backend{}).Dev(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(o.Data, storeFile)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a store is left: %v", name, err)
		}
	}
}

// slowStarter is a Temporal that answers each crawl with its error.
type slowStarter struct {
	errs    map[string]error
	started []string
}

func (s *slowStarter) Running(context.Context, string) (bool, error) {
	return false, context.DeadlineExceeded
}

func (s *slowStarter) StartCrawl(_ context.Context, spec crawl.Spec) error {
	s.started = append(s.started, spec.Name)
	return s.errs[spec.Name]
}

// A Temporal that is slow while it starts does not end the program: the crawls are known, and
// maintenance starts them later.
func TestStartGoesOnWithoutASlowTemporal(t *testing.T) {
	t.Parallel()
	refused := &crawl.SpecError{Field: "seeds", Problem: "are missing"}
	s := &slowStarter{errs: map[string]error{
		"a": fmt.Errorf("start crawl/a: %w", context.DeadlineExceeded),
		"b": fmt.Errorf("start crawl/b: %w", serviceerror.NewUnavailable("starting")),
		"c": fmt.Errorf("start crawl/c: %w", serviceerror.NewDeadlineExceeded("slow")),
		"d": fmt.Errorf("crawl/d: %w", temporalkit.ErrNotTaken),
		"f": refused,
	}}
	var known []store.CrawlRecord
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		known = append(known, store.CrawlRecord{Spec: crawl.Spec{Name: name}})
	}
	var log bytes.Buffer
	d := &devRun{log: slog.New(slog.NewTextHandler(&log, nil))}
	if err := d.restart(t.Context(), s, known[:5]); err != nil || len(s.started) != 5 || strings.Count(log.String(), "crawl=") != 4 {
		t.Errorf("%v; started %q; %s", err, s.started, &log)
	}
	if err := d.restart(t.Context(), s, known); !errors.Is(err, refused) {
		t.Errorf("a spec that is refused: %v", err)
	}
}
