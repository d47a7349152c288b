package temporalkit_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/temporalkit"
	"recrawl/internal/temporalkit/proxytest"
)

// TestForbiddenSearchAttributes: where the server lets nobody make search attributes
// through the API, as Temporal Cloud does, they must be there, or the error has the
// commands that make them. The command for the Temporal CLI is run unchanged.
func TestForbiddenSearchAttributes(t *testing.T) { //nolint:paralleltest // variables of the environment
	plain, upstream := contracttest.DevServerAt(t)
	refused := map[string]map[string]codes.Code{
		"denied":      {"AddSearchAttributes": codes.PermissionDenied},
		"not there":   {"AddSearchAttributes": codes.Unimplemented},
		"nor a list":  {"AddSearchAttributes": codes.PermissionDenied, "ListSearchAttributes": codes.PermissionDenied},
		"no operator": {"AddSearchAttributes": codes.Unimplemented, "ListSearchAttributes": codes.Unimplemented},
	}
	namespaceOf := func(name string) string { return strings.ReplaceAll(name, " ", "-") }
	for name := range refused { // all before the first is needed: the server's parts learn of them by and by
		_, err := plain.WorkflowService().RegisterNamespace(t.Context(), &workflowservice.RegisterNamespaceRequest{
			Namespace: namespaceOf(name), WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, refuse := range refused {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // as above
			namespace := namespaceOf(name)
			proxy := proxytest.Start(t, proxytest.Options{Upstream: upstream, Refuse: refuse})
			t.Setenv("TEMPORAL_TLS_SERVER_CA_CERT_PATH", proxy.Authority.File)
			conn, err := temporalkit.Dial(t.Context(), temporalkit.Options{Address: proxy.Address, Namespace: namespace})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(conn.Close)
			until(t, "the namespace is known everywhere", func() bool {
				err = temporalkit.EnsureSearchAttributes(t.Context(), conn, namespace)
				return err == nil || !strings.Contains(err.Error(), "not found")
			})
			if err == nil {
				t.Fatal("went on without search attributes")
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != 4 {
				t.Fatalf("%d lines: %v", len(lines), err)
			}
			cloud := "tcld namespace search-attributes add --namespace " + namespace
			for _, attribute := range slices.Sorted(slices.Values(contract.SearchAttributes())) {
				cloud += " --search-attribute " + attribute + "=Keyword"
			}
			if got := strings.TrimSpace(lines[3]); got != cloud {
				t.Errorf("%q, want %q", got, cloud)
			}
			runCLI(t.Context(), t, upstream, lines[1])
			until(t, "what was made is found", func() bool { // the server looks them up now and then
				return temporalkit.EnsureSearchAttributes(t.Context(), conn, namespace) == nil
			})
		})
	}
}

// runCLI runs a command line of the Temporal CLI.
func runCLI(ctx context.Context, t *testing.T, address, line string) {
	t.Helper()
	fields := strings.Fields(line)
	if fields[0] != "temporal" {
		t.Fatalf("not a command of the Temporal CLI: %q", line)
	}
	cmd := exec.CommandContext(ctx, contracttest.CLI(t), append(fields[1:], "--address", address)...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "TEMPORAL_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
}
