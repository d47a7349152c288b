package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"recrawl/internal/config"
	"recrawl/internal/store"
)

// A --data whose folder has a store is not passed over because of RECRAWL_STORE.
func TestDataBesideAStore(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, config.StateFile), []byte(`{"store":"sqlite:/d/recrawl.db"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const other, same = "sqlite:x.db", "sqlite:/d/recrawl.db"
	for _, c := range []struct {
		store string
		args  []string
		code  int
	}{
		{other, []string{"status", "--data", folder}, ExitUsage},
		{other, []string{"delete", "news", "--yes", "--data", folder}, ExitUsage},
		{other, []string{"status", "--data", folder, "--store", "sqlite:y.db"}, ExitOK},
		{other, []string{"status", "--data", t.TempDir()}, ExitOK},
		{other, []string{"version", "--data", folder}, ExitOK},
		{same, []string{"status", "--data", folder}, ExitOK},
		{"", []string{"status", "--data", folder}, ExitOK},
	} {
		b := &fakeBackend{}
		got := starterEnv(t, b, map[string]string{config.EnvStore: c.store}, c.args...)
		if got.code != c.code || c.code != ExitOK && len(b.calls) > 0 {
			t.Errorf("%v with %q: %+v, asked %q", c.args, c.store, got, b.calls)
		}
		if c.code != ExitOK {
			checkLine(t, got.errOut, "has a store of its own, and RECRAWL_STORE names another: unset that, or leave --data out")
		}
	}
	b := &fakeBackend{}
	if got := starterEnv(t, b, map[string]string{config.EnvStore: other, config.EnvData: folder}, "status"); got.code != ExitOK {
		t.Errorf("both in variables: %+v", got)
	}
}

// Where no worker has made the store yet, a crawl can be started; what reads it exits as for a crawl
// that does not exist.
func TestNoStoreThere(t *testing.T) {
	t.Parallel()
	none := fmt.Errorf("%w at x.db", ErrNoStoreThere)
	if code := exitCode(none); code != ExitNotFound {
		t.Errorf("exits with %d", code)
	}
	b := &fakeBackend{}
	lookup := func(context.Context, string) (store.CrawlRecord, error) { return store.CrawlRecord{}, none }
	_, err := crawlRequest{name: "news", urls: []string{"https://example.com/"}}.apply(t.Context(), lookup, &fakeClient{b})
	if err != nil || len(b.specs) != 1 || b.specs[0].Name != "news" {
		t.Errorf("%v, started %+v", err, b.specs)
	}
}
