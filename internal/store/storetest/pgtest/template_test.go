//go:build unix

package pgtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestTemplate: servers after the first are made from its template, each with data of its own.
// A template that is damaged, or was removed, is made again.
func TestTemplate(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: no Postgres server")
	}
	folder, err := os.MkdirTemp("", "pgtest-template") // t.TempDir is closed to the server's user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", folder)
	first, second := newCluster(t), newCluster(t)
	if first != second {
		t.Errorf("the second server has the identity %d, want %d of the template", second, first)
	}
	templates, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(templates) != 1 {
		t.Fatalf("%v are left, want the template: %v", templates, err)
	}
	if err := os.WriteFile(templates[0], []byte("not a template"), 0o600); err != nil {
		t.Fatal(err)
	}
	third := newCluster(t)
	if third == first {
		t.Error("a server was made from a damaged template")
	}
	if fourth := newCluster(t); fourth != third {
		t.Error("the damaged template was not replaced")
	}
}

// newCluster starts a server that has no tables, makes one there, stops it, and returns the
// identity that initdb gave its cluster.
func newCluster(t *testing.T) (identity int64) {
	t.Helper()
	server, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	conn, err := pgx.Connect(t.Context(), server.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }() // the server ends anyway
	if err := conn.QueryRow(t.Context(), "SELECT system_identifier FROM pg_control_system()").Scan(&identity); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "CREATE TABLE mine (id int)"); err != nil {
		t.Error(err)
	}
	return identity
}
