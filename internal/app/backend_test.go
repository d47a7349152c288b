package app

import (
	"testing"

	"recrawl/internal/cli"
)

// A namespace that no flag names is Temporal's own setting: what is asked of its service by
// name, such as to delete a workflow, goes there, too.
func TestUnnamedNamespace(t *testing.T) {
	t.Setenv("TEMPORAL_NAMESPACE", "theirs")
	for named, want := range map[string]string{"": "theirs", "ours": "ours"} {
		if got := newFlowClient(nil, cli.TemporalOptions{Namespace: named}).flows.Namespace; got != want {
			t.Errorf("with %q: %q, want %q", named, got, want)
		}
	}
}
