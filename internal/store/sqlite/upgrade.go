package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"recrawl/internal/durable"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// beforeMark follows the store's name in the name of the copy that is kept before an
// upgrade. The number of the first migration that the copy lacks comes after it.
const beforeMark = ".before-"

// undoneMark follows it in the name of an upgraded store that was replaced by such a copy; the
// time comes after it.
const undoneMark = ".undone-"

// keepBefore copies a store of an older release before it is migrated. Only its owner may
// bring it up to date, so that no command does it beside a worker of that release.
func (e *engine) keepBefore(ctx context.Context, migrations []sqlstore.Migration) error {
	missing, begun := "", ""
	err := e.writer.query(ctx, "SELECT COUNT(*) FROM sqlite_master WHERE name = 'recrawl_migrations'", nil, func(row sqlstore.Row) error {
		var tables int
		if err := row.Scan(&tables); err != nil || tables == 0 {
			return err // a new store
		}
		missing = migrations[0].Name
		return nil
	})
	if err == nil && missing != "" {
		missing, begun, err = sqlstore.FirstMissing(ctx, &tx{session: e.writer}, migrations)
	}
	if err != nil || missing == "" {
		return e.named(err)
	}
	if !e.owner {
		return fmt.Errorf("%s is a store of an older recrawl: start its worker, or `starter dev`, once to bring it up to date: %w", e.path, store.ErrUnavailable)
	}
	if begun != "" {
		if _, err := os.Lstat(e.copyBefore(begun)); err == nil {
			return nil // that upgrade was cut off: a copy of now would be of no release
		}
	}
	to := e.copyBefore(missing)
	part := to + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep a copy of the store before its upgrade: %w", err)
	}
	err = Snapshot(ctx, e.path, part)
	if err == nil {
		err = durable.Place(part, to)
	}
	if err != nil {
		_ = os.Remove(part) // the error that counts is the first
		return fmt.Errorf("keep a copy of %s before its upgrade, which needs room for it on this disk: %w", e.path, err)
	}
	return e.dropOlder(to)
}

// copyBefore is where the copy is kept of a store that lacks the migration.
func (e *engine) copyBefore(migration string) string {
	number, _, _ := strings.Cut(migration, "_")
	return e.path + beforeMark + number
}

// dropOlder removes the copies of earlier upgrades.
func (e *engine) dropOlder(keep string) error {
	all, err := copiesBefore(e.path)
	for _, path := range all {
		if path != keep {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
}

// copiesBefore lists the copies that were kept before upgrades, the newest last.
func copiesBefore(path string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, entry := range entries {
		number, is := strings.CutPrefix(entry.Name(), filepath.Base(path)+beforeMark)
		if is && number != "" && strings.Trim(number, "0123456789") == "" {
			all = append(all, filepath.Join(filepath.Dir(path), entry.Name()))
		}
	}
	slices.Sort(all)
	return all, nil
}

// UndoUpgrade puts the copy that was kept before the last upgrade in the store's place,
// and returns where the replaced store is now. Nobody may have the store open: it calls first
// once that is sure, before it changes anything. If it is cut off, it goes on when it is called
// again. The error is store.ErrNotFound if there is no copy.
func UndoUpgrade(ctx context.Context, path string, now time.Time, first func() error) (undone string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	all, err := copiesBefore(path)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", fmt.Errorf("%s: no copy from before an upgrade: %w", path, store.ErrNotFound)
	}
	e := &engine{path: path}
	if err := e.takeOwnership(ctx); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, e.guard.close()) }()
	if err := first(); err != nil {
		return "", err
	}
	if _, err := os.Lstat(path); err == nil {
		// The store's log becomes part of it: the copy must not find it.
		if err := Rewrite(ctx, path, false); err != nil {
			return "", err
		}
		undone = path + undoneMark + now.UTC().Format("20060102T150405Z")
		if err := keepUndone(path, undone); err != nil {
			return "", err
		}
	}
	for _, suffix := range []string{"-wal", "-shm"} { // empty by now
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return undone, err
		}
	}
	return undone, durable.Place(all[len(all)-1], path)
}

// keepUndone gives the store that is to be replaced another name. It keeps its own until the copy
// takes that, where the file system has links: where a kill leaves no store, the next start
// would make an empty one.
func keepUndone(path, undone string) error {
	store, err := os.Stat(path)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, entry := range entries { // a call that was cut off has named it before
		if !strings.HasPrefix(entry.Name(), filepath.Base(path)+undoneMark) {
			continue
		}
		if info, err := entry.Info(); err == nil && os.SameFile(info, store) {
			if err := os.Remove(filepath.Join(filepath.Dir(path), entry.Name())); err != nil {
				return err
			}
		}
	}
	if os.Link(path, undone) == nil {
		return nil
	}
	return os.Rename(path, undone)
}
