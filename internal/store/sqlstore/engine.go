// Package sqlstore is the one implementation of store.Store: all logic and all
// SQL, written once in the dialect that SQLite and PostgreSQL share, so that the
// drivers cannot drift apart. A driver supplies an Engine: connections,
// transactions, clock, notification, migrations.
package sqlstore

import (
	"context"
)

// Engine is a database as a driver offers it.
type Engine interface {
	Dialect() Dialect
	// Read runs fn in a read-only transaction (or snapshot).
	Read(ctx context.Context, fn func(Tx) error) error
	// Glance is Read for a few rows that every visit reads, such as those of one page. fn
	// must be brief, must not write, must not ask the engine for anything else, since writers
	// wait for it, and must tolerate that each of its statements sees a different state. SQLite:
	// on the one writer, since a connection forgets all that it has read whenever another one
	// commits. Postgres: without a transaction.
	Glance(ctx context.Context, fn func(Tx) error) error
	// Write runs fn in a read-write transaction and commits it durably if fn
	// returns nil. It runs fn again when the database asks for it (deadlock,
	// serialisation, busy), so fn must have no effect outside its transaction and must
	// reset the variables that it captures. SQLite: on the one writer, in a savepoint of a
	// transaction of all who wait. fn must not ask the engine for anything else.
	Write(ctx context.Context, fn func(Tx) error) error
	// WriteLazily is Write whose commit need not be durable when it returns. If the machine
	// stops, the newest of these transactions may be missing, but none that a later Write
	// followed. If only the process ends, none is missing. It is for changes that opening an
	// unclosed store makes good (see RestAllHosts); anybody who was told of such a change
	// may find it undone. SQLite: a commit without fsync. Postgres, whose other clients live
	// on: Write.
	WriteLazily(ctx context.Context, fn func(Tx) error) error
	// Watch returns a channel that receives after a committed transaction of any
	// process called Tx.Wake for the page, and a function that ends the watch.
	Watch(page int64) (<-chan struct{}, func())
	// Settled says how far a table can be read in the order of its ids: a transaction that
	// begins now sees all rows up to Settled.ID that will ever exist. SQLite: the highest id.
	// Postgres: see its implementation.
	Settled(ctx context.Context, table Ordered) (Settled, error)
	// Erase removes the traces of deleted rows from the files of the tables, by
	// rewriting them if rewrite is set. It waits for its turn among writers.
	Erase(ctx context.Context, rewrite bool, tables []string) error
	// Close marks the store as cleanly closed and ends all connections.
	Close() error
}

// Ordered is a table that is read in the order of its ids.
type Ordered string

// The ordered tables. Only short transactions may write to them: readers wait for all of those.
const (
	OrderedChanges Ordered = "changes" // see store.Feed
	OrderedPages   Ordered = "pages"   // see GrownPages of store.Guard
)

// Settled are places in a table.
type Settled struct {
	// ID: no row with this id or a lower one can still be committed. It is 0 unless Known: it
	// may say where a reader goes on, but not where the table ends now.
	ID    int64
	Known bool
	// Used is the highest id that was ever given to a row, committed or not.
	Used int64
}

// Tx is a transaction. Queries use $1, $2, … in order of use as placeholders;
// arguments are int64, int, float64, bool, string, []byte or nil. Times are
// int64 microseconds since 1970 UTC; booleans are stored as integers 0 and 1.
type Tx interface {
	// Exec returns the number of affected rows.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Queue is Exec for a statement whose result nobody needs. An engine may keep it back and
	// send it with the transaction's next statement, or with its commit, whose error may then be
	// this one's. Postgres: one round trip less.
	Queue(ctx context.Context, query string, args ...any) error
	// Query calls scan for each row.
	Query(ctx context.Context, query string, args []any, scan func(Row) error) error
	// QueryRow scans one row; store.ErrNotFound if there is none.
	QueryRow(ctx context.Context, query string, args []any, dest ...any) error
	// Pipeline runs queries in their order until one fails. None may need the rows of another:
	// on Postgres all are sent in one round trip.
	Pipeline(ctx context.Context, steps ...Step) error
	// Now is the store's clock at this moment (not at the transaction's begin), in
	// microseconds: read it after the row lock that it must be later than.
	Now(ctx context.Context) (int64, error)
	// Wake wakes watchers of the page, in all processes, after the commit.
	Wake(page int64)
}

// Row scans one result row.
type Row interface {
	Scan(dest ...any) error
}

// Dialect covers the differences between the databases' SQL.
type Dialect interface {
	// ForUpdate is " FOR UPDATE" where rows must be locked, else "".
	ForUpdate() string
	// ForKeyShare is " FOR KEY SHARE" where rows must be kept from being deleted,
	// else "".
	ForKeyShare() string
	// LockTable is a statement that locks a table until the transaction ends, shared
	// or exclusively, against others that lock it too; "" where a writer is alone
	// anyway.
	LockTable(table string, exclusive bool) string
	// Records is a FROM item named alias over a JSON array of objects in
	// placeholder $n, with the columns given as "name type", type one of bigint,
	// float, text. Example: Records(1, "r", "id bigint", "url text").
	Records(n int, alias string, columns ...string) string
	// Index follows a table in a FROM clause and makes the engine use the named index,
	// where its planner, which has no statistics, would choose another; else "". Without a
	// name that is the table's key.
	Index(name string) string
	// Within is a condition that columns, "a, b", have values, "$1, $2", in a query that is
	// ordered by an index on these columns and others. Postgres leaves columns with one value
	// out of the order, and may prefer an index on the others alone.
	Within(columns, values string) string
	// LookUp is a statement that makes the engine find rows by an index until the transaction
	// ends, even where its planner, which has wrong statistics, would read a whole table;
	// else "".
	LookUp() string
	// OfEach joins the rows before it with those of a table that meet a condition, up to a limit
	// of them for each: always by looking them up, however many the engine believes there are.
	// Alias is the table's name there, and in the condition.
	OfEach(table, alias, condition, limit string) string
	// Unhex is an expression that turns a hex text into bytes.
	Unhex(expr string) string
}

// Plain returns the arguments of a statement as the tables of both engines store
// them: booleans as 0 and 1.
func Plain(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		out[i] = arg
		if b, ok := arg.(bool); ok {
			out[i] = 0
			if b {
				out[i] = 1
			}
		}
	}
	return out
}
