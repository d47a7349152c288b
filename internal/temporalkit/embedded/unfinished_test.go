package embedded

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A database that was cut off while the server made it is removed with its log, so that the server
// makes it again. Any other is left as it is.
func TestRemoveUnfinished(t *testing.T) {
	const table = `CREATE TABLE namespaces (id BINARY(16) NOT NULL PRIMARY KEY, data MEDIUMBLOB NOT NULL);`
	for _, c := range []struct {
		name, statements string
		unfinished       bool
	}{
		{"not begun", ``, true},
		{"without tables", `PRAGMA journal_mode = WAL`, true},
		{"with one table", table, true},
		{"with some tables", table + `CREATE TABLE shards (id INT); CREATE TABLE executions (id INT)`, true},
		{"whole", table + `CREATE TABLE executions (id INT); INSERT INTO namespaces VALUES (1, x'00')`, false},
		{"of another kind", `CREATE TABLE executions (id INT)`, false},
	} {
		path := filepath.Join(t.TempDir(), DatabaseName)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", path)
		if err == nil {
			_, err = db.ExecContext(t.Context(), c.statements)
		}
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		if removed, err := removeUnfinished(t.Context(), path); err != nil || removed != c.unfinished {
			t.Errorf("%s: removed %t, %v", c.name, removed, err)
		}
		left, err := filepath.Glob(path + "*")
		if err != nil || len(left) == 0 != c.unfinished {
			t.Errorf("%s: %v are left, %v", c.name, left, err)
		}
	}
}

// A database that was never begun, and a file that is none, are none of its business.
func TestRemoveUnfinishedOfNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), DatabaseName)
	if removed, err := removeUnfinished(t.Context(), path); removed || err != nil {
		t.Errorf("removed %t, %v", removed, err)
	}
	if err := os.WriteFile(path, []byte("these are my notes, which are no database at all, and of some length, at least a hundred bytes in all"), 0o600); err != nil {
		t.Fatal(err)
	}
	if removed, err := removeUnfinished(t.Context(), path); removed || err == nil {
		t.Errorf("removed %t, %v", removed, err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
