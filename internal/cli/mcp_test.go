package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// agent runs `starter mcp` for a client that sends some lines and leaves, and returns
// the names of the tools that it received.
func agent(t *testing.T, b *fakeBackend, args ...string) (tools []string) {
	t.Helper()
	ask := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
`
	var out, errOut bytes.Buffer
	code := Main(t.Context(), append([]string{"mcp"}, args...), Env{
		Stdin: strings.NewReader(ask), Stdout: &out, Stderr: &errOut, Backend: b,
		Getenv: func(name string) string { return map[string]string{"RECRAWL_STORE": "sqlite:x.db"}[name] },
	})
	if code != ExitOK || errOut.Len() > 0 || b.opened != b.closed {
		t.Fatalf("starter mcp %v: %d, opened %d, closed %d: %s", args, code, b.opened, b.closed, errOut.String())
	}
	for line := range strings.Lines(out.String()) {
		var answer struct {
			Result struct{ Tools []struct{ Name string } }
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("%s is on standard output, where only answers may be", line)
		}
		for _, tool := range answer.Result.Tools {
			tools = append(tools, tool.Name)
		}
	}
	slices.Sort(tools)
	return tools
}

// An agent may only read, unless the operator lets it ask for visits.
func TestMCPCommand(t *testing.T) {
	t.Parallel()
	reads := []string{"diff_page", "list_changes", "list_crawls", "page_history", "read_page", "search_pages"}
	if got := agent(t, &fakeBackend{}); !slices.Equal(got, reads) {
		t.Errorf("tools: %v", got)
	}
	visits := slices.Sorted(slices.Values(append(reads, "request_visit")))
	if got := agent(t, &fakeBackend{archiveDir: t.TempDir()}, "--allow-visit", "--archive", "x"); !slices.Equal(got, visits) {
		t.Errorf("tools with --allow-visit: %v", got)
	}
}

func TestMCPMistakes(t *testing.T) {
	t.Parallel()
	b := &fakeBackend{}
	got := starter(t, b, "mcp") // the tests' standard input is a spec
	if got.code != ExitFailed || got.out != "" {
		t.Errorf("%+v", got)
	}
	checkLine(t, got.errOut, "what came on standard input is not what an agent's program says")
	got = starter(t, b, "mcp", "--archive", "x")
	checkLine(t, got.errOut, "cannot open the archive: archive x: permission denied")
	got = starterEnv(t, b, nil, "mcp")
	if got.code != ExitUsage {
		t.Errorf("without a store: %+v", got)
	}
	checkLine(t, got.errOut, "store")
}
