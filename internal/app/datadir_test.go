package app

import (
	"os"
	"path/filepath"
	"testing"

	"recrawl/internal/config"
	"recrawl/internal/temporalkit/embedded"
)

// TestPrivateDataFolder: other users get neither into a data folder nor at its files,
// be they old or made by others later.
func TestPrivateDataFolder(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "new", "data")
	made, err := openDataDir(path)
	if err != nil {
		t.Fatal(err)
	}
	wantMode(t, path, 0o700)
	wantMode(t, made.file(lockFile), 0o600)
	if err := made.writeState(config.DevState{}); err != nil {
		t.Fatal(err)
	}
	wantMode(t, made.file(marker), 0o600)
	if err := made.close(); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{storeFile: 0o644, storeFile + "-wal": 0o666, embedded.DatabaseName: 0o664, "run.sh": 0o755} {
		if err := os.WriteFile(filepath.Join(path, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		chmod(t, filepath.Join(path, name), mode)
	}
	for _, name := range []string{archiveDir, "exports"} {
		if err := os.Mkdir(filepath.Join(path, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(path, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	chmod(t, path, 0o777)
	again, err := openDataDir(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.keepPrivate(); err != nil {
		t.Fatal(err)
	}
	wantMode(t, path, 0o700)
	for name, mode := range map[string]os.FileMode{
		storeFile: 0o600, storeFile + "-wal": 0o600, embedded.DatabaseName: 0o600, "run.sh": 0o700, archiveDir: 0o700, "exports": 0o700,
	} {
		wantMode(t, filepath.Join(path, name), mode)
	}
	wantMode(t, outside, 0o755)
	if err := again.close(); err != nil {
		t.Fatal(err)
	}
}

// A folder of other things keeps its permissions.
func TestForeignFolderIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "photos")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "holiday.jpg"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openDataDir(path); err == nil {
		t.Error("a folder of other things is taken")
	}
	wantMode(t, path, 0o755)
}

func wantMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has the permissions %o, want %o", path, got, want)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
