package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// TestSnapshotBesideWriters copies a store in the middle of another's transaction: the
// copy has the committed data, is one file, and its hosts rest first.
func TestSnapshotBesideWriters(t *testing.T) {
	e := testEngine(t)
	if err := e.Write(t.Context(), func(tx sqlstore.Tx) error { return insertHost(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	to := filepath.Join(dir, "it's a copy.db")
	err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
		_, err := tx.Exec(t.Context(), "INSERT INTO hosts (host) VALUES ($1)", "uncommitted.test")
		return errors.Join(err, Snapshot(t.Context(), e.path, to))
	})
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v: want one file", entries, err)
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: want a file of its owner alone", info, err)
	}
	copied := openOwner(t, to)
	if n := countHosts(t, copied); n != 1 {
		t.Errorf("%d hosts, want the one that was committed", n)
	}
	if restedAt(t, copied) == 0 {
		t.Error("the hosts of a copy do not rest")
	}
	var mode string
	err = copied.writer.query(t.Context(), "PRAGMA journal_mode", nil, func(row sqlstore.Row) error { return row.Scan(&mode) })
	if err = errors.Join(err, copied.Close()); err != nil || mode != "wal" {
		t.Errorf("a copy that was opened has the journal %q, %v", mode, err)
	}
}

// TestSnapshotToRelativePath: an operator's path is relative to the folder in which
// the command is run.
func TestSnapshotToRelativePath(t *testing.T) {
	e := testEngine(t)
	t.Chdir(t.TempDir())
	if err := Snapshot(t.Context(), e.path, "copy.db"); err != nil {
		t.Fatal(err)
	}
	openAt(t, "copy.db", Options{ReadOnly: true})
}

func TestSnapshotRefuses(t *testing.T) {
	e, dir := testEngine(t), t.TempDir()
	other := filepath.Join(dir, "other.db")
	execute(t, other, "CREATE TABLE theirs (id INTEGER)")
	if err := Snapshot(t.Context(), e.path, other); !errors.Is(err, os.ErrExist) {
		t.Errorf("copied over a file: %v", err)
	}
	if err := Snapshot(t.Context(), other, filepath.Join(dir, "copy.db")); !errors.Is(err, store.ErrForeign) {
		t.Errorf("copied another program's file: %v", err)
	}
	if err := Snapshot(t.Context(), filepath.Join(dir, "none.db"), filepath.Join(dir, "copy.db")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("copied what is not there: %v", err)
	}
}

// TestCopiesOfOlderReleases: a copy can be read for its contents, whatever release made
// it.
func TestCopiesOfOlderReleases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := openAt(t, path, Options{})
	id := s.ID()
	s.Close()
	for _, older := range []struct{ change, id string }{
		{"DELETE FROM recrawl_migrations WHERE name > '0008'", id},
		{"DELETE FROM settings WHERE name = 'identity'", ""},
		{"DROP TABLE settings", ""},
	} {
		execute(t, path, older.change)
		c, err := OpenCopy(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ListContents(t.Context(), "", 1); err != nil {
			t.Error(err)
		}
		if c.ID() != older.id {
			t.Errorf("after %s it is the store %q, want %q", older.change, c.ID(), older.id)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
