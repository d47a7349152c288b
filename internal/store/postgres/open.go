// Package postgres is the cluster's store: sqlstore on a PostgreSQL database
// that any number of processes share. Besides it, only package tsvector imports pgx.
package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
	"recrawl/internal/urlkey"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrationLock is the advisory lock under which one process at a time migrates:
// "recrawl" in ASCII.
const migrationLock = 0x7265637261776c

// Options say how a database is opened.
type Options struct {
	// ReadOnly opens a store that exists for questions only.
	ReadOnly bool
	// Upgrade brings a store of an older release up to date. Workers do, and no command
	// beside workers of that release, which may not be able to go on.
	Upgrade bool
	// Grouping; see sqlstore.Options.
	Grouping urlkey.Grouping
	// Log is told what people should know; nil for nobody.
	Log *slog.Logger
}

// timeouts bound how long a lost or stuck process can hold up others; the DSN may
// set its own. They let the transaction of a stopped process last little longer
// than its statements.
var timeouts = map[string]string{
	"statement_timeout":                   "10s",
	"idle_in_transaction_session_timeout": "11s",
}

// leastConnections is how many connections a process may have, if the DSN does not say: more
// than the driver's one for each core and four at least. A transaction keeps its connection
// for a dozen round trips, in each of which it waits for a processor here and at the server.
// docs/decisions.md has what four and twelve cost on two busy cores.
const leastConnections = 12

// lockPatience is how long a migration waits for a table. Whoever asks for the table meanwhile
// queues behind the migration: a pg_dump that reads all tables for an hour would stop all
// workers for that time.
const lockPatience = time.Second

// Open opens the store in a PostgreSQL database, given as a URL or in libpq's
// keyword form, and makes its tables, or brings them up to date if Upgrade is
// set. Errors wrap store.ErrUnavailable when the server cannot be reached, or when an older
// release made the store and Upgrade is not set or has to wait; store.ErrForeign when the
// database belongs to another program or a newer recrawl; and store.ErrNotFound when
// ReadOnly is set and there is no store in it.
func Open(ctx context.Context, dsn string, opts Options) (store.Store, error) {
	e, err := openEngine(ctx, dsn, opts)
	if err != nil {
		return nil, err
	}
	s, err := sqlstore.Open(ctx, e, sqlstore.Options{Grouping: opts.Grouping, Log: opts.Log, ReadOnly: opts.ReadOnly})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), e.Close())
	}
	return s, nil
}

func openEngine(ctx context.Context, dsn string, opts Options) (*engine, error) {
	config, err := parseConfig(dsn)
	if err != nil {
		return nil, err
	}
	migrations, err := sqlstore.Migrations(migrationFiles)
	if err != nil {
		return nil, err
	}
	at := fmt.Sprintf("%s:%d/%s", config.ConnConfig.Host, config.ConnConfig.Port, config.ConnConfig.Database)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", at, interpretError(err))
	}
	e := newEngine(pool)
	if opts.ReadOnly {
		err = e.check(ctx, migrations)
	} else if err = e.checkEncoding(ctx); err == nil {
		err = e.migrate(ctx, migrations, opts.Upgrade)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", at, late(err)), e.Close())
	}
	return e, nil
}

// parseConfig reads the DSN and adds our time-outs to it.
func parseConfig(dsn string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("the store's DSN is wrong: %s", unquoted(oneLine(err.Error()), dsn))
	}
	if !namesConnections(dsn) {
		config.MaxConns = max(config.MaxConns, leastConnections)
	}
	params := config.ConnConfig.RuntimeParams
	for name, value := range timeouts {
		if _, set := params[name]; !set && !strings.Contains(params["options"], name) {
			params[name] = value
		}
	}
	if _, set := params["client_encoding"]; !set && !strings.Contains(params["options"], "client_encoding") {
		params["client_encoding"] = "UTF8" // whatever the user's or the database's is
	}
	if params["application_name"] == "" {
		params["application_name"] = "recrawl"
	}
	if config.ConnConfig.ConnectTimeout <= 0 {
		config.ConnConfig.ConnectTimeout = connectLimit
	}
	config.PingTimeout = pingLimit
	config.AfterConnect = afterConnect(params, silenceBeyond)
	config.BeforeConnect = renewed(dsn)
	return config, nil
}

// sessionSettings are made after a connection was, unless the DSN names what they set: they are
// no parameters of its start, which pgbouncer would refuse.
var sessionSettings = []struct{ name, statement string }{
	// Compiling a statement takes tens of milliseconds, and ours take one.
	{"jit", "SELECT set_config('jit', 'off', false)"},
	// A server that keeps what is committed only in memory forgets in a crash that a request was
	// begun, and would let another one to the same host begin beside it.
	{"synchronous_commit", "SELECT set_config('synchronous_commit', 'local', false) WHERE current_setting('synchronous_commit') = 'off'"},
	// A server looks whether a quiet client is still there after two hours. One that vanished between
	// two packets of a message keeps its locks until then: no time-out of the server's counts there.
	{"tcp_keepalives_idle", "SELECT set_config('tcp_keepalives_idle', '30', false)"},
	{"tcp_keepalives_interval", "SELECT set_config('tcp_keepalives_interval', '10', false)"},
	{"tcp_keepalives_count", "SELECT set_config('tcp_keepalives_count', '3', false)"},
	// The same for one that vanished while it was sent something: a quarter of an hour.
	{"tcp_user_timeout", "SELECT set_config(name, '60000', false) FROM pg_settings WHERE name = 'tcp_user_timeout'"},
}

// statementLimit is a statement for the milliseconds that statements may run for, 0 for ever.
const statementLimit = "SELECT setting FROM pg_settings WHERE name = 'statement_timeout'"

