//go:build unix

package postgres

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
	"recrawl/internal/store/storetest/pgtest"
)

// older makes a store that lacks the last migrations, and returns those.
func older(t *testing.T, dsn string, lacks int) []sqlstore.Migration {
	t.Helper()
	all, err := sqlstore.Migrations(migrationFiles)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	statements := "CREATE TABLE recrawl_migrations (name TEXT PRIMARY KEY, applied_at BIGINT NOT NULL);"
	for _, m := range all[:len(all)-lacks] {
		statements += m.SQL + "; INSERT INTO recrawl_migrations VALUES ('" + m.Name + "', 1);"
	}
	if _, err := conn.Exec(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return all[len(all)-lacks:]
}

// TestOnlyWorkersUpgrade: a command of a newer release does not upgrade the store below the
// workers, which may be of a release that cannot go on.
func TestOnlyWorkersUpgrade(t *testing.T) {
	dsn := pgtest.DSN(t)
	missing := older(t, dsn, 3)
	for _, opts := range []Options{{}, {ReadOnly: true}} {
		wantOpenError(t, dsn, opts, store.ErrUnavailable, missing[0].Name)
	}
	s, err := Open(t.Context(), dsn, Options{Upgrade: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	testEngine(t, dsn)
}

// TestUpgradeLetsOthersPass: an upgrade that has to wait for a long transaction, such as that of
// pg_dump, does not keep the workers from the tables meanwhile.
func TestUpgradeLetsOthersPass(t *testing.T) {
	dsn := pgtest.DSN(t)
	missing := older(t, dsn, 20) // the first alters a table
	conn := func() *pgx.Conn {
		c, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close(t.Context()) })
		return c
	}
	dump, worker := conn(), conn()
	begun, err := dump.Begin(t.Context())
	if err == nil {
		_, err = begun.Exec(t.Context(), "LOCK TABLE steering, crawls, host_crawls, versions, frontier, hosts IN ACCESS SHARE MODE")
	}
	if err != nil {
		t.Fatal(err)
	}
	// It ends, while the dump goes on.
	wantOpenError(t, dsn, Options{Upgrade: true}, store.ErrUnavailable, "pg_dump")
	if _, err := worker.Exec(t.Context(), "SET lock_timeout = '1ms'; SELECT COUNT(*) FROM steering"); err != nil {
		t.Errorf("a worker waits: %v", err)
	}
	if err := begun.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), dsn, Options{Upgrade: true})
	if err != nil {
		t.Fatal(errors.Join(err, errors.New(missing[0].Name)))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
