package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/cli"
	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
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

// TestCopiedFolder: a command on a copy of a data folder reaches the copy alone, and not the
// original's Temporal server, which has the address in the copied file.
func TestCopiedFolder(t *testing.T) {
	t.Parallel()
	orig, copied := t.TempDir(), t.TempDir()
	stores, crawls := map[string]store.Store{}, map[string]int64{}
	spec := crawl.DefaultSpec()
	spec.Name = "news"
	for _, dir := range []string{orig, copied} {
		stores[dir] = crawltest.OpenStore(t, filepath.Join(dir, storeFile))
		rec, err := stores[dir].OpenCrawl(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		crawls[dir] = rec.ID
		crawltest.Page(t, stores[dir], rec, store.NewURL{URL: "https://host.test/"})
		if err := (&dataDir{path: dir}).writeState(config.DevState{
			Store: "sqlite:" + filepath.Join(orig, storeFile), Archive: filepath.Join(orig, archiveDir), TemporalAddress: "127.0.0.1:1",
		}); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs strings.Builder
	starter := func(args ...string) int {
		out.Reset()
		errs.Reset()
		return cli.Main(t.Context(), append([]string{"--data", copied}, args...), cli.Env{Backend: Backend{}, Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }})
	}
	if code := starter("hosts", "block", "host.test"); code != 0 {
		t.Fatal(errs.String())
	}
	if code := starter("status", "news"); code != 0 {
		t.Error(errs.String())
	}
	for dir, want := range map[string]bool{orig: false, copied: true} {
		hosts, err := stores[dir].ListHosts(t.Context(), store.HostFilter{CrawlID: crawls[dir], Limit: 2})
		if err != nil || len(hosts) != 1 || hosts[0].Blocked != want {
			t.Errorf("%s: %+v, %v: want blocked %v", dir, hosts, err, want)
		}
	}
	for _, args := range [][]string{{"delete", "news", "--yes", "--keep-archive"}, {"visit", "https://host.test/"}} {
		code := starter(args...)
		if want := "was copied or moved from " + orig; code == 0 || !strings.Contains(errs.String(), want) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s: exit code %d, %q, want %q", args, code, errs.String(), want)
		}
	}
}
