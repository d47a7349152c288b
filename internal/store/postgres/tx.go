package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"recrawl/internal/store/sqlstore"
)

// tx is a sqlstore.Tx in a transaction. A visit makes dozens of statements, and the round
// trip of each costs the server and the worker about as much as the statement. So BEGIN and
// what was queued wait for the next statement that has an answer, or for COMMIT, and all of
// them are one round trip.
type tx struct {
	pool    *pgxpool.Pool
	conn    *pgxpool.Conn // nil before the first round trip
	waiting *pgx.Batch
	failed  error // why it could not begin
	woken   []int64
}

// newTx returns a transaction that begins with its first statement.
func newTx(pool *pgxpool.Pool, opts pgx.TxOptions) *tx {
	t := &tx{pool: pool, waiting: &pgx.Batch{}}
	t.waiting.BeginTx(opts)
	return t
}

// alone reports whether the next statement can go without others.
func (t *tx) alone() bool { return t.waiting.Len() == 0 && t.failed == nil }

// Exec implements sqlstore.Tx. Without arguments the query may be several
// statements, which cannot be sent with others.
func (t *tx) Exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	if len(args) == 0 {
		if err := t.send(ctx); err != nil {
			return 0, err
		}
	}
	if t.alone() {
		return statements{t.conn}.Exec(ctx, query, args...)
	}
	err = t.send(ctx, answer{query, args, func(results pgx.BatchResults, _ *silence) error {
		tag, err := results.Exec()
		n = tag.RowsAffected()
		return err
	}})
	return n, err
}

// Queue implements sqlstore.Tx.
func (t *tx) Queue(_ context.Context, query string, args ...any) error {
	t.waiting.Queue(query, sqlstore.Plain(args)...)
	return nil
}

// Query implements sqlstore.Tx.
func (t *tx) Query(ctx context.Context, query string, args []any, scan func(sqlstore.Row) error) error {
	if t.alone() {
		return statements{t.conn}.Query(ctx, query, args, scan)
	}
	return t.send(ctx, rowsOf(query, args, scan))
}

// QueryRow implements sqlstore.Tx.
func (t *tx) QueryRow(ctx context.Context, query string, args []any, dest ...any) error {
	if t.alone() {
		return statements{t.conn}.QueryRow(ctx, query, args, dest...)
	}
	return t.send(ctx, rowOf(query, args, dest...))
}

// Pipeline implements sqlstore.Tx.
func (t *tx) Pipeline(ctx context.Context, steps ...sqlstore.Step) error {
	answers := make([]answer, len(steps))
	for i, step := range steps {
		if step.Clock != nil {
			answers[i] = rowOf(clock, nil, step.Clock)
		} else {
			answers[i] = rowsOf(step.Query, step.Args, step.Scan)
		}
	}
	return t.send(ctx, answers...)
}

// answer is a statement and what reads its answer.
type answer struct {
	query string
	args  []any
	read  func(pgx.BatchResults, *silence) error
}

func rowsOf(query string, args []any, scan func(sqlstore.Row) error) answer {
	return answer{query, args, func(results pgx.BatchResults, silence *silence) error {
		rows, _ := results.Query() // each returns its error
		return each(rows, scan, silence)
	}}
}

func rowOf(query string, args []any, dest ...any) answer {
	return answer{query, args, func(results pgx.BatchResults, _ *silence) error { return results.QueryRow().Scan(dest...) }}
}

