// Package tsvector keeps a search index in the PostgreSQL database of a store: in a schema
// of its own for each store, which records its own format, so the store's migrations know nothing of it.
// The schema may be dropped at any time; it is filled again.
package tsvector

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"recrawl/internal/search"
)

// Schema is the schema of the tables of a store in the schema public. The name of any other
// begins with it: see schemaFor.
const Schema = "recrawl_search"

const (
	// format is the version of the tables and of the words in them. An index of an older
	// one is begun anew, since everything in it can be made again.
	format = 2
	// makeLock is the advisory lock under which tables are made: "rcsearch" in ASCII.
	makeLock = 0x7263736561726368
	// connections bounds what one index uses; each is opened when it is needed.
	connections = 4
)

// forAll are settings of each transaction. Every statement has an index for its conditions,
// and a plan that was made while a table was small stays for later; compiling one takes
// longer than running it.
const forAll = ", set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)"

// forQuestions are those of a query. The places of many pages fit into this memory; without
// it each would be looked at twice.
const forQuestions = forAll + ", set_config('work_mem', '64MB', true)"

// forChanges are those of a writer. The server first lists the words of new pages, and
// enters a whole list into the index at once. The longer the list, the more pages share the
// work for a word, but the more must be sorted: of 4, 16 and 32 MB the second was the
// fastest, in one run of each. Entering the list into a large index may take longer than a
// query may: only the wait for another writer is as short.
const forChanges = forAll + ", set_config('work_mem', '16MB', true), set_config('gin_pending_list_limit', '16MB', true), " +
	"set_config('statement_timeout', '10min', true), set_config('lock_timeout', '30s', true)"

// settings of each connection; the DSN may set its own. Filling an index reads pages in a
// transaction. Texts are UTF-8, whatever the user's or the database's encoding is.
var settings = map[string]string{
	"statement_timeout": "30s", "idle_in_transaction_session_timeout": "2min", "application_name": "recrawl search",
	"client_encoding": "UTF8",
}

// Options says how an index is opened.
type Options struct {
	// Store is the identity of the store whose pages the index holds.
	Store string
	// ReadOnly opens an index that exists, for queries only.
	ReadOnly bool
}

// Index implements search.Index.
type Index struct {
	pool *pgxpool.Pool
	tx   querier // what Together passes has a transaction of its own
	// schema is that of the tables, the only one that a transaction sees.
	schema string
}

var _ search.Index = (*Index)(nil)

// Open opens the index in a store's database, and makes its schema unless ReadOnly is set:
// then a missing one gives search.ErrNone.
func Open(ctx context.Context, dsn string, o Options) (*Index, error) {
	config, err := parseConfig(dsn)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, named(err)
	}
	var of string
	if err := pool.QueryRow(ctx, "SELECT COALESCE(current_schema(), 'public')").Scan(&of); err != nil {
		pool.Close()
		return nil, named(err)
	}
	x := &Index{pool: pool, schema: schemaFor(of)}
	open := x.claim
	if o.ReadOnly {
		open = x.check
	}
	if err := open(ctx, o.Store); err != nil {
		pool.Close()
		return nil, err
	}
	return x, nil
}

// parseConfig reads the DSN and adds our settings to it.
func parseConfig(dsn string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("search index: the store's DSN cannot be read") // the error may show its password
	}
	config.MaxConns = connections
	params := config.ConnConfig.RuntimeParams
	for name, value := range settings {
		if _, set := params[name]; !set && !strings.Contains(params["options"], name) {
			params[name] = value
		}
	}
	config.BeforeConnect = renewed(dsn)
	return config, nil
}

// renewed reads the files that a DSN names again before each connection, as the store does:
// passwords and certificates are replaced in them while a program runs.
func renewed(dsn string) func(context.Context, *pgx.ConnConfig) error {
	return func(_ context.Context, config *pgx.ConnConfig) error {
		// A file that is just being replaced may not be readable: what was read before serves then.
		if now, err := pgx.ParseConfig(dsn); err == nil {
			config.Password, config.TLSConfig, config.Fallbacks = now.Password, now.TLSConfig, now.Fallbacks
		}
		return nil
	}
}

// schemaFor names the schema of the index of a store by the store's own: a database may have a
// store in each of several, by search_path.
func schemaFor(store string) string {
	const most = 63 // bytes of an identifier; the server cuts off the rest
	switch {
	case store == "public":
		return Schema
	case len(Schema)+1+len(store) > most:
		digest := sha256.Sum256([]byte(store))
		store = hex.EncodeToString(digest[:16])
	}
	return Schema + "_" + store
}

// identifier is the name of the schema in a statement.
func (x *Index) identifier() string { return pgx.Identifier{x.schema}.Sanitize() }

// Close implements search.Index.
func (x *Index) Close() error {
	x.pool.Close()
	return nil
}

// SQLSTATE codes that mean something to callers.
const (
	codeQueryCanceled    = "57014" // statement_timeout
	codeLockNotAvailable = "55P03"
	codeDeadlock         = "40P01"
	codeNoPrivilege      = "42501"
)

// named translates an error of the database.
func named(err error) error {
	var failure *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &failure):
	case failure.Code == codeQueryCanceled, failure.Code == codeLockNotAvailable, failure.Code == codeDeadlock:
		err = fmt.Errorf("%w: %w", search.ErrBusy, err)
	case failure.Code == codeNoPrivilege:
		err = fmt.Errorf("the store's user may not keep the schema of the search index: have the database's owner GRANT CREATE ON DATABASE to it: %w: %w", search.ErrForeign, err)
	}
	return fmt.Errorf("search index: %w", err)
}

// querier is a transaction.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// read runs do in a transaction that sees one state, in the current one if there is one.
func (x *Index) read(ctx context.Context, do func(querier) error) error {
	return x.within(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, forQuestions, do)
}

// write runs do in a transaction, in the current one if there is one.
func (x *Index) write(ctx context.Context, do func(querier) error) error {
	return x.within(ctx, pgx.TxOptions{}, forChanges, do)
}

func (x *Index) within(ctx context.Context, o pgx.TxOptions, set string, do func(querier) error) error {
	if x.tx != nil {
		return do(x.tx)
	}
	return named(pgx.BeginTxFunc(ctx, x.pool, o, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT set_config('search_path', "+quoted(x.identifier())+", true)"+set); err != nil {
			return err
		}
		return do(tx)
	}))
}

// Together implements search.Index: the crawl's row is locked until the end.
func (x *Index) Together(ctx context.Context, crawl int64, do func(search.Index) error) error {
	if x.tx != nil {
		return do(x)
	}
	return x.write(ctx, func(tx querier) error {
		if err := lock(ctx, tx, crawl); err != nil {
			return err
		}
		return do(&Index{pool: x.pool, tx: tx, schema: x.schema})
	})
}

// lock makes the tables of a crawl if they are not there, and keeps others from changing it.
func lock(ctx context.Context, q querier, crawl int64) error {
	const own = "SELECT crawl FROM crawls WHERE crawl = $1 FOR UPDATE"
	var id int64
	err := q.QueryRow(ctx, own, crawl).Scan(&id)
	if !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if err := makeTables(ctx, q, crawl); err != nil {
		return err
	}
	return q.QueryRow(ctx, own, crawl).Scan(&id)
}

// each calls scan for each row of a query.
func each(ctx context.Context, q querier, scan func(pgx.Rows) error, query string, args ...any) error {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
