package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"recrawl/internal/store/sqlite"
)

// sweepLimit is how long the Temporal server may take to bring its lists up to date
// after workflows were deleted.
const (
	sweepLimit = time.Minute
	sweepPause = 200 * time.Millisecond
)

var errSlow = errors.New("the Temporal server has not brought its lists up to date: is it overloaded?")

// Erase removes from the files of a data folder's Temporal server the traces that
// deleting workflows by its API leaves there: tasks that name them, deleted rows in
// the unused parts of its database, and lines of its log. The server runs
// meanwhile.
func Erase(ctx context.Context, data string, texts []string, rewrite bool) error {
	files := In(data)
	if err := sweep(ctx, files.Database, texts); err != nil {
		return err
	}
	if err := sqlite.Rewrite(ctx, files.Database, rewrite); err != nil {
		return err
	}
	return eraseLines(files.Log, texts)
}

func sweep(ctx context.Context, path string, texts []string) (err error) {
	db, err := sqlite.OpenFile(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx, cancel := context.WithTimeoutCause(ctx, sweepLimit, errSlow)
	defer cancel()
	for {
		swept, err := Sweep(ctx, db, texts)
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

// eraseLines removes the lines with one of the texts from a log that another process
// may be appending to. A line that it appends at this very moment may be lost.
func eraseLines(path string, texts []string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !Mentions(text, texts) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("erase from the log: %w", err)
	}
	var kept []byte
	for line := range bytes.Lines(text) {
		if !Mentions(line, texts) {
			kept = append(kept, line...)
		}
	}
	// In place: the appending process has it open.
	if err := os.WriteFile(path, kept, 0o600); err != nil {
		return fmt.Errorf("erase from the log: %w", err)
	}
	return nil
}

// Mentions reports whether a file's or a message's bytes hold one of the texts.
func Mentions(data []byte, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(data, []byte(text)) })
}
