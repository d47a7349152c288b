package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/backup"
	"recrawl/internal/cli"
	"recrawl/internal/config"
	"recrawl/internal/store/storetest/crawltest"
	"recrawl/internal/temporalkit/embedded"
)

func quietly(string, float64) {}

// backUp backs up a crawl's store and archive to a folder.
func backUp(t *testing.T, c *crawltest.Crawl, dir string) error {
	t.Helper()
	at := cli.Target{Store: "sqlite:" + c.Path, Archive: c.Root}
	_, err := Backend{}.Backup(t.Context(), at, dir, cli.BackupOptions{Keep: 1, Progress: quietly})
	return err
}

func put(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestBackupIsNoDataFolder: `starter backup` deletes nothing in a data folder, be it its own
// or another, and writes nothing there.
func TestBackupIsNoDataFolder(t *testing.T) {
	t.Parallel()
	c := crawltest.New(t)
	for _, name := range []string{storeFile, marker, embedded.DatabaseName} {
		dir := t.TempDir()
		content := filepath.Join(dir, archiveDir, "aa", "bb", strings.Repeat("ab", 32)+".zst")
		put(t, content)
		put(t, filepath.Join(dir, name))
		at := cli.Target{Store: "sqlite:" + c.Path, Archive: c.Root}
		_, alone := Backend{}.BackupArchive(t.Context(), at, dir, quietly)
		for _, err := range []error{backUp(t, c, dir), alone} {
			if err == nil || !strings.Contains(err.Error(), "data folder") || !strings.Contains(err.Error(), name) {
				t.Errorf("backed up into a folder with %s: %v", name, err)
			}
		}
		if _, err := os.Stat(content); err != nil {
			t.Error(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
			t.Errorf("%v, %v: want nothing new", entries, err)
		}
	}
	own := filepath.Join(t.TempDir(), "own")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(c.Root, filepath.Join(own, archiveDir)); err != nil {
		t.Fatal(err)
	}
	if err := backUp(t, c, own); err == nil || !strings.Contains(err.Error(), "that is to be backed up") {
		t.Errorf("backed up into itself: %v", err)
	}
}

// TestRestoreOfNothing: a restore from a folder that is no backup leaves no trace, neither
// there, where a lock would make it look like one, nor at its target.
func TestRestoreOfNothing(t *testing.T) {
	t.Parallel()
	dir, to := t.TempDir(), filepath.Join(t.TempDir(), "new")
	if err := os.Mkdir(filepath.Join(dir, archiveDir), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Backend{}.Restore(t.Context(), dir, cli.RestoreOptions{Data: to, Progress: quietly})
	if err == nil || !strings.Contains(err.Error(), backup.ErrNone.Error()) {
		t.Errorf("restored: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v: want nothing new", entries, err)
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("a data folder was made")
	}
	if err := backUp(t, crawltest.New(t), dir); err == nil {
		t.Error("the folder was taken for a backup")
	}
}

// TestRestoreNamesTheStoreLast: where a restore to a data folder is cut off before the folder
// says where everything is, it has made no store, and the same command goes on.
func TestRestoreNamesTheStoreLast(t *testing.T) {
	t.Parallel()
	c, dir, to := crawltest.New(t), filepath.Join(t.TempDir(), "kept"), t.TempDir()
	if err := backUp(t, c, dir); err != nil {
		t.Fatal(err)
	}
	restore := func() error {
		_, err := Backend{}.Restore(t.Context(), dir, cli.RestoreOptions{Data: to, Progress: quietly})
		return err
	}
	inTheWay := filepath.Join(to, config.StateFile+".tmp")
	if err := errors.Join(os.WriteFile(filepath.Join(to, lockFile), nil, 0o600), os.Mkdir(inTheWay, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := restore(); err == nil {
		t.Error("restored without a state")
	}
	if _, err := os.Stat(filepath.Join(to, storeFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a store that no command finds: %v", err)
	}
	if err := errors.Join(os.Remove(inTheWay), restore()); err != nil {
		t.Error(err)
	}
	if state, err := config.ReadDevState(to); err != nil || state.Store != "sqlite:"+filepath.Join(to, storeFile) {
		t.Errorf("restored as %+v, %v", state, err)
	}
}

// TestRestoreWaitsForBackup: a backup that is written is not read, and reading changes none.
func TestRestoreWaitsForBackup(t *testing.T) {
	t.Parallel()
	c, dir := crawltest.New(t), filepath.Join(t.TempDir(), "kept")
	if err := backUp(t, c, dir); err != nil {
		t.Fatal(err)
	}
	restore := func() (string, error) {
		to := filepath.Join(t.TempDir(), "new")
		_, err := Backend{}.Restore(t.Context(), dir, cli.RestoreOptions{Data: to, Progress: quietly})
		return to, err
	}
	if err := withBackup(dir, "", func() error {
		_, err := restore()
		if err == nil || !strings.Contains(err.Error(), "in use by a backup") {
			t.Errorf("restored meanwhile: %v", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	to, err := restore()
	if err != nil {
		t.Fatal(err)
	}
	state, err := config.ReadDevState(to)
	if err != nil || state.Store != "sqlite:"+filepath.Join(to, storeFile) {
		t.Errorf("restored as %+v, %v", state, err)
	}
	// A backup that was brought here without its lock.
	if err := os.Remove(filepath.Join(dir, backup.LockFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := restore(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, backup.LockFile)); err == nil {
		t.Error("a restore made the lock")
	}
}