// afterConnect returns the function that makes the settings of a new session, and notes how long
// the server may be silent in it.
func afterConnect(params map[string]string, beyond time.Duration) func(context.Context, *pgx.Conn) error {
	var statements []string
	for _, s := range sessionSettings {
		if _, set := params[s.name]; !set && !strings.Contains(params["options"], s.name) {
			statements = append(statements, s.statement)
		}
	}
	query := strings.Join(append(statements, statementLimit), "; ")
	return func(ctx context.Context, conn *pgx.Conn) error {
		ctx, cancel := context.WithTimeout(ctx, connectLimit)
		defer cancel()
		results, err := conn.PgConn().Exec(ctx, query).ReadAll()
		if err != nil {
			return err
		}
		if last := results[len(results)-1]; len(last.Rows) == 1 {
			noteSilence(conn.PgConn(), string(last.Rows[0][0]), beyond)
		}
		return nil
	}
}

// renewed reads the files that a DSN names again before each connection: a program runs for
// longer than many certificates and passwords are valid, and those are replaced in their files.
func renewed(dsn string) func(context.Context, *pgx.ConnConfig) error {
	return func(_ context.Context, config *pgx.ConnConfig) error {
		// Files that are being replaced may not be readable for a moment: what was read before
		// serves as long as it is valid.
		if now, err := pgx.ParseConfig(dsn); err == nil {
			config.Password, config.TLSConfig, config.Fallbacks = now.Password, now.TLSConfig, now.Fallbacks
		}
		return nil
	}
}

// connectAlone makes a connection outside of the pool, with what the files of the DSN hold now.
func connectAlone(ctx context.Context, config *pgxpool.Config) (*pgx.Conn, error) {
	own := config.ConnConfig.Copy()
	if config.BeforeConnect != nil {
		if err := config.BeforeConnect(ctx, own); err != nil {
			return nil, err
		}
	}
	return pgx.ConnectConfig(ctx, own)
}

// namesConnections reports whether a DSN says how many connections there may be: what is for
// the pool is an unknown parameter to the driver.
func namesConnections(dsn string) bool {
	config, err := pgx.ParseConfig(dsn)
	return err == nil && config.RuntimeParams["pool_max_conns"] != ""
}

// quotes are the texts that an error of pgx quotes: the DSN, without what pgx takes
// for the password, and the faulty part.
var quotes = regexp.MustCompile("`.*`|\"(?:[^\"\\\\]|\\\\.)*\"")

// unquoted removes quotations of the DSN from a problem: where the DSN is wrong,
// its password may be anywhere.
func unquoted(problem, dsn string) string {
	if strings.ContainsAny(dsn, "`\"") {
		return "it cannot be read" // nor is it clear where a quote of it ends
	}
	return strings.TrimPrefix(quotes.ReplaceAllLiteralString(problem, "…"), "cannot parse …: ")
}

// migrate makes the tables of a new store, and brings those of an older one up to date if
// upgrade is set.
func (e *engine) migrate(ctx context.Context, migrations []sqlstore.Migration, upgrade bool) error {
	if !upgrade {
		if err := e.checkNotOlder(ctx, migrations); err != nil {
			return err
		}
	}
	return sqlstore.Migrate(context.WithValue(ctx, unhurried{}, true), e.writeAlone, migrations)
}

// checkNotOlder makes sure that the database is empty, or holds a store that lacks nothing.
func (e *engine) checkNotOlder(ctx context.Context, migrations []sqlstore.Migration) error {
	return e.Read(ctx, func(tx sqlstore.Tx) error {
		exists, err := hasStore(ctx, tx)
		if err != nil || !exists {
			return err
		}
		return sqlstore.CheckMigrated(ctx, tx, migrations)
	})
}

func hasStore(ctx context.Context, tx sqlstore.Tx) (exists bool, err error) {
	err = tx.QueryRow(ctx, "SELECT to_regclass('recrawl_migrations') IS NOT NULL", nil, &exists)
	return exists, err
}

// writeAlone is Write for migrations: one process at a time, for as long as it
// takes, except for a table: see lockPatience.
func (e *engine) writeAlone(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return e.Write(ctx, func(tx sqlstore.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", migrationLock)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d", lockPatience.Milliseconds())); err != nil {
			return err
		}
		err := fn(tx)
		if isLockTimeout(err) { // not tried again at once: others must get at the table in between
			return &storeError{store.ErrUnavailable, "the upgrade waits for a long transaction in the database, such as a pg_dump", errors.New(err.Error())}
		}
		return err
	})
}

// checkEncoding makes sure that the database can hold the web's texts. In another encoding than
// UTF-8 a write fails once it has a letter that is not in it, each time that it is tried.
func (e *engine) checkEncoding(ctx context.Context) error {
	return e.Glance(ctx, func(tx sqlstore.Tx) error {
		var encoding string
		if err := tx.QueryRow(ctx, "SHOW server_encoding", nil, &encoding); err != nil {
			return err
		}
		if encoding != "UTF8" {
			return fmt.Errorf("the database's encoding is %s, and the web's texts need UTF8: give recrawl a database that is made with createdb -E UTF8 -T template0 (pg_dump and psql move a store there): %w",
				encoding, store.ErrDenied)
		}
		return nil
	})
}

// check makes sure that the database holds a store of this version.
func (e *engine) check(ctx context.Context, migrations []sqlstore.Migration) error {
	return e.Read(ctx, func(tx sqlstore.Tx) error {
		exists, err := hasStore(ctx, tx)
		if err != nil {
			return err
		}
		if !exists {
			return fmt.Errorf("there is no store in this database: %w", store.ErrNotFound)
		}
		return sqlstore.CheckMigrated(ctx, tx, migrations)
	})
}
