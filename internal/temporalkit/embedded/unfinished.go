package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"recrawl/internal/store/sqlite"
)

// removeUnfinished removes a database whose making was cut off, by a kill in the first second or
// a full disk. The server makes its tables one by one, each for good, and only where there is no
// file: at every later start some of them would be missing. No server has ever worked with
// such a database, so there is nothing in it. It runs while no server does.
func removeUnfinished(ctx context.Context, path string) (removed bool, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	unfinished, err := isUnfinished(ctx, path)
	if err != nil || !unfinished {
		return false, err
	}
	// The log first: the file alone has fewer tables, and is no more finished.
	for _, suffix := range []string{"-wal", "-shm", "-journal", ""} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("remove a database that was never finished: %w", err)
		}
	}
	return true, nil
}

// isUnfinished reports whether a database has no namespace yet: that is made last, when all tables
// and indexes are there, and their table first. A database that has other tables than we know is
// left alone.
func isUnfinished(ctx context.Context, path string) (unfinished bool, err error) {
	db, err := sqlite.OpenFile(ctx, path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	const namespaces = "namespaces"
	tables, err := texts(ctx, db, `SELECT name FROM sqlite_master`)
	switch {
	case err != nil:
		return false, err
	case len(tables) == 0:
		return true, nil
	case !slices.Contains(tables, namespaces):
		return false, nil
	}
	made, err := texts(ctx, db, `SELECT 'made' FROM `+namespaces+` LIMIT 1`)
	return err == nil && len(made) == 0, err
}
