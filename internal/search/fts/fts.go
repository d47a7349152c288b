// Package fts keeps a search index in a SQLite file of its own, beside the store's: filling
// it never waits for the store's writer, or makes it wait. The file may be deleted at any
// time; it is filled again.
package fts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"recrawl/internal/search"
)

// Name is the file's name, in the store's folder.
const Name = "search.db"

const (
	// applicationID marks our files in their header: "rcrs".
	applicationID = 0x72637273
	// format is the version of the tables and of the words in them. An index of an older
	// one is begun anew, since everything in it can be made again.
	format = 1
)

// Options says how an index is opened.
type Options struct {
	// Store is the identity of the store whose pages the index holds.
	Store string
	// ReadOnly opens an index that exists, for queries only.
	ReadOnly bool
}

// Index implements search.Index.
type Index struct {
	db   *sql.DB
	path string
	tx   *sql.Conn // what Together passes has a transaction of its own
}

var _ search.Index = (*Index)(nil)

// Open opens the index in a file, which it makes unless ReadOnly is set: then a missing
// file gives search.ErrNone.
func Open(ctx context.Context, path string, o Options) (*Index, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("search index %s: %w", path, err)
	}
	mode := "ro"
	if o.ReadOnly {
		if _, err := os.Stat(absolute); errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", absolute, search.ErrNone)
		}
	} else {
		mode = "rwc"
		makeFile(absolute)
	}
	db, err := sql.Open("sqlite", uri(absolute, mode))
	if err != nil {
		return nil, fmt.Errorf("search index %s: %w", absolute, err)
	}
	x := &Index{db: db, path: absolute}
	check := x.claim
	if o.ReadOnly {
		check = x.check
	}
	if err := check(ctx, o.Store); err != nil {
		return nil, errors.Join(x.named(err), db.Close())
	}
	return x, nil
}

// makeFile makes a file that other users cannot read, if there is none. The log of a
// deleted one must be removed first: it would be taken for the new file's.
func makeFile(path string) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		_ = os.Remove(path + "-wal")
		_ = os.Remove(path + "-shm")
	}
	if f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_ = f.Chmod(0o600)
		_ = f.Close()
	}
}

// uri names a file so that no character of its path has another meaning. Deleted content is
// overwritten. A commit that a power loss undoes is made again, since the cursor is lost
// with it.
func uri(path, mode string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive letter
	}
	q := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(10000)", "synchronous(NORMAL)", "secure_delete(ON)", "temp_store(MEMORY)", "cache_size(-32000)"}}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}).String()
}

// Close implements search.Index.
func (x *Index) Close() error { return x.db.Close() }

// named adds the file's name to an error, and translates it.
func (x *Index) named(err error) error {
	if err == nil {
		return nil
	}
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xFF {
		case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
			err = fmt.Errorf("%w: %w", search.ErrBusy, err)
		case codes.SQLITE_NOTADB, codes.SQLITE_CORRUPT:
			err = fmt.Errorf("%w: delete the file, and it is filled again: %w", search.ErrForeign, err)
		}
	}
	return fmt.Errorf("search index %s: %w", x.path, err)
}

// read runs do on a connection, in the transaction if there is one.
func (x *Index) read(ctx context.Context, do func(*sql.Conn) error) error {
	if x.tx != nil {
		return do(x.tx)
	}
	conn, err := x.db.Conn(ctx)
	if err != nil {
		return x.named(err)
	}
	return x.named(errors.Join(do(conn), conn.Close()))
}

// write runs do in a transaction, in the current one if there is one.
func (x *Index) write(ctx context.Context, do func(*sql.Conn) error) error {
	if x.tx != nil {
		return do(x.tx)
	}
	return x.read(ctx, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		err := do(conn)
		if err == nil {
			_, err = conn.ExecContext(ctx, "COMMIT")
		}
		if err != nil {
			// The caller's time may be over. SQLite may have ended the transaction itself.
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		}
		return err
	})
}

// Together implements search.Index. The one transaction is for all crawls of the file.
func (x *Index) Together(ctx context.Context, _ int64, do func(search.Index) error) error {
	return x.write(ctx, func(conn *sql.Conn) error { return do(&Index{db: x.db, path: x.path, tx: conn}) })
}

// exec runs a statement.
func exec(ctx context.Context, conn *sql.Conn, query string, args ...any) error {
	_, err := conn.ExecContext(ctx, query, args...)
	return err
}

// each calls scan for each row of a query.
func each(ctx context.Context, conn *sql.Conn, scan func(*sql.Rows) error, query string, args ...any) (err error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
