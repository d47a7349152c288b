package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"recrawl/internal/store"
)

// errorWords explains SQLite's primary result codes in plain words to somebody who
// runs a crawler.
var errorWords = map[int]struct {
	kind  error
	words string
}{
	lib.SQLITE_BUSY:     {store.ErrUnavailable, "it is locked by another process"},
	lib.SQLITE_LOCKED:   {store.ErrUnavailable, "it is locked"},
	lib.SQLITE_READONLY: {store.ErrUnavailable, "it is not writable"},
	lib.SQLITE_PERM:     {store.ErrUnavailable, "access is denied"},
	lib.SQLITE_CANTOPEN: {store.ErrUnavailable, "it cannot be opened: check that its folder exists and is writable"},
	lib.SQLITE_IOERR:    {store.ErrUnavailable, "the disk fails"},
	lib.SQLITE_FULL:     {store.ErrFull, "the disk is full"},
	lib.SQLITE_CORRUPT:  {store.ErrUnavailable, "it is damaged: restore it from a backup"},
	lib.SQLITE_NOTADB:   {store.ErrForeign, "it is not a SQLite database"},
}

// resultCode is SQLite's primary code of an error, 0 for one that is not SQLite's.
func resultCode(err error) int {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return 0
	}
	return failure.Code() & 0xff
}

// DiskFails reports whether an error is that of the disk. A full one may be the cause: only a
// write to the store's own file says so.
func DiskFails(err error) bool {
	code := resultCode(err)
	return code == lib.SQLITE_IOERR || code == lib.SQLITE_CANTOPEN
}

// storeError is an error of SQLite of one of the store's kinds.
type storeError struct {
	kind  error
	words string
	cause error
}

func (e *storeError) Error() string { return fmt.Sprintf("%s: %v (%v)", e.words, e.kind, e.cause) }

func (e *storeError) Unwrap() []error { return []error{e.kind, e.cause} }

// interpretError turns an error of SQLite or database/sql, where callers decide on
// it, into one of the store's; it is the only place that knows their codes.
func interpretError(err error) error {
	var known *storeError
	if err == nil || errors.As(err, &known) {
		return err
	}
	if errors.Is(err, sql.ErrNoRows) {
		return store.ErrNotFound
	}
	if as, ok := errorWords[resultCode(err)]; ok {
		var failure *sqlite.Error
		errors.As(err, &failure)
		return &storeError{kind: as.kind, words: as.words, cause: failure}
	}
	return err
}

// translate is interpretError with the name of the file where it matters.
func (e *engine) translate(err error) error {
	var known *storeError
	if err = interpretError(err); errors.As(err, &known) {
		return fmt.Errorf("%s: %w", e.path, err)
	}
	return err
}
