package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

const (
	// rewritePatience is how long a rewrite waits for another process's transaction,
	// and afterwards for a moment at which nobody reads.
	rewritePatience = time.Minute
	checkpointPause = 50 * time.Millisecond
)

// Erase implements sqlstore.Engine. Deleted rows are overwritten with zeros as they
// go (secure_delete), but when SQLite moves data from page to page, copies stay in
// the unused part of the old page: only rewriting the file gets rid of these.
func (e *engine) Erase(ctx context.Context, rewrite bool, _ []string) error {
	if e.writer == nil {
		return fmt.Errorf("%s was opened for reading only: %w", e.path, store.ErrUnavailable)
	}
	// Our own writers wait meanwhile; others' wait for SQLite.
	return e.ask(ctx, &request{alone: func() error { return Rewrite(ctx, e.path, rewrite) }})
}

// Rewrite writes a SQLite file anew, if asked to, and checkpoints its write-ahead
// log into it, so that deleted data is in neither. Other processes may have it
// open; their writes wait meanwhile. It needs room for the file twice, in the
// file's folder and in that of temporary files, and may be cut off.
func Rewrite(ctx context.Context, path string, anew bool) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	s, err := openSession(ctx, path, "rw", fmt.Sprintf("busy_timeout = %d", rewritePatience.Milliseconds()), "secure_delete = ON", "synchronous = FULL")
	if err != nil {
		return fmt.Errorf("%s: %w", path, interpretError(err))
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if anew {
		if _, err := s.exec(ctx, "VACUUM", nil); err != nil {
			return sayingWhere(fmt.Errorf("write %s anew: %w", path, interpretError(err)))
		}
	}
	return emptyLog(ctx, s, path)
}

// sayingWhere tells a person to whom the disk of the file seems to have room which one is full.
func sayingWhere(err error) error {
	if !errors.Is(err, store.ErrFull) {
		return err
	}
	return fmt.Errorf("%w; that takes as much room as the file has, in its folder and once more in that of temporary files, for which TMPDIR may name another disk", err)
}

// OpenFile opens a SQLite file of another program, which may have it open, to delete
// rows from it. It waits for that program's transactions as Rewrite does.
func OpenFile(ctx context.Context, path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	pragmas := url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", rewritePatience.Milliseconds()), "secure_delete(1)"}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", fileURI(path, "rw")+"&"+pragmas.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, interpretError(err)), db.Close())
	}
	return db, nil
}

// emptyLog brings the write-ahead log into the file and cuts it off. That takes a
// moment at which no other process reads or writes.
func emptyLog(ctx context.Context, s *session, path string) error {
	ctx, cancel := context.WithTimeout(ctx, rewritePatience)
	defer cancel()
	for {
		busy := 0
		err := s.query(ctx, "PRAGMA wal_checkpoint(TRUNCATE)", nil, func(row sqlstore.Row) error {
			var inLog, moved int
			return row.Scan(&busy, &inLog, &moved)
		})
		if err != nil {
			return fmt.Errorf("empty the write-ahead log of %s: %w", path, interpretError(err))
		}
		if busy == 0 {
			return nil
		}
		select {
		case <-time.After(checkpointPause):
		case <-ctx.Done():
			return fmt.Errorf("empty the write-ahead log of %s: another process has been reading it for %s: %w", path, rewritePatience, store.ErrUnavailable)
		}
	}
}
