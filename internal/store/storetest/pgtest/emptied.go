//go:build unix

package pgtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Emptied hands out databases whose tables Make has made, with their connections. When a test
// has ended, its database goes back to the state in which Make left it, and then to another test:
// that takes a fraction of the time that a new database with its tables takes, and the server's
// processes have the next test's statements planned. What a test does to the tables themselves is
// not undone. The database of a test that failed goes to no other: a transaction may be left open
// there, for which emptying would wait.
type Emptied struct {
	// Make makes the tables of an empty database, and connects to it.
	Make func(ctx context.Context, dsn string) (*pgxpool.Pool, error)

	mu   sync.Mutex
	free []*emptied
}

// emptied is one database, and how it is emptied.
type emptied struct {
	pool  *pgxpool.Pool
	reset string // statements
}

// Pool lends one test the connections to a database, and fails or skips it as the function DSN
// does. The test must not close them.
func (e *Emptied) Pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	d := e.take()
	if d == nil {
		d = e.create(t)
	}
	t.Cleanup(func() {
		if t.Failed() {
			d.pool.Reset() // without waiting for those that may be in use for ever
			return
		}
		if err := d.empty(context.Background()); err != nil {
			t.Errorf("empty the test database: %v", err)
			return
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.free = append(e.free, d)
	})
	return d.pool
}

func (e *Emptied) take() *emptied {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.free) == 0 {
		return nil
	}
	last := e.free[len(e.free)-1]
	e.free = e.free[:len(e.free)-1]
	return last
}

// create makes a database, with its tables, that stays until Main ends.
func (e *Emptied) create(t testing.TB) *emptied {
	t.Helper()
	base := testServer(t)
	dsn, name, err := createDatabase(t.Context(), base)
	if err != nil {
		t.Fatalf("create a test database: %v", err)
	}
	shared.Lock()
	shared.stay = append(shared.stay, name)
	shared.Unlock()
	pool, err := e.Make(context.WithoutCancel(t.Context()), dsn) // it outlives the test
	if err != nil {
		t.Fatalf("make the tables of a test database: %v", err)
	}
	d := &emptied{pool: pool}
	if err := d.remember(t.Context()); err != nil {
		t.Fatalf("remember the rows of a new database: %v", err)
	}
	return d
}

// remember copies the rows that a new database has, and writes the statements that restore
// them and nothing else. All rows are deleted by one statement: references are checked at its
// end, so the order does not matter.
func (d *emptied) remember(ctx context.Context) error {
	return d.connected(ctx, func(conn *pgx.Conn) error {
		tables, err := texts(ctx, conn, `SELECT format('%I', tablename) FROM pg_tables WHERE schemaname = 'public'`)
		if err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, `CREATE SCHEMA made`); err != nil {
			return err
		}
		var deletes, restores []string
		for i, table := range tables {
			deletes = append(deletes, fmt.Sprintf("d%d AS (DELETE FROM public.%s)", i, table))
			made, err := conn.Exec(ctx, fmt.Sprintf("CREATE TABLE made.%s AS TABLE public.%[1]s", table))
			if err != nil {
				return err
			}
			if made.RowsAffected() > 0 {
				restores = append(restores, fmt.Sprintf("INSERT INTO public.%s OVERRIDING SYSTEM VALUE TABLE made.%[1]s", table))
			}
		}
		counters, err := texts(ctx, conn, `SELECT format('SELECT setval(%L, %s, %L)', format('%I.%I', schemaname, sequencename),
			coalesce(last_value, start_value), last_value IS NOT NULL) FROM pg_sequences WHERE schemaname = 'public'`)
		if err != nil {
			return err
		}
		all := append([]string{"WITH " + strings.Join(deletes, ", ") + " SELECT"}, restores...)
		d.reset = strings.Join(append(all, counters...), "; ")
		return nil
	})
}

// empty restores the state that remember saw. Tables that had grown give their room back, or
// the next test would read through what is dead.
func (d *emptied) empty(ctx context.Context) error {
	return d.connected(ctx, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, d.reset); err != nil {
			return err
		}
		grown, err := texts(ctx, conn, `SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = 'public' AND c.relkind = 'r' AND pg_relation_size(c.oid) > 65536`)
		if err != nil || len(grown) == 0 {
			return err
		}
		_, err = conn.Exec(ctx, "VACUUM "+strings.Join(grown, ", "))
		return err
	})
}

// connected runs f on a connection whose statements may take their time, unlike those of a test.
func (d *emptied) connected(ctx context.Context, f func(conn *pgx.Conn) error) error {
	return d.pool.AcquireFunc(ctx, func(lent *pgxpool.Conn) error {
		conn := lent.Conn()
		if _, err := conn.Exec(ctx, "SET statement_timeout = 0"); err != nil {
			return err
		}
		if err := f(conn); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, "RESET statement_timeout")
		return err
	})
}

// texts is the only column of a query's rows.
func texts(ctx context.Context, conn *pgx.Conn, query string) ([]string, error) {
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
