package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"recrawl/internal/store/sqlite"
	"recrawl/internal/temporaldb"
)

// sweepLimit is how long the Temporal server may take to bring its lists up to date
// after workflows were deleted.
const (
	sweepLimit = time.Minute
	sweepPause = 200 * time.Millisecond
)

var errTemporalSlow = errors.New("the Temporal server has not brought its lists up to date: is it overloaded?")

// eraseTemporal removes from the files of a data folder's Temporal server what deleting
// workflows by its API has left there: tasks that name them, deleted rows in the
// unused parts of its database, and lines of its log. The server runs meanwhile.
func eraseTemporal(ctx context.Context, data string, texts []string, rewrite bool) error {
	path := filepath.Join(data, temporalFile)
	if err := sweepTemporal(ctx, path, texts); err != nil {
		return err
	}
	if err := sqlite.Rewrite(ctx, path, rewrite); err != nil {
		return err
	}
	return eraseLines(filepath.Join(data, temporalLog), texts)
}

func sweepTemporal(ctx context.Context, path string, texts []string) (err error) {
	db, err := sqlite.OpenFile(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx, cancel := context.WithTimeoutCause(ctx, sweepLimit, errTemporalSlow)
	defer cancel()
	for {
		swept, err := temporaldb.Sweep(ctx, db, texts)
		if err == nil && swept.Waiting == 0 {
			return nil
		}
		if err == nil {
			select {
			case <-time.After(sweepPause):
				continue
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
}

// eraseLines takes the lines with one of the texts out of a log that another process
// may be appending to. A line that it appends at this very moment may be lost.
func eraseLines(path string, texts []string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !containsAny(text, texts) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("erase from the log: %w", err)
	}
	var kept []byte
	for line := range bytes.Lines(text) {
		if !containsAny(line, texts) {
			kept = append(kept, line...)
		}
	}
	// In place: whoever appends has it open.
	if err := os.WriteFile(path, kept, 0o600); err != nil {
		return fmt.Errorf("erase from the log: %w", err)
	}
	return nil
}
