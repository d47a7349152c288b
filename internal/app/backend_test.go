package app

import (
	"database/sql"
	"path/filepath"
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

// A store that can be opened and does not answer is not taken for one without a home: its
// workflows may be in another task queue than the usual one.
func TestHomeThatCannotBeRead(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "store.db")
	s, err := openStore(t.Context(), "sqlite:"+file, storeOwn, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, dsn := range []string{"sqlite:" + file, "sqlite:" + file + ".none"} {
		if _, err := newFlowClient(nil, cli.TemporalOptions{Store: dsn}).starting(t.Context()); err != nil {
			t.Errorf("%s: %v", dsn, err)
		}
	}
	if _, err := db.ExecContext(t.Context(), "ALTER TABLE crawls RENAME TO damaged"); err != nil {
		t.Fatal(err)
	}
	if flows, err := newFlowClient(nil, cli.TemporalOptions{Store: "sqlite:" + file}).writing(t.Context()); err == nil {
		t.Errorf("without its crawls: %+v", flows)
	}
}
