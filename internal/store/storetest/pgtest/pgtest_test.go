//go:build unix

package pgtest

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

func TestDSNGivesEmptyDatabases(t *testing.T) {
	one, two := DSN(t), DSN(t)
	if one == two {
		t.Fatalf("the same database twice: %s", one)
	}
	for _, dsn := range []string{one, two} {
		if err := execute(t.Context(), dsn, "CREATE TABLE mine (id int)"); err != nil {
			t.Error(err)
		}
	}
}

func TestKillAndRestartKeepData(t *testing.T) {
	server, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := server.dir
	if err := execute(t.Context(), server.DSN(), "CREATE TABLE kept (id int)"); err != nil {
		t.Fatal(err)
	}
	if err := server.Kill9(); err != nil {
		t.Fatal(err)
	}
	if err := execute(t.Context(), server.DSN(), "SELECT 1"); err == nil {
		t.Error("a killed server answers")
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := execute(t.Context(), server.DSN(), "INSERT INTO kept VALUES (1)"); err != nil {
		t.Error(err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the server's folder is still there: %v", err)
	}
}

func TestWithDatabase(t *testing.T) {
	for _, c := range []struct{ dsn, want string }{
		{"postgres://u:p@h:1/a?sslmode=disable", "postgres://u:p@h:1/b?sslmode=disable"},
		{"host=h dbname=a", "host=h dbname=a dbname=b"},
	} {
		if got, err := withDatabase(c.dsn, "b"); err != nil || got != c.want {
			t.Errorf("withDatabase(%q) = %q, %v; want %q", c.dsn, got, err, c.want)
		}
	}
}
