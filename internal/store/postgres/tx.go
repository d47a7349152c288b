package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"recrawl/internal/store/sqlstore"
)

// tx is a sqlstore.Tx in a transaction, which begins together with its first statement:
// one round trip for both.
type tx struct {
	pool  *pgxpool.Pool
	opts  pgx.TxOptions
	begun pgx.Tx // nil before the first statement
	woken []int64
}

// Exec implements sqlstore.Tx. Without arguments the query may be several
// statements.
func (t *tx) Exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	if t.begun == nil && len(args) > 0 {
		err := t.first(ctx, query, args, func(results pgx.BatchResults) error {
			tag, err := results.Exec()
			n = tag.RowsAffected()
			return err
		})
		return n, err
	}
	if t.begun == nil {
		if t.begun, err = t.pool.BeginTx(ctx, t.opts); err != nil {
			return 0, interpretError(err)
		}
	}
	return statements{t.begun}.Exec(ctx, query, args...)
}

// Query implements sqlstore.Tx.
func (t *tx) Query(ctx context.Context, query string, args []any, scan func(sqlstore.Row) error) error {
	if t.begun != nil {
		return statements{t.begun}.Query(ctx, query, args, scan)
	}
	return t.first(ctx, query, args, func(results pgx.BatchResults) error {
		rows, _ := results.Query() // each returns its error
		return each(rows, scan)
	})
}

// QueryRow implements sqlstore.Tx.
func (t *tx) QueryRow(ctx context.Context, query string, args []any, dest ...any) error {
	if t.begun != nil {
		return statements{t.begun}.QueryRow(ctx, query, args, dest...)
	}
	return t.first(ctx, query, args, func(results pgx.BatchResults) error { return results.QueryRow().Scan(dest...) })
}

// first begins the transaction and runs its first statement.
func (t *tx) first(ctx context.Context, query string, args []any, read func(pgx.BatchResults) error) error {
	var batch pgx.Batch
	batch.BeginTx(t.opts)
	batch.Queue(query, sqlstore.Plain(args)...)
	results := t.pool.SendBatch(ctx, &batch)
	_, err := results.Exec() // of BEGIN
	if err == nil {
		err = read(results)
	}
	if closed := results.Close(); err == nil {
		err = closed
	}
	t.begun = results.Tx()
	return interpretError(err)
}

// Now implements sqlstore.Tx. now() would be the transaction's begin, before
// its waits for locks.
func (t *tx) Now(ctx context.Context) (us int64, err error) {
	err = t.QueryRow(ctx, clock, nil, &us)
	return us, err
}

// Wake implements sqlstore.Tx.
func (t *tx) Wake(page int64) { t.woken = append(t.woken, page) }

// notify sends the wakes with the transaction.
func (t *tx) notify(ctx context.Context) error {
	if len(t.woken) == 0 {
		return nil
	}
	_, err := t.Exec(ctx, "SELECT pg_notify($1, page::text) FROM unnest($2::bigint[]) AS page", channel, t.woken)
	return err
}

// clock reads the server's clock.
const clock = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

// statements is a sqlstore.Tx that runs its statements one by one: on a connection, where
// each is a transaction of its own, or in one that has begun.
type statements struct{ on queryer }

// queryer is a connection or a transaction.
type queryer interface {
	Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// Exec implements sqlstore.Tx.
func (s statements) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := s.on.Exec(ctx, query, sqlstore.Plain(args)...)
	return tag.RowsAffected(), interpretError(err)
}

// Query implements sqlstore.Tx.
func (s statements) Query(ctx context.Context, query string, args []any, scan func(sqlstore.Row) error) error {
	rows, _ := s.on.Query(ctx, query, sqlstore.Plain(args)...) // each returns its error
	return interpretError(each(rows, scan))
}

// QueryRow implements sqlstore.Tx.
func (s statements) QueryRow(ctx context.Context, query string, args []any, dest ...any) error {
	return interpretError(s.on.QueryRow(ctx, query, sqlstore.Plain(args)...).Scan(dest...))
}

// Now implements sqlstore.Tx.
func (s statements) Now(ctx context.Context) (us int64, err error) {
	err = s.QueryRow(ctx, clock, nil, &us)
	return us, err
}

// Wake implements sqlstore.Tx. Whoever only looks wakes nobody.
func (s statements) Wake(int64) {}

// each hands over each row.
func each(rows pgx.Rows, scan func(sqlstore.Row) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
