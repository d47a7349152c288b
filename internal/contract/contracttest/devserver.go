package contracttest

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"recrawl/internal/contract"
)

// CLIVariable names the environment variable with the path of the temporal CLI.
const CLIVariable = "RECRAWL_TEMPORAL_CLI"

// Quiet is a Temporal logger that says nothing.
func Quiet() log.Logger { return log.NewStructuredLogger(slog.New(slog.DiscardHandler)) }

// DevServer starts a Temporal dev server as `starter dev` runs it (eager
// activities, recrawl's search attributes), in memory and for this test only.
// Without a CLI the test fails: what is proved on a real server must not be
// skipped quietly.
func DevServer(t testing.TB) client.Client {
	t.Helper()
	cli := temporalCLI()
	if cli == "" {
		t.Fatalf("no temporal CLI: build it into bin/ (tools/temporal), put it on PATH, or set %s", CLIVariable)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := testsuite.StartDevServer(ctx, testsuite.DevServerOptions{
		ExistingPath:  cli,
		ClientOptions: &client.Options{Logger: Quiet(), Identity: "recrawl-test"},
		LogLevel:      "error",
		SearchAttributes: temporal.NewSearchAttributes(
			contract.AttrCrawl.ValueSet(""), contract.AttrHost.ValueSet(""), contract.AttrState.ValueSet("")),
		ExtraArgs: []string{"--dynamic-config-value", "system.enableActivityEagerExecution=true"},
		Stdout:    io.Discard,
		Stderr:    io.Discard,
	})
	if err != nil {
		t.Fatalf("start the dev server %s: %v", cli, err)
	}
	t.Cleanup(func() {
		server.Client().Close()
		if err := server.Stop(); err != nil {
			t.Logf("stop the dev server: %v", err)
		}
	})
	return server.Client()
}

// temporalCLI looks where `starter dev` looks: an explicit path, the module's
// bin folder, PATH.
func temporalCLI() string {
	if path := os.Getenv(CLIVariable); path != "" {
		return path
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		path := filepath.Join(filepath.Dir(file), "..", "..", "..", "bin", "temporal")
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
	}
	if path, err := exec.LookPath("temporal"); err == nil {
		return path
	}
	return ""
}
