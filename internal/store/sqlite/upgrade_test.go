package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// older makes a store that lacks the last migrations.
func older(t *testing.T, path string, lacks int) {
	t.Helper()
	all, err := sqlstore.Migrations(migrationFiles)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, path, "PRAGMA journal_mode = WAL", "PRAGMA application_id = 1919119991",
		"CREATE TABLE recrawl_migrations (name TEXT PRIMARY KEY, applied_at BIGINT NOT NULL)")
	for _, m := range all[:len(all)-lacks] {
		execute(t, path, m.SQL, "INSERT INTO recrawl_migrations VALUES ('"+m.Name+"', 1)")
	}
	execute(t, path, "INSERT INTO hosts (host) VALUES ('old.test')")
}

// alone is the first step of an undo that has none.
func alone() error { return nil }

// TestUpgradeKeepsACopy: before a store is migrated a copy is kept, and it can be restored,
// even if that is cut off half-way.
func TestUpgradeKeepsACopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	older(t, path, 1)
	stale := path + ".before-0002"
	if err := os.WriteFile(stale, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantOpenError(t, path, Options{}, store.ErrUnavailable, "older recrawl") // a command migrates nothing
	e := openOwner(t, path)
	if err := e.Write(t.Context(), func(tx sqlstore.Tx) error { return insertHost(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
	began := false
	begin := func() error { began = true; return nil }
	if _, err := UndoUpgrade(t.Context(), path, time.Now(), begin); !errors.Is(err, store.ErrUnavailable) || began {
		t.Errorf("undone while it is in use: %v, begun: %t", err, began)
	}
	crash(t, e) // leaves a log
	if _, err := os.Stat(stale); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy of an earlier upgrade is there: %v", err)
	}
	undone, err := UndoUpgrade(t.Context(), path, time.Now(), alone)
	if err != nil || !strings.HasPrefix(undone, path+".undone-") {
		t.Fatalf("%s, %v", undone, err)
	}
	wantOpenError(t, path, Options{ReadOnly: true}, nil, "older recrawl")
	newer := openOwner(t, undone)
	if n := countHosts(t, newer); n != 2 {
		t.Errorf("%d hosts in what was undone, want both", n)
	}
	if err := newer.Close(); err != nil {
		t.Fatal(err)
	}
	// Once more, cut off after the store was moved away.
	upgraded := openOwner(t, path)
	if n := countHosts(t, upgraded); n != 1 {
		t.Errorf("%d hosts in the copy, want the one from before the upgrade", n)
	}
	if err := errors.Join(upgraded.Close(), os.Rename(path, path+".away")); err != nil {
		t.Fatal(err)
	}
	if undone, err := UndoUpgrade(t.Context(), path, time.Now(), alone); err != nil || undone != "" {
		t.Errorf("going on: %q, %v", undone, err)
	}
	wantOpenError(t, path, Options{ReadOnly: true}, nil, "older recrawl")
	if _, err := UndoUpgrade(t.Context(), path, time.Now(), alone); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("undone twice: %v", err)
	}
}

// TestUndoLeavesAStoreAtAnyTime: an undo that is killed before the copy has the store's name leaves
// the upgraded store there. The next start would make an empty one.
func TestUndoLeavesAStoreAtAnyTime(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "store.db")
	older(t, path, 1)
	if err := openOwner(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"a", "b"} { // twice: the second takes the place of the first
		if err := keepUndone(path, path+undoneMark+at); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	undone, err := UndoUpgrade(t.Context(), path, time.Now(), alone)
	if err != nil {
		t.Fatal(err)
	}
	wantOpenError(t, path, Options{ReadOnly: true}, nil, "older recrawl")
	kept, err := filepath.Glob(path + undoneMark + "*")
	if err != nil || len(kept) != 1 || kept[0] != undone {
		t.Errorf("kept %v, want %s: %v", kept, undone, err)
	}
	openAt(t, undone, Options{ReadOnly: true})
}

// TestCutOffUpgradeKeepsTheCopy: an upgrade that is killed between two migrations, and goes
// on at the next start, leaves the copy from before the first of them.
func TestCutOffUpgradeKeepsTheCopy(t *testing.T) {
	const lacks = 3
	path := filepath.Join(t.TempDir(), "store.db")
	older(t, path, lacks)
	all, err := sqlstore.Migrations(migrationFiles)
	if err != nil {
		t.Fatal(err)
	}
	for range lacks - 1 { // one more migration each time
		e := &engine{path: path, owner: true, requests: make(chan *request), served: make(chan struct{}), closed: make(chan struct{})}
		if e.writer, err = e.connect(t.Context(), "rwc"); err != nil {
			t.Fatal(err)
		}
		if err := e.keepBefore(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		go e.serve()
		steps, killed := 0, errors.New("killed")
		err := sqlstore.Migrate(t.Context(), func(ctx context.Context, fn func(sqlstore.Tx) error) error {
			if steps++; steps > 1 {
				return killed
			}
			return e.Write(ctx, fn)
		}, all)
		if !errors.Is(err, killed) {
			t.Fatalf("the upgrade ended: %v", err)
		}
		// A program of the last release, which knows none of them, may go on in between.
		if err := e.Write(t.Context(), func(tx sqlstore.Tx) error { return sqlstore.CheckMigrated(t.Context(), tx, all[:len(all)-lacks]) }); err != nil {
			t.Errorf("the last release refuses the store: %v", err)
		}
		crash(t, e)
	}
	if err := openOwner(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := UndoUpgrade(t.Context(), path, time.Now(), alone); err != nil {
		t.Fatal(err)
	}
	wantOpenError(t, path, Options{ReadOnly: true}, nil, all[len(all)-lacks].Name)
	// A later upgrade is another one: its copy takes the place of this one's.
	if err := openOwner(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	kept, err := copiesBefore(path)
	if err != nil || len(kept) != 1 || !strings.HasSuffix(kept[0], all[len(all)-lacks].Name[:4]) {
		t.Errorf("kept %v, %v", kept, err)
	}
	execute(t, path, "DELETE FROM recrawl_migrations WHERE name = '"+all[len(all)-1].Name+"'", "ALTER TABLE sketches DROP COLUMN more")
	if err := openOwner(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	if kept, err := copiesBefore(path); err != nil || len(kept) != 1 || !strings.HasSuffix(kept[0], all[len(all)-1].Name[:4]) {
		t.Errorf("kept %v, %v", kept, err)
	}
}

// TestNewerSettingsStay: a program that changes a spec leaves the settings in it that a program
// of the next release made and that it does not know itself.
func TestNewerSettingsStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = "c", []string{"http://a.test/"}
	change := func() {
		t.Helper()
		s, err := Open(t.Context(), path, Options{Owner: true})
		if err != nil {
			t.Fatal(err)
		}
		rec, err := s.OpenCrawl(t.Context(), spec)
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		if rec.Spec.Limits.MaxPages != spec.Limits.MaxPages {
			t.Errorf("at most %d pages, want %d", rec.Spec.Limits.MaxPages, spec.Limits.MaxPages)
		}
	}
	change()
	execute(t, path, `UPDATE crawls SET spec = json_set(spec, '$.future', json('{"a":1}'), '$.limits.future', 7)`)
	spec.Limits.MaxPages = 5
	change()
	execute(t, path, `CREATE TABLE kept (n INTEGER CHECK (n = 13))`, // refuses anything else
		`INSERT INTO kept SELECT COALESCE(json_extract(spec, '$.future.a'), 0) + COALESCE(json_extract(spec, '$.limits.future'), 0) + json_extract(spec, '$.limits.max_pages') FROM crawls`)
}
