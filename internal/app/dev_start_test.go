package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
