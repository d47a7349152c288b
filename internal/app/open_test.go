package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/room"
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
