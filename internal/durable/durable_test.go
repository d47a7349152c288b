package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestPlace(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	part, whole := filepath.Join(folder, "a.part"), filepath.Join(folder, "a")
	for _, content := range []string{"first", "second"} { // which takes the place of the first
		if err := os.WriteFile(part, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Place(part, whole); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(whole); err != nil || string(got) != content {
			t.Errorf("%q, %v, want %q", got, err, content)
		}
		if _, err := os.Stat(part); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the part is left: %v", err)
		}
	}
	if err := Place(part, whole); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("placed what is not there: %v", err)
	}
}

func TestSyncAll(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(root.MkdirAll("a/b", 0o755), root.WriteFile("a/b/c", []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := SyncAll(root); err != nil {
		t.Error(err)
	}
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	if err := SyncAll(root); err == nil {
		t.Error("a closed root was synced")
	}
}

func TestSyncFileSystem(t *testing.T) {
	t.Parallel()
	can, err := SyncFileSystem(t.TempDir())
	if err != nil {
		t.Error(err)
	}
	if _, err := SyncFileSystem(filepath.Join(t.TempDir(), "none")); can && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	for _, content := range []string{"first", "second"} {
		if err := Write(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("%q, %v, want %q", got, err, content)
		}
	}
}

func TestMakeFolders(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "a", "b", "c")
	for range 2 { // the second finds them
		if err := MakeFolders(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			t.Errorf("%v, %v", info, err)
		}
	}
	if err := os.Symlink(filepath.Join(folder, "none"), filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	if err := MakeFolders(filepath.Join(folder, "link", "a"), 0o755); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("made a folder behind a link that leads nowhere: %v", err)
	}
}
