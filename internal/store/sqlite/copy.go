package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// Snapshot copies the store in a file, as it is at one moment, to a file that must not
// exist. Other processes may write meanwhile: their log grows until it is done. The
// copy is one file without a log. It looks as if its owner had been killed, so that
// hosts rest before its first request: nobody knows of the requests since. The store
// may be of any release. A failed copy leaves a file that is no store.
func Snapshot(ctx context.Context, path, to string) (err error) {
	if to, err = filepath.Abs(to); err != nil {
		return err
	}
	source, err := openCopy(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	f, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // VACUUM takes an empty file
	if err == nil {
		err = errors.Join(f.Chmod(0o600), f.Close())
	}
	if err != nil {
		return err
	}
	s := <-source.idle
	_, err = s.exec(ctx, "VACUUM INTO $1", []any{to})
	source.idle <- s
	if err != nil {
		return source.notCopied(to, err)
	}
	return unclean(ctx, to)
}

// notCopied is an error of a copy. It is the copy's disk that is full, not the store's.
func (e *engine) notCopied(to string, err error) error {
	if full := interpretError(err); errors.Is(full, store.ErrFull) {
		return fmt.Errorf("%s: %w", to, full)
	}
	return e.translate(err)
}

// unclean marks a copy as left by an owner that was killed.
func unclean(ctx context.Context, path string) (err error) {
	s, err := openSession(ctx, path, "rw", "journal_mode = DELETE", "synchronous = FULL")
	if err != nil {
		return fmt.Errorf("%s: %w", path, interpretError(err))
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if _, err := s.exec(ctx, "UPDATE owner SET clean = $1", []any{false}); err != nil {
		return fmt.Errorf("%s: %w", path, interpretError(err))
	}
	return nil
}

// NewEpoch gives the change feed of a restored store another epoch; see store.Feed. A copy
// from a release without a feed gets its first epoch when it is opened.
func NewEpoch(ctx context.Context, path string) (err error) {
	s, err := openSession(ctx, path, "rw", "journal_mode = DELETE", "synchronous = FULL")
	if err != nil {
		return fmt.Errorf("%s: %w", path, interpretError(err))
	}
	defer func() { err = errors.Join(err, s.close()) }()
	has, err := s.hasTable(ctx, "feed")
	if err == nil && has {
		_, err = s.exec(ctx, "UPDATE feed SET epoch = lower(hex(randomblob(8)))", nil)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, interpretError(err))
	}
	return nil
}

// Copy is a copy of a store that is open for reading.
type Copy struct {
	*sqlstore.Store
	id string
}

// ID is the identity of the store, "" if the copy is from before stores had one.
func (c Copy) ID() string { return c.id }

// OpenCopy opens a copy of a store, of whatever release, to ask for its contents.
func OpenCopy(ctx context.Context, path string) (Copy, error) {
	e, err := openCopy(ctx, path)
	if err != nil {
		return Copy{}, err
	}
	c := Copy{Store: sqlstore.New(e, sqlstore.Options{ReadOnly: true})}
	if c.id, err = identity(ctx, e); err != nil {
		return Copy{}, errors.Join(fmt.Errorf("open store: %w", err), c.Close())
	}
	return c, nil
}

// identity reads the identity from a store of whatever release.
func identity(ctx context.Context, e *engine) (id string, err error) {
	s := <-e.idle
	defer func() { e.idle <- s }()
	if has, err := s.hasTable(ctx, "settings"); !has || err != nil {
		return "", e.translate(err)
	}
	err = s.query(ctx, "SELECT value FROM settings WHERE name = 'identity'", nil, func(row sqlstore.Row) error { return row.Scan(&id) })
	return id, e.translate(err)
}

func (s *session) hasTable(ctx context.Context, name string) (bool, error) {
	tables := 0
	err := s.query(ctx, "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = $1", []any{name}, func(row sqlstore.Row) error { return row.Scan(&tables) })
	return tables > 0, err
}

// openCopy opens a store for reading without looking at its release.
func openCopy(ctx context.Context, path string) (*engine, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	e := &engine{path: absolute, idle: make(chan *session, readers), closed: make(chan struct{})}
	if err := e.checkFile(ctx); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := e.openReaders(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), e.abandon())
	}
	return e, nil
}

// checkFile makes sure that a file to be read exists and is a store.
func (e *engine) checkFile(ctx context.Context) error {
	if _, err := os.Stat(e.path); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: no such store: %w", e.path, store.ErrNotFound)
	}
	s, err := e.connect(ctx, "ro")
	if err != nil {
		return err
	}
	id, tables, err := e.identify(ctx, s)
	if err = errors.Join(err, s.close()); err != nil {
		return err
	}
	if id != applicationID || tables == 0 {
		return e.foreign()
	}
	return nil
}
