//go:build unix

package postgres

import (
	"errors"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"recrawl/internal/store"
	"recrawl/internal/store/storetest/pgtest"
)

// TestFullDiskIsTold: the server itself is made to report a full disk.
func TestFullDiskIsTold(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for code, full := range map[string]bool{"disk_full": true, "too_many_connections": false} {
		_, err := conn.Exec(t.Context(), `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '`+code+`', MESSAGE = 'could not extend file'; END $$`)
		if err = interpretError(err); !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrFull) != full {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// TestPoolerRefuses: pgbouncer says everything with one code, and only a setting that it does not
// let pass is a mistake for which nobody should wait.
func TestPoolerRefuses(t *testing.T) {
	t.Parallel()
	for message, words := range map[string]string{
		"unsupported startup parameter: statement_timeout": "ignore_startup_parameters",
		"pgbouncer cannot connect to server":               "",
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				pooler := pgproto3.NewBackend(conn, conn)
				if _, err := pooler.ReceiveStartupMessage(); err == nil {
					pooler.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "08P01", Message: message})
					_ = pooler.Flush()
				}
				_ = conn.Close()
			}
		}()
		dsn := "postgres://u:secret@" + l.Addr().String() + "/x?sslmode=disable"
		if words != "" {
			wantOpenError(t, dsn, Options{}, store.ErrDenied, words)
		} else if _, err := Open(t.Context(), dsn, Options{}); !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrDenied) {
			t.Errorf("%s: %v", message, err)
		}
	}
}
