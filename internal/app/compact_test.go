package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/config"
	"recrawl/internal/store/sqlite"
	"recrawl/internal/temporalkit/embedded"
)

// sparse makes a database most of whose bytes are deleted, and leaves the rest in its log.
func sparse(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.OpenFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`PRAGMA journal_mode = WAL`,
		`CREATE TABLE kept (id INTEGER PRIMARY KEY, text TEXT)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO kept SELECT i, hex(randomblob(500)) FROM n`,
		`DELETE FROM kept WHERE id > 10`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCompact(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	dir, err := openDataDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.writeState(config.DevState{}); err != nil {
		t.Fatal(err)
	}
	sparse(t, dir.file(embedded.DatabaseName))
	var began []string
	begin := func(file string) { began = append(began, filepath.Base(file)) }

	if done, err := (Backend{}).Compact(t.Context(), folder, begin); err == nil || !strings.Contains(err.Error(), "in use") || len(done)+len(began) > 0 {
		t.Errorf("a folder that is in use: %v, %v, %v", done, began, err)
	}
	if err := dir.close(); err != nil {
		t.Fatal(err)
	}
	done, err := (Backend{}).Compact(t.Context(), folder, begin)
	if err != nil || len(done) != 1 || strings.Join(began, " ") != embedded.DatabaseName {
		t.Fatalf("%v, %v, %v; want the one database that is there", done, began, err)
	}
	if c := done[0]; c.After*10 > c.Before {
		t.Errorf("%s has %d bytes, and had %d, of which a two-hundredth is used", c.File, c.After, c.Before)
	}
	db, err := sqlite.OpenFile(t.Context(), done[0].File)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	if err := db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM kept`).Scan(&rows); err != nil || rows != 10 {
		t.Errorf("%d rows, %v, want 10", rows, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// What cannot be compacted is left as it is, and nothing is made.
func TestCompactRefuses(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none")
	if _, err := (Backend{}).Compact(t.Context(), none, func(string) {}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if _, err := os.Stat(none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "letter.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (Backend{}).Compact(t.Context(), foreign, func(string) {}); err == nil || !strings.Contains(err.Error(), "not a recrawl data folder") {
		t.Errorf("a foreign folder: %v", err)
	}
	ours := t.TempDir()
	sparse(t, filepath.Join(ours, embedded.DatabaseName))
	if err := os.WriteFile(filepath.Join(ours, config.StateFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before, err := databaseSize(filepath.Join(ours, embedded.DatabaseName))
	if err != nil {
		t.Fatal(err)
	}
	if done, err := (Backend{}).Compact(ctx, ours, func(string) {}); !errors.Is(err, context.Canceled) || len(done) != 0 {
		t.Errorf("cut off: %v, %v", done, err)
	}
	if after, err := databaseSize(filepath.Join(ours, embedded.DatabaseName)); err != nil || after != before {
		t.Errorf("cut off, the database has %d bytes, %v, and had %d", after, err, before)
	}
}
