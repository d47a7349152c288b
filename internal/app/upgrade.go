package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"recrawl/internal/cli"
	"recrawl/internal/store/sqlite"
	"recrawl/internal/temporalkit/embedded"
)

// UndoUpgrade implements cli.Backend.
func (Backend) UndoUpgrade(ctx context.Context, o cli.UndoOptions) (undone cli.Undone, err error) {
	now := time.Now()
	if path, ok := strings.CutPrefix(o.Store, "sqlite:"); ok {
		undone.Store = path
		undone.Moved, err = sqlite.UndoUpgrade(ctx, path, now, func() error { return nil })
		return undone, err
	}
	if _, err := os.Stat(o.Data); err != nil {
		return undone, fmt.Errorf("data folder: %w", err)
	}
	data, err := openDataDir(o.Data)
	if err != nil {
		return undone, err
	}
	defer func() { err = errors.Join(err, data.close()) }()
	undone.Store = data.file(storeFile)
	// Temporal's database first: if it is cut off after that, the newer store goes on
	// with an empty one, and so does the older.
	undone.Moved, err = sqlite.UndoUpgrade(ctx, undone.Store, now, func() error { return moveTemporal(data, now) })
	return undone, err
}

// moveTemporal gives the database of a data folder's Temporal another name.
func moveTemporal(data *dataDir, now time.Time) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		from := data.file(embedded.DatabaseName) + suffix
		to := fmt.Sprintf("%s.undone-%s%s", data.file(embedded.DatabaseName), now.UTC().Format("20060102T150405Z"), suffix)
		if err := os.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
