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
		undone.Moved, err = sqlite.UndoUpgrade(ctx, path, now)
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
	if err := sqlite.CheckUndo(undone.Store); err != nil {
		return undone, err
	}
	// Temporal's database first: if it is cut off after that, the newer store goes on
	// with an empty one, and so does the older.
	for _, suffix := range []string{"", "-wal", "-shm"} {
		from := data.file(embedded.DatabaseName) + suffix
		to := fmt.Sprintf("%s.undone-%s%s", data.file(embedded.DatabaseName), now.UTC().Format("20060102T150405Z"), suffix)
		if err := os.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return undone, err
		}
	}
	undone.Moved, err = sqlite.UndoUpgrade(ctx, undone.Store, now)
	return undone, err
}
