package contracttest

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"recrawl/internal/contract"
	"recrawl/internal/porttest"
)

// CLIVariable names the environment variable with the path of the temporal CLI.
const CLIVariable = "RECRAWL_TEMPORAL_CLI"

// Quiet is a Temporal logger that says nothing.
func Quiet() log.Logger { return log.NewStructuredLogger(QuietLog()) }

// QuietLog is a logger that says nothing.
func QuietLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

// devServerPatience only ends a hang: a busy machine takes its time to start a server.
const devServerPatience = 10 * time.Minute

// DevServer starts a Temporal dev server as `starter dev` runs it (eager
// activities, recrawl's search attributes), in memory and for this test only.
// Without a CLI the test fails: a proof on a real server must not be skipped
// quietly. Only the quick tests (-short) leave it out.
func DevServer(t testing.TB) client.Client {
	t.Helper()
	c, _ := DevServerAt(t)
	return c
}

// DevServerAt is DevServer with the server's host and port.
func DevServerAt(t testing.TB) (c client.Client, address string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no Temporal server")
	}
	cli := CLI(t)
	ctx, cancel := context.WithTimeout(context.Background(), devServerPatience)
	defer cancel()
	for {
		if c, address := startDevServer(ctx, t, cli); c != nil {
			return c, address
		}
	}
}

// startDevServer returns nil if another process was quicker to take one of the server's
// ports.
func startDevServer(ctx context.Context, t testing.TB, cli string) (c client.Client, address string) {
	t.Helper()
	port, err := porttest.Free(ctx)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{
		"server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", port, "--log-level", "error",
		"--dynamic-config-value", "system.enableActivityEagerExecution=true",
	}
	for _, name := range contract.SearchAttributes() {
		args = append(args, "--search-attribute", name+"=Keyword")
	}
	var out bytes.Buffer // read once the server has ended
	cmd := exec.Command(cli, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatalf("start the dev server %s: %v", cli, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its messages are in its output
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // or it has ended; its database is in memory
		<-ended
	})
	for {
		c, err := client.DialContext(ctx, client.Options{HostPort: "127.0.0.1:" + port, Logger: Quiet(), Identity: "recrawl-test"})
		if err == nil {
			t.Cleanup(c.Close)
			return c, "127.0.0.1:" + port
		}
		select {
		case <-time.After(50 * time.Millisecond): // it has no other way to say that it is up
		case <-ended:
			if !strings.Contains(out.String(), "address already in use") {
				t.Fatalf("the dev server %s ended: %s", cli, &out)
			}
			return nil, ""
		case <-ctx.Done():
			t.Fatalf("the dev server %s does not come up: %v", cli, err)
		}
	}
}

// CLI is the path of the temporal CLI. Without one the test fails.
func CLI(t testing.TB) string {
	t.Helper()
	cli := temporalCLI()
	if cli == "" {
		t.Fatalf("no temporal CLI: build it into bin/ (tools/temporal), put it on PATH, or set %s", CLIVariable)
	}
	return cli
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
