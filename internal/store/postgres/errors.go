package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"recrawl/internal/store"
)

// SQLSTATE codes and classes that mean something to the store.
const (
	codeSerialization    = "40001"
	codeDeadlock         = "40P01"
	codeLockNotAvailable = "55P03"
	codeQueryCanceled    = "57014" // statement_timeout
	codeIdleTimeout      = "25P03" // idle_in_transaction_session_timeout
	codeReadOnly         = "25006" // a standby, or one that has become it
	codeDuplicateTable   = "42P07"
	codeUndefinedTable   = "42P01"
	codeDiskFull         = "53100"

	classConnection = "08"
	classAuth       = "28"
	classNoDatabase = "3D"
	classResources  = "53" // disk full, out of memory, too many connections
	classOperator   = "57" // shutting down, starting up
)

// storeError is a database error of one of the store's kinds.
type storeError struct {
	kind  error
	words string
	cause error
}

func (e *storeError) Error() string {
	return fmt.Sprintf("%s: %v (%s)", e.words, e.kind, oneLine(e.cause.Error()))
}

func (e *storeError) Unwrap() []error { return []error{e.kind, e.cause} }

// interpretError turns an error of pgx, where callers decide on it, into one of the
// store's; it is the only place that knows PostgreSQL's codes.
func interpretError(err error) error {
	var known *storeError
	var failure *pgconn.PgError
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, pgx.ErrNoRows):
		return store.ErrNotFound
	case errors.As(err, &failure):
		return interpretCode(failure, err)
	case isConnectionError(err):
		return &storeError{store.ErrUnavailable, "the database does not answer", err}
	}
	return err
}

// interpretCode is interpretError for the server's answer.
func interpretCode(failure *pgconn.PgError, err error) error {
	switch failure.Code {
	case codeSerialization, codeDeadlock, codeLockNotAvailable:
		return &storeError{store.ErrUnavailable, "the database is too busy", err}
	case codeQueryCanceled, codeIdleTimeout:
		return &storeError{store.ErrUnavailable, "the database took too long", err}
	case codeDiskFull:
		return &storeError{store.ErrFull, "the database's disk is full", err}
	case codeReadOnly:
		return &storeError{store.ErrUnavailable, "the database is read-only", err}
	case codeDuplicateTable, codeUndefinedTable:
		return &storeError{store.ErrForeign, "its tables are of another program, or damaged: give recrawl a database of its own", err}
	}
	switch failure.Code[:min(2, len(failure.Code))] {
	case classAuth:
		return &storeError{store.ErrDenied, "the database refuses the user", err}
	case classNoDatabase:
		return &storeError{store.ErrDenied, "there is no such database: create it first", err}
	case classConnection, classResources, classOperator:
		return &storeError{store.ErrUnavailable, "the database cannot serve", err}
	}
	return err
}

// isConflict reports whether the server ended the transaction in favour of
// another: it changed nothing and may succeed when run again.
func isConflict(err error) bool {
	var failure *pgconn.PgError
	if !errors.As(err, &failure) {
		return false
	}
	return failure.Code == codeSerialization || failure.Code == codeDeadlock || failure.Code == codeLockNotAvailable
}

// isConnectionError reports whether an error comes from the connection to the
// server, and not from the caller giving up.
func isConnectionError(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &connect): // also when it ran into its own time limit
		return true
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	}
	return errors.As(err, &network) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// oneLine makes a message of several lines one.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
