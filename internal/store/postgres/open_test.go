//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
	"recrawl/internal/store/storetest/pgtest"
)

func testEngine(t *testing.T, dsn string) *engine {
	t.Helper()
	e, err := openEngine(t.Context(), dsn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// run executes statements in one transaction.
func run(t *testing.T, e *engine, statements ...string) {
	t.Helper()
	err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
		for _, statement := range statements {
			if _, err := tx.Exec(t.Context(), statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantOpenError checks that a database does not open, and why.
func wantOpenError(t *testing.T, dsn string, opts Options, kind error, words string) {
	t.Helper()
	s, err := Open(t.Context(), dsn, opts)
	if err == nil {
		t.Fatal(errors.Join(errors.New("the database was opened"), s.Close()))
	}
	if kind != nil && !errors.Is(err, kind) {
		t.Errorf("error %q is not %q", err, kind)
	}
	if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, words) || strings.Contains(text, "secret") {
		t.Errorf("error %q: want one line with %q and no password", err, words)
	}
}

func TestOpenAtOnceMigratesOnce(t *testing.T) {
	dsn := pgtest.DSN(t)
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() {
			s, err := Open(t.Context(), dsn, Options{})
			if err == nil {
				err = s.Close()
			}
			errs[i] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefusesForeignDatabases(t *testing.T) {
	theirs := pgtest.DSN(t)
	e := testEngine(t, theirs)
	run(t, e, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public", "CREATE TABLE pages (title text)")
	wantOpenError(t, theirs, Options{}, store.ErrForeign, "a database of its own")
	wantOpenError(t, theirs, Options{ReadOnly: true}, store.ErrNotFound, "no store")

	newer := pgtest.DSN(t)
	run(t, testEngine(t, newer), "INSERT INTO recrawl_migrations VALUES ('9999_future', 1)")
	for _, opts := range []Options{{}, {ReadOnly: true}} { // as the next release leaves it
		s, err := Open(t.Context(), newer, opts)
		if err != nil {
			t.Fatalf("one release newer: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	run(t, testEngine(t, newer), "UPDATE settings SET value = '9998_present' WHERE name = 'compatible'")
	wantOpenError(t, newer, Options{}, store.ErrForeign, "9999_future")
	wantOpenError(t, newer, Options{ReadOnly: true}, store.ErrForeign, "9999_future")
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	dsn := pgtest.DSN(t)
	wantOpenError(t, "postgres://u:secret@127.0.0.1:1/x?connect_timeout=2", Options{}, store.ErrUnavailable, "does not answer")
	wantOpenError(t, "postgres://u:secret@:bad/x", Options{}, nil, "DSN")
	none := strings.Replace(dsn, "recrawl_test_", "no_such_", 1)
	wantOpenError(t, none, Options{}, store.ErrUnavailable, "no such database")
	wantOpenError(t, dsn, Options{ReadOnly: true}, store.ErrNotFound, "no store")
}

// A database in an encoding that has not all letters is refused before it has tables.
func TestOpenRefusesOtherEncodings(t *testing.T) {
	dsn := pgtest.DSN(t)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { _ = conn.Close(ctx) })
	database := conn.Config().Database
	for _, encoding := range []string{"SQL_ASCII", "LATIN1"} {
		other := strings.ToLower(encoding) + "_" + database
		if _, err := conn.Exec(ctx, "CREATE DATABASE "+other+" ENCODING '"+encoding+"' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if _, err := conn.Exec(ctx, "DROP DATABASE "+other+" (FORCE)"); err != nil {
				t.Error(err)
			}
		})
		at := strings.Replace(dsn, "/"+database, "/"+other, 1)
		wantOpenError(t, at, Options{}, store.ErrDenied, "createdb -E UTF8 -T template0")
		wantOpenError(t, at, Options{ReadOnly: true}, store.ErrNotFound, "no store")
	}
}

// A database that answers, and does not take us, is not one that is away: waiting for it
// does not help.
func TestOpenSaysWhoRefuses(t *testing.T) {
	dsn := pgtest.DSN(t)
	with := func(name, value string) string {
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		query := u.Query()
		query.Set(name, value)
		u.RawQuery = query.Encode()
		return u.String()
	}
	wantOpenError(t, with("sslmod", "x"), Options{}, store.ErrDenied, "correct the DSN")
	wantOpenError(t, with("sslmode", "require"), Options{}, store.ErrDenied, "speaks no TLS")

	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.WithoutCancel(t.Context())
	execute := func(statement string) {
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	t.Cleanup(func() { _ = conn.Close(ctx) })
	database := conn.Config().Database
	user := "user_of_" + database
	execute("CREATE ROLE " + user + " LOGIN")
	t.Cleanup(func() { execute("DROP ROLE " + user) })
	testEngine(t, dsn)
	execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + user)
	reader, err := Open(t.Context(), with("user", user), Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Changes(t.Context(), store.ChangesParams{CrawlID: 1}); !errors.Is(err, store.ErrDenied) || !strings.Contains(err.Error(), "USAGE ON ALL SEQUENCES") {
		t.Errorf("changes without the right to their numbers: %v", err)
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC")
	execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	wantOpenError(t, with("user", user), Options{}, store.ErrDenied, "CREATE on the schema")
	execute("REVOKE CONNECT ON DATABASE " + database + " FROM PUBLIC")
	wantOpenError(t, with("user", user), Options{}, store.ErrDenied, "GRANT CONNECT ON DATABASE")
}

// Whatever is wrong with a DSN, the part that might be its password is not repeated.
func TestWrongDSNIsNotQuoted(t *testing.T) {
	for _, c := range []struct{ dsn, want string }{
		{"postgres://u:hunter2@h:x/db", "invalid port"},
		{"postgres://u:hun@ter2@h/db?sslmode=bad", "sslmode is invalid"},
		{"postgres://u:hunter2%zz@h/db", "percent-encoded"},
		{"postgres://u hunter2@h/db", "spaces"},
		{"postgres://hunter2@h:99999999/db", "invalid port"},
		{"postgres://h/db?options=password=hunter2&sslmode=x", "separator"},
		{"postgres://u:hunter2@h/db?connect_timeout=hunter2", "invalid connect_timeout"},
		{"postgres://u:hunter2@h/db?pool_max_conns=hunter2", "pool_max_conns"},
		{"postgres://u:hun`ter2@h:x`: hunter2/db", "cannot be read"},
		{"host=h password=hunter2 port=x", "invalid port"},
	} {
		_, err := parseConfig(c.dsn)
		if err == nil || strings.Contains(err.Error(), "hun") || strings.Contains(err.Error(), "ter2") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q and no password", c.dsn, err, c.want)
		}
	}
}

// TestConnections: a process has enough connections on a small machine, unless the DSN gives
// their number.
func TestConnections(t *testing.T) {
	for dsn, want := range map[string]int32{
		"postgres://u@h/db":                                    max(leastConnections, int32(runtime.NumCPU())),
		"postgres://u@h/db?pool_max_conns=3":                   3,
		"host=h dbname=db pool_max_conns=40":                   40,
		"host=h dbname=db application_name='pool_max_conns=3'": max(leastConnections, int32(runtime.NumCPU())),
	} {
		config, err := parseConfig(dsn)
		if err != nil || config.MaxConns != want {
			t.Errorf("%s: %+v, %v; want %d connections", dsn, config, err, want)
		}
	}
}

func TestReadOnlyReads(t *testing.T) {
	dsn := pgtest.DSN(t)
	testEngine(t, dsn)
	s, err := Open(t.Context(), dsn, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ListCrawls(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.ListCrawls(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("read after close: %v", err)
	}
}

func TestSettings(t *testing.T) {
	dsn := pgtest.DSN(t)
	// As servers have it; those of tests have it off.
	err := testEngine(t, dsn).Write(t.Context(), func(tx sqlstore.Tx) error {
		_, err := tx.Exec(t.Context(), `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET jit = on', current_database());
			EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database());
			EXECUTE format('ALTER DATABASE %I SET client_encoding = LATIN1', current_database()); END $$`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	show := func(dsn, name string) string {
		var value string
		e := testEngine(t, dsn)
		err := e.Read(t.Context(), func(tx sqlstore.Tx) error { return tx.QueryRow(t.Context(), "SHOW "+name, nil, &value) })
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	for _, c := range []struct{ query, name, want string }{
		{"", "statement_timeout", "10s"},
		{"", "idle_in_transaction_session_timeout", "11s"},
		{"&statement_timeout=3s", "statement_timeout", "3s"},
		{"&options=-c%20statement_timeout%3D4s", "statement_timeout", "4s"},
		{"", "application_name", "recrawl"},
		{"&application_name=mine", "application_name", "mine"},
		{"", "client_encoding", "UTF8"},
		{"", "jit", "off"},
		{"&jit=on", "jit", "on"},
		{"&options=-c%20jit%3Don", "jit", "on"},
		{"", "synchronous_commit", "local"},
		{"&synchronous_commit=off", "synchronous_commit", "off"},
		{"&jit=on&synchronous_commit=remote_apply", "synchronous_commit", "remote_apply"},
		{"", "tcp_keepalives_idle", "30"},
		{"", "tcp_keepalives_interval", "10"},
		{"", "tcp_keepalives_count", "3"},
		{"", "tcp_user_timeout", "60000"},
		{"&tcp_keepalives_idle=7&tcp_user_timeout=0", "tcp_keepalives_idle", "7"},
		{"&tcp_keepalives_idle=7&tcp_user_timeout=0", "tcp_user_timeout", "0"},
	} {
		if got := show(dsn+c.query, c.name); got != c.want {
			t.Errorf("%s with DSN %q: %s, want %s", c.name, c.query, got, c.want)
		}
	}
	e := testEngine(t, dsn)
	err = e.Read(t.Context(), func(tx sqlstore.Tx) error {
		if _, err := tx.Exec(t.Context(), "SET LOCAL statement_timeout = '20ms'"); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), "SELECT pg_sleep(3600)")
		return err
	})
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a statement beyond its time: %v", err)
	}
}

// TestConnectionsToAStandbyAreLeft: connections that a failover left at a server without writes
// are given up, since new ones may reach the one that takes them.
func TestConnectionsToAStandbyAreLeft(t *testing.T) {
	dsn := pgtest.DSN(t)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	e := testEngine(t, dsn+"&pool_max_conns=1")
	write := func() error {
		return e.Write(t.Context(), func(tx sqlstore.Tx) error {
			return tx.Queue(t.Context(), "INSERT INTO hosts (host) VALUES ('a') ON CONFLICT DO NOTHING")
		})
	}
	set := func(change string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), "ALTER DATABASE "+conn.Config().Database+" "+change); err != nil {
			t.Fatal(err)
		}
	}
	set("SET default_transaction_read_only = on") // for later connections
	e.pool.Reset()
	if err := write(); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a write to a standby: %v", err)
	}
	if _, err := sqlstore.New(e, sqlstore.Options{}).ListCrawls(t.Context()); err != nil { // leaves a connection
		t.Fatal(err)
	}
	set("RESET default_transaction_read_only")
	if err := write(); err != nil {
		t.Errorf("a write after the failover: %v", err)
	}
}

// TestEndedConnectionsAreLeft: a transaction that gets a connection that the server has ended, and
// did not commit, is run again on another one.
func TestEndedConnectionsAreLeft(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	e := testEngine(t, dsn+"&pool_max_conns=1")
	killer := connect(t, dsn)
	runs := 0
	err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
		var pid int
		if err := tx.QueryRow(t.Context(), "SELECT pg_backend_pid()", nil, &pid); err != nil {
			return err
		}
		if runs++; runs == 1 {
			// It waits until the process has ended.
			if _, err := killer.Exec(t.Context(), "SELECT pg_terminate_backend($1, 600000)", pid); err != nil {
				return err
			}
		}
		_, err := tx.Exec(t.Context(), "INSERT INTO hosts (host) VALUES ($1)", "a")
		return err
	})
	if err != nil || runs != 2 {
		t.Errorf("%d runs, %v; want a second one that succeeds", runs, err)
	}
}

// TestFullServerLeavesConnections: where the server takes no further connection, a transaction waits for
// one that this process has. It once gave up soon, and had closed those that worked.
func TestFullServerLeavesConnections(t *testing.T) {
	t.Parallel()
	server, err := pgtest.Start(t.Context(), "max_connections=3", "superuser_reserved_connections=0", "max_wal_senders=0", "autovacuum=off")
	if err != nil {
		t.Fatal(err)
	}
	stops(t, server)
	config, err := parseConfig(server.DSN())
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{}, 100)
	config.BeforeConnect = func(context.Context, *pgx.ConnConfig) error {
		asked <- struct{}{}
		return nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(pool)
	t.Cleanup(func() { _ = e.Close() })
	run(t, e, "CREATE TABLE t (n INT)")
	<-asked
	process := func() (pid int64) {
		t.Helper()
		if err := pool.QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
			t.Error(err)
		}
		return pid
	}
	before := process()
	connect(t, server.DSN())
	connect(t, server.DSN())
	write := func(then func()) error {
		return e.Write(t.Context(), func(tx sqlstore.Tx) error {
			_, err := tx.Exec(t.Context(), "INSERT INTO t VALUES ($1)", 1)
			then()
			return err
		})
	}
	has, release, first, second := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan error, 1)
	go func() { first <- write(func() { close(has); <-release }) }()
	<-has
	go func() { second <- write(func() {}) }()
	for range connectionTries + 1 {
		select {
		case <-asked:
		case err := <-second:
			close(release)
			t.Fatalf("gave up: %v", errors.Join(err, <-first))
		}
	}
	close(release)
	if err := errors.Join(<-first, <-second); err != nil {
		t.Error(err)
	}
	if after := process(); after != before {
		t.Errorf("the connection of process %d was closed for one of %d", before, after)
	}
}

func TestDeadlockIsRunAgain(t *testing.T) {
	for _, queued := range []bool{false, true} { // the second statement, which then goes with COMMIT
		t.Run(fmt.Sprintf("queued=%t", queued), func(t *testing.T) { deadlock(t, queued) })
	}
}

func deadlock(t *testing.T, queued bool) {
	e := testEngine(t, pgtest.DSN(t)+"&deadlock_timeout=20ms")
	run(t, e, "INSERT INTO hosts (host) VALUES ('a'), ('b')")
	var both, done sync.WaitGroup
	both.Add(2)
	errs := make([]error, 2)
	runs := make([]int, 2)
	for i, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		done.Go(func() {
			errs[i] = e.Write(t.Context(), func(tx sqlstore.Tx) error {
				runs[i]++
				const update = "UPDATE hosts SET crawl_delay = crawl_delay + 1 WHERE host = $1"
				for k, host := range order {
					if queued && k == 1 {
						return tx.Queue(t.Context(), update, host)
					}
					if _, err := tx.Exec(t.Context(), update, host); err != nil {
						return err
					}
					if k == 0 && runs[i] == 1 { // both have their first row: the second is a deadlock
						both.Done()
						both.Wait()
					}
				}
				return nil
			})
		})
	}
	done.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	// One that is run again may be quicker than the one that waits for its row: another deadlock.
	if runs[0]+runs[1] < 3 {
		t.Errorf("runs %v: want one of the two repeated", runs)
	}
	var sum int
	err := e.Read(t.Context(), func(tx sqlstore.Tx) error {
		return tx.QueryRow(t.Context(), "SELECT SUM(crawl_delay)::bigint FROM hosts", nil, &sum)
	})
	if err != nil || sum != 4 {
		t.Errorf("sum %d, %v; want 4: each transaction once", sum, err)
	}
}

func TestWakeReachesOtherProcesses(t *testing.T) {
	dsn := pgtest.DSN(t)
	here, there := testEngine(t, dsn), testEngine(t, dsn)
	woken, unwatch := there.Watch(42)
	defer unwatch()
	receive := func(what string) {
		t.Helper()
		select {
		case <-woken:
		case <-time.After(10 * time.Minute): // only ends a hang
			t.Fatalf("not woken %s", what)
		}
	}
	wake := func() {
		t.Helper()
		err := here.Write(t.Context(), func(tx sqlstore.Tx) error {
			tx.Wake(42)
			tx.Wake(43)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	receive("when the listener is there")
	wake()
	receive("by another process")
	run(t, here, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`)
	receive("when the listener is there again")
	wake()
	receive("after the listener's connection was lost")
}

func TestNowIsAfterTheLock(t *testing.T) {
	e := testEngine(t, pgtest.DSN(t))
	err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
		first, err := tx.Now(t.Context())
		if err != nil {
			return err
		}
		second, err := tx.Now(t.Context())
		if err == nil && second <= first {
			t.Errorf("the clock stands still within a transaction: %d, %d", first, second)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFilesAreReadAtEachConnection: a program connects with the password, and by that with the
// certificates, that are in the files of its DSN by then.
func TestFilesAreReadAtEachConnection(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pgpass")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("*:*:*:*:first")
	config, err := parseConfig("postgres://u@127.0.0.1:1/db?sslmode=disable&passfile=" + url.QueryEscape(file))
	if err != nil {
		t.Fatal(err)
	}
	connect := func() string {
		own := config.ConnConfig.Copy()
		if err := config.BeforeConnect(t.Context(), own); err != nil {
			t.Fatal(err)
		}
		return own.Password
	}
	if got := connect(); got != "first" {
		t.Errorf("at first it is %q", got)
	}
	write("*:*:*:*:second")
	if got := connect(); got != "second" {
		t.Errorf("after it was replaced it is %q", got)
	}
}

// TestEraseReadsTheFilesAgain: its connection is none of the pool's, and is made like those.
func TestEraseReadsTheFilesAgain(t *testing.T) {
	config, err := parseConfig("postgres://u@127.0.0.1:1/db?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	errRead := errors.New("the files were read")
	config.BeforeConnect = func(context.Context, *pgx.ConnConfig) error { return errRead }
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(pool)
	if err := e.Erase(t.Context(), false, []string{"pages"}); !errors.Is(err, errRead) {
		t.Errorf("erased with what was read at the start: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
