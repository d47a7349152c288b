//go:build unix

package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/archive/archivetest"
	"recrawl/internal/archive/s3"
	"recrawl/internal/archive/s3/s3test"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// A store with contents does not take an empty place in a bucket for its archive: somebody has
// mistyped its name.
func TestMistypedBucket(t *testing.T) {
	t.Parallel()
	made, server := crawltest.New(t), s3test.Start(t)
	name := server.Bucket()
	bucket := func(prefix string) *s3.Store {
		t.Helper()
		opened, err := s3.Open(t.Context(), server.URL(name, prefix), server.Getenv)
		if err != nil {
			t.Fatal(err)
		}
		return opened
	}
	right, wrong := bucket("pages"), bucket("page")
	if err := inUse(t.Context(), right, made.Store); err != nil {
		t.Fatalf("a store without contents: %v", err)
	}
	page := made.Page(store.NewURL{URL: "https://host.test/", Host: "host.test"}).PageID
	digest := archivetest.Put(t, right, []byte("a page"))
	if _, err := made.Store.SaveVersion(t.Context(), store.SaveVersionParams{Version: store.VersionRecord{PageID: page, Visit: 1, Digest: digest}}); err != nil {
		t.Fatal(err)
	}
	if err := inUse(t.Context(), right, made.Store); err != nil {
		t.Errorf("the store's archive: %v", err)
	}
	if err := inUse(t.Context(), wrong, made.Store); err == nil || !strings.Contains(err.Error(), "are its bucket and prefix right?") {
		t.Errorf("an empty place: %v", err)
	}
	place := filepath.Join(server.Root(), name, "page")
	if err := errors.Join(os.Mkdir(place, 0o700), os.WriteFile(filepath.Join(place, "lost"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := inUse(t.Context(), wrong, made.Store); err != nil {
		t.Errorf("a place that somebody has given an object: %v", err)
	}
}
