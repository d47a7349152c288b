package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/archive/archivetest"
	"recrawl/internal/room"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// A store that cannot be opened on a full disk says that the disk is full.
func TestFullDiskIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	if err := os.Mkdir(path+"-owner", 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := openStore(t.Context(), "sqlite:"+path, storeOwn, "")
	if err == nil || strings.Contains(err.Error(), "full") {
		t.Fatalf("with room: %v", err)
	}
	full := func(string) (room.Space, error) { return room.Space{Bytes: 4096, Files: -1}, nil }
	if err := orFull(err, "sqlite:"+path, full); !strings.HasPrefix(err.Error(), "the disk is full (4KiB left") {
		t.Errorf("%v", err)
	}
}

// A store with contents whose archive is gone is not given a new, empty one: the disk of the
// archive may not be mounted.
func TestMissingArchive(t *testing.T) {
	t.Parallel()
	made := crawltest.New(t)
	digest := archivetest.Put(t, made.Files, []byte("a page"))
	folder := filepath.Join(t.TempDir(), "archive")
	open := func() error {
		_, err := openOwnArchive(t.Context(), folder, made.Store)
		return err
	}
	if err := open(); err != nil {
		t.Fatalf("a store without contents: %v", err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	page := made.Page(store.NewURL{URL: "https://host.test/", Host: "host.test"}).PageID
	if _, err := made.Store.SaveVersion(t.Context(), store.SaveVersionParams{Version: store.VersionRecord{PageID: page, Visit: 1, Digest: digest}}); err != nil {
		t.Fatal(err)
	}
	refused := func(when string) {
		t.Helper()
		if err := open(); err == nil || !strings.Contains(err.Error(), "is its disk mounted?") {
			t.Errorf("%s: %v", when, err)
		}
		if !isEmpty(folder) {
			t.Errorf("%s: something was made there", when)
		}
		if _, err := openArchive(t.Context(), folder, storeRead); err == nil || !strings.Contains(err.Error(), "there is no archive") {
			t.Errorf("%s: a command opens it: %v", when, err)
		}
	}
	refused("missing")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	refused("a mount point")
	if err := os.Mkdir(filepath.Join(folder, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := open(); err != nil {
		t.Errorf("made anew on purpose: %v", err)
	}
	// A copy that lacks empty folders has the contents.
	if err := os.RemoveAll(filepath.Join(made.Root, "tmp")); err != nil {
		t.Fatal(err)
	}
	folder = made.Root
	if err := open(); err != nil {
		t.Errorf("a copy without empty folders: %v", err)
	}
}
