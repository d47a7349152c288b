package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/cli"
	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
)

// A command with the wrong store does nothing to the crawl of that name in the right one, and makes
// no store.
func TestCommandsWithTheWrongStore(t *testing.T) {
	t.Parallel()
	_, address := contracttest.DevServerAt(t)
	k := newKept(t)
	k.at.Temporal = cli.TemporalOptions{Address: address, Store: k.at.Store}
	c, err := dialTemporal(t.Context(), k.at.Temporal)
	k.must(err)
	t.Cleanup(c.Close)
	flows, err := newFlowClient(c, k.at.Temporal).starting(t.Context())
	k.must(err)
	name := k.Record.Spec.Name
	k.must(flows.RestartCrawl(t.Context(), []byte(`{}`), contract.CrawlProgress{Name: name}, false))

	folder := t.TempDir()
	at := func(file string) cli.Target {
		target := k.at
		target.Store = "sqlite:" + filepath.Join(folder, file)
		target.Temporal.Store = target.Store
		return target
	}
	other, err := openStore(t.Context(), at("other.db").Store, storeOwn, "")
	k.must(err)
	k.must(other.Close())
	for _, change := range []cli.Change{cli.Pause, cli.Stop, cli.Resume, cli.Rank} {
		if said, err := (Backend{}).ChangeCrawl(t.Context(), at("other.db"), name, change); err == nil || !strings.Contains(err.Error(), "is of store") {
			t.Errorf("%s by another store: %q, %v", change, said, err)
		}
		if said, err := (Backend{}).ChangeCrawl(t.Context(), at("none.db"), name, change); !errors.Is(err, cli.ErrNoStoreThere) {
			t.Errorf("%s by no store: %q, %v", change, said, err)
		}
	}
	for what, do := range map[string]func(at cli.Target) error{
		"block": func(at cli.Target) error {
			_, err := (Backend{}).SetBlocked(t.Context(), at, "a.example", true)
			return err
		},
		"delete": func(at cli.Target) error {
			_, err := (Backend{}).Delete(t.Context(), at, name, cli.DeleteOptions{Dry: true})
			return err
		},
		"repair": func(at cli.Target) error {
			_, err := (Backend{}).Repair(t.Context(), at, name, func(cli.Repaired) {})
			return err
		},
		"adopt": func(at cli.Target) error { _, err := (Backend{}).Adopt(t.Context(), at, nil, true); return err },
		"back up": func(at cli.Target) error {
			into := filepath.Join(folder, "backup")
			_, err := (Backend{}).Backup(t.Context(), at, into, cli.BackupOptions{})
			if _, made := os.Stat(into); made == nil {
				t.Errorf("a backup's folder is left behind")
			}
			return err
		},
		"read": func(at cli.Target) error { _, err := (Backend{}).OpenStore(t.Context(), at.Store); return err },
	} {
		for _, file := range []string{"none.db", filepath.Join("nowhere", "none.db")} {
			err := do(at(file))
			if !errors.Is(err, cli.ErrNoStoreThere) || !strings.Contains(err.Error(), file+": name the right one with --store or RECRAWL_STORE") {
				t.Errorf("%s with %s: %v", what, file, err)
			}
			if _, err := os.Stat(filepath.Join(folder, file)); err == nil {
				t.Errorf("%s made %s", what, file)
			}
		}
	}
}