// send sends what waits and then these statements, in one round trip, and reads their answers
// until one fails. The server does nothing any more after a statement that failed.
func (t *tx) send(ctx context.Context, answers ...answer) (err error) {
	queued := t.waiting.Len()
	if t.failed != nil || queued == 0 && len(answers) == 0 {
		return t.failed
	}
	if t.conn == nil {
		if t.conn, err = acquire(ctx, t.pool); err != nil {
			return err
		}
	}
	batch := t.waiting
	t.waiting = &pgx.Batch{}
	for _, a := range answers {
		batch.Queue(a.query, sqlstore.Plain(a.args)...)
	}
	silence := newSilence(ctx, t.conn.Conn())
	results := t.conn.SendBatch(silence, batch)
	for i := 0; i < queued && err == nil; i++ {
		if _, err = results.Exec(); err != nil {
			err = fmt.Errorf("%.60s …: %w", oneLine(batch.QueuedQueries[i].SQL), err)
		}
		silence.heard()
	}
	for i := 0; i < len(answers) && err == nil; i++ {
		err = answers[i].read(results, silence)
		silence.heard()
	}
	if closed := results.Close(); err == nil {
		err = closed
	}
	err = silence.end(err)
	// A statement that cannot even be prepared fails before BEGIN is sent. Those that follow would
	// be transactions of their own.
	if err != nil && t.conn.Conn().PgConn().TxStatus() == 'I' {
		t.failed = err
	}
	return err
}

// untouched reports whether the transaction has had no statement yet.
func (t *tx) untouched() bool { return t.conn == nil && t.waiting.Len() == 1 } // BEGIN

// commit ends the transaction.
func (t *tx) commit(ctx context.Context) error {
	return t.send(ctx, answer{"COMMIT", nil, func(results pgx.BatchResults, _ *silence) error {
		tag, err := results.Exec()
		if err == nil && tag.String() == "ROLLBACK" {
			err = pgx.ErrTxCommitRollback
		}
		return err
	}})
}

// end gives the connection back, and undoes a transaction that was not committed.
func (t *tx) end(ctx context.Context) {
	if t.conn == nil {
		return
	}
	if t.conn.Conn().PgConn().TxStatus() != 'I' {
		// If the connection is broken, the server rolls back by itself, and Release closes it.
		_, _ = statements{t.conn}.Exec(context.WithoutCancel(ctx), "ROLLBACK")
	}
	t.conn.Release()
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
	return t.Queue(ctx, "SELECT pg_notify($1, page::text) FROM unnest($2::bigint[]) AS page", channel, t.woken)
}

// clock reads the server's clock.
const clock = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

// statements is a sqlstore.Tx that runs its statements one by one: on a connection, where
// each is a transaction of its own, or in one that has begun.
type statements struct{ on *pgxpool.Conn }

// Exec implements sqlstore.Tx.
func (s statements) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	silence := newSilence(ctx, s.on.Conn())
	tag, err := s.on.Exec(silence, query, sqlstore.Plain(args)...)
	return tag.RowsAffected(), silence.end(err)
}

// Queue implements sqlstore.Tx.
func (s statements) Queue(ctx context.Context, query string, args ...any) error {
	_, err := s.Exec(ctx, query, args...)
	return err
}

// Query implements sqlstore.Tx.
func (s statements) Query(ctx context.Context, query string, args []any, scan func(sqlstore.Row) error) error {
	silence := newSilence(ctx, s.on.Conn())
	rows, _ := s.on.Query(silence, query, sqlstore.Plain(args)...) // each returns its error
	return silence.end(each(rows, scan, silence))
}

// QueryRow implements sqlstore.Tx.
func (s statements) QueryRow(ctx context.Context, query string, args []any, dest ...any) error {
	silence := newSilence(ctx, s.on.Conn())
	return silence.end(s.on.QueryRow(silence, query, sqlstore.Plain(args)...).Scan(dest...))
}

// Pipeline implements sqlstore.Tx.
func (s statements) Pipeline(ctx context.Context, steps ...sqlstore.Step) error {
	return sqlstore.InTurn(ctx, s, steps)
}

// Now implements sqlstore.Tx.
func (s statements) Now(ctx context.Context) (us int64, err error) {
	err = s.QueryRow(ctx, clock, nil, &us)
	return us, err
}

// Wake implements sqlstore.Tx. Whoever only looks wakes nobody.
func (s statements) Wake(int64) {}

// each hands over each row.
func each(rows pgx.Rows, scan func(sqlstore.Row) error, silence *silence) error {
	defer rows.Close()
	for rows.Next() {
		silence.busy()
		if err := scan(rows); err != nil {
			return err
		}
		silence.heard()
	}
	return rows.Err()
}
