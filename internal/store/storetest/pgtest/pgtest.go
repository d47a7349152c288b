//go:build unix

// Package pgtest gives tests a private PostgreSQL: a throw-away server from the
// installed binaries, or the one that RECRAWL_TEST_POSTGRES names, and a fresh
// database for each test. Tests only.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// EnvDSN names a running server's DSN to be used instead of one of our own. Its
// user must be allowed to create databases.
const EnvDSN = "RECRAWL_TEST_POSTGRES"

// shared is the test binary's server, started by the first test that needs it.
var shared struct {
	sync.Mutex
	server *Server
	err    error
	stay   []string // databases that are removed at the end
}

// databases numbers the databases of this process.
var databases atomic.Int64

// Main runs a package's tests and stops the server afterwards, if a test started
// one. Call it from TestMain.
func Main(m *testing.M) {
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if err := cleanUp(); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// cleanUp removes the server, or from one that is not ours the databases that stayed.
func cleanUp() error {
	if shared.server != nil {
		return shared.server.Stop()
	}
	var errs []error
	for _, name := range shared.stay {
		errs = append(errs, execute(context.Background(), os.Getenv(EnvDSN), dropDatabase(name)))
	}
	return errors.Join(errs...)
}

// DSN creates an empty database for one test, removes it after the test, and
// returns its DSN. It fails the test when there is no PostgreSQL, and skips it among
// the quick ones (-short).
func DSN(t testing.TB) string {
	t.Helper()
	base := testServer(t)
	dsn, name, err := createDatabase(t.Context(), base)
	if err != nil {
		t.Fatalf("create a test database: %v", err)
	}
	t.Cleanup(func() {
		if err := execute(context.Background(), base, dropDatabase(name)); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	return dsn
}

// testServer is the DSN of the server for a test. It fails the test when there is no
// PostgreSQL, and skips it among the quick ones.
func testServer(t testing.TB) string {
	t.Helper()
	if _, isTest := t.(*testing.T); isTest && testing.Short() {
		t.Skip("-short: no Postgres server")
	}
	base, err := baseDSN(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return base
}

func createDatabase(ctx context.Context, base string) (dsn, name string, err error) {
	name = fmt.Sprintf("recrawl_test_%d_%d", os.Getpid(), databases.Add(1))
	if err := execute(ctx, base, "CREATE DATABASE "+name); err != nil {
		return "", "", err
	}
	dsn, err = withDatabase(base, name)
	return dsn, name, err
}

func dropDatabase(name string) string { return "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)" }

// baseDSN is the DSN of the server that this test binary uses.
func baseDSN(ctx context.Context) (string, error) {
	if dsn := os.Getenv(EnvDSN); dsn != "" {
		return dsn, nil
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		// The server outlives the test that happened to be first.
		shared.server, shared.err = Start(context.WithoutCancel(ctx))
	}
	if shared.err != nil {
		return "", shared.err
	}
	return shared.server.DSN(), nil
}

// execute runs statements on a separate connection.
func execute(ctx context.Context, dsn, statements string) error {
	return connected(ctx, dsn, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statements)
		return err
	})
}

// connected gives f a separate connection.
func connected(ctx context.Context, dsn string, f func(conn *pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // what f says counts
	return f(conn)
}

// withDatabase replaces the database of a DSN in either of its two forms.
func withDatabase(dsn, name string) (string, error) {
	if !strings.Contains(dsn, "://") {
		return dsn + " dbname=" + name, nil // the last one counts
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return "", fmt.Errorf("%s is not a URL: %w", EnvDSN, err)
	}
	u.Path = "/" + name
	return u.String(), nil
}
