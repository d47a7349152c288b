//go:build unix

package postgres

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
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

// TestOpenSaysWhoseCertificateIsRefused: a database that does not take our certificate, such as
// one that has expired, does not begin to while we wait.
func TestOpenSaysWhoseCertificateIsRefused(t *testing.T) {
	lender := httptest.NewTLSServer(http.NotFoundHandler()) // of a certificate
	defer lender.Close()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	defer served.Wait()
	defer l.Close()
	config := &tls.Config{Certificates: lender.TLS.Certificates, ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := io.ReadFull(conn, make([]byte, 8)); err == nil { // it asks for TLS
				if _, err := conn.Write([]byte("S")); err == nil && tls.Server(conn, config).HandshakeContext(t.Context()) != nil {
					_, _ = io.Copy(io.Discard, conn) // else the refusal may not arrive
				}
			}
			_ = conn.Close() // nothing is pending
		}
	})
	wantOpenError(t, "postgres://u:secret@"+l.Addr().String()+"/x?sslmode=require", Options{}, store.ErrDenied, "does not take our certificate")
}
