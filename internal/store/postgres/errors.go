package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
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
	codeTooMany          = "53300" // connections
	codeNoPrivilege      = "42501"
	codeProtocol         = "08P01" // also whatever pgbouncer has to say
	codeShutdown         = "57P01" // also pg_terminate_backend
	codeCrashShutdown    = "57P02"
	codeIdleSession      = "57P05" // idle_session_timeout

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
	var connect *pgconn.ConnectError
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, pgx.ErrNoRows):
		return store.ErrNotFound
	case errors.As(err, &failure) && errors.As(err, &connect):
		return interpretRefusal(failure, err)
	case errors.As(err, &failure):
		return interpretCode(failure, err)
	case distrust(err) != "":
		return &storeError{store.ErrDenied, distrust(err), err}
	case isConnectionError(err):
		return &storeError{store.ErrUnavailable, "the database does not answer", err}
	}
	return err
}

// interpretRefusal is interpretError for a server that does not take a connection. Without
// a reason that passes, it is the user or the DSN that is wrong.
func interpretRefusal(failure *pgconn.PgError, err error) error {
	if failure.Code == codeNoPrivilege {
		return &storeError{store.ErrDenied, "the user may not connect to the database: have its owner GRANT CONNECT ON DATABASE to it", err}
	}
	// Of pgbouncer's refusals, only this one does not pass by itself.
	if failure.Code == codeProtocol && strings.Contains(failure.Message, "startup parameter") {
		return &storeError{store.ErrDenied, "the connection pooler refuses a setting: have pgbouncer ignore both time-outs (ignore_startup_parameters = " +
			"statement_timeout, idle_in_transaction_session_timeout), and give them to the user (ALTER ROLE … SET …), as docs/operations.md says", err}
	}
	var known *storeError
	if told := interpretCode(failure, err); errors.As(told, &known) {
		return told
	}
	return &storeError{store.ErrDenied, "the database refuses the connection: correct the DSN", err}
}

// distrust says why no connection is safe enough for the DSN, or "". Waiting does not help.
// The driver has no type for a server without TLS.
func distrust(err error) string {
	var certificate *tls.CertificateVerificationError
	switch {
	case strings.Contains(err.Error(), "server refused TLS connection"):
		return "the database speaks no TLS, and the DSN asks for it: turn it on there, or correct sslmode"
	case strings.Contains(err.Error(), "remote error: tls:"):
		return "the database does not take our certificate: give sslcert and sslkey in the DSN one that is valid and that it knows"
	case errors.As(err, &certificate):
		return "the database's certificate is not one that we trust: correct sslrootcert, sslmode or the host in the DSN"
	}
	return ""
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
	case codeNoPrivilege:
		return &storeError{store.ErrDenied, "the user may not do this in the database: make it the owner, or have the owner GRANT it the right (CREATE on the schema, for the tables; SELECT and USAGE ON ALL SEQUENCES, for their numbers)", err}
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

// isLockTimeout reports whether a statement waited for a table longer than it may.
func isLockTimeout(err error) bool {
	var failure *pgconn.PgError
	return errors.As(err, &failure) && failure.Code == codeLockNotAvailable
}

// isReadOnly reports whether the server takes no writes: it changed nothing.
func isReadOnly(err error) bool {
	var failure *pgconn.PgError
	return errors.As(err, &failure) && failure.Code == codeReadOnly
}

// isCrowded reports whether the server takes no further connection, since it, the database or
// the user has as many as it may. Those that there are work.
func isCrowded(err error) bool {
	var failure *pgconn.PgError
	return errors.As(err, &failure) && failure.Code == codeTooMany
}

// isConnectionError reports whether an error comes from the connection to the
// server, and not from the caller giving up.
func isConnectionError(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.Is(err, errSilent):
		return true
	case errors.As(err, &connect): // also when it ran into its own time limit
		return true
	case isEnded(err):
		return true
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	}
	return errors.As(err, &network) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// silent is the error of a server that does not answer any more.
func silent() error {
	return &storeError{store.ErrUnavailable, "the database does not answer", errSilent}
}

// isConnectTimeout reports whether a connection could not be made in all the time for that. Whoever
// waits, perhaps a person, has waited long enough.
func isConnectTimeout(err error) bool {
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) && errors.Is(err, context.DeadlineExceeded)
}

// late is the error of what the caller gave no more time for.
func late(err error) error {
	var known *storeError
	if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &known) {
		return err
	}
	return &storeError{store.ErrUnavailable, "the database did not answer in time", err}
}

// isEnded reports whether the server ended the connection, as when it is stopped.
func isEnded(err error) bool {
	var failure *pgconn.PgError
	return errors.As(err, &failure) && slices.Contains([]string{codeShutdown, codeCrashShutdown, codeIdleSession}, failure.Code)
}

// oneLine makes a message of several lines one.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
