//go:build unix

package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/store/sqlstore"
)

// modes are the ways in which statements run in turn: the first time and every second time
// afterwards without being prepared, as with default_query_exec_mode=exec, which sends and
// receives text; and the other times as the engine has it.
type modes struct {
	mu  sync.Mutex
	ran map[string]int // how often, by query
}

// args are the arguments with which a query runs next. Without any it may be several
// statements, which are never prepared.
func (m *modes) args(query string, args []any) []any {
	if len(args) == 0 {
		return args
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ran == nil {
		m.ran = map[string]int{}
	}
	if m.ran[query]++; m.ran[query]%2 == 0 {
		return args
	}
	return append([]any{pgx.QueryExecModeExec}, args...)
}

// modalEngine runs statements in both modes.
type modalEngine struct {
	*engine
	modes *modes
}

func (e modalEngine) Read(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return e.engine.Read(ctx, e.wrap(fn))
}

func (e modalEngine) Glance(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return e.engine.Glance(ctx, e.wrap(fn))
}

func (e modalEngine) Write(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return e.engine.Write(ctx, e.wrap(fn))
}

func (e modalEngine) WriteLazily(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return e.engine.WriteLazily(ctx, e.wrap(fn))
}

func (e modalEngine) wrap(fn func(sqlstore.Tx) error) func(sqlstore.Tx) error {
	return func(tx sqlstore.Tx) error { return fn(modalTx{tx, e.modes}) }
}

type modalTx struct {
	sqlstore.Tx
	modes *modes
}

// args are those of the modes. What is sent together with other statements is sent as the engine
// has it, so one that is not to be prepared is made to go alone.
func (t modalTx) args(ctx context.Context, query string, args []any) ([]any, error) {
	next := t.modes.args(query, args)
	if inner, is := t.Tx.(*tx); is && inner.waiting.Len() > 0 && len(next) > len(args) {
		_, err := t.Now(ctx)
		return next, err
	}
	return next, nil
}

func (t modalTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	args, err := t.args(ctx, query, args)
	if err != nil {
		return 0, err
	}
	return t.Tx.Exec(ctx, query, args...)
}

func (t modalTx) Queue(ctx context.Context, query string, args ...any) error {
	args, err := t.args(ctx, query, args)
	if err != nil {
		return err
	}
	if len(args) > 0 && args[0] == pgx.QueryExecModeExec {
		_, err := t.Tx.Exec(ctx, query, args...)
		return err
	}
	return t.Tx.Queue(ctx, query, args...)
}

func (t modalTx) Pipeline(ctx context.Context, steps ...sqlstore.Step) error {
	if args := t.modes.args("pipeline "+steps[0].Query, []any{0}); len(args) > 1 {
		return sqlstore.InTurn(ctx, t, steps)
	}
	return t.Tx.Pipeline(ctx, steps...)
}

func (t modalTx) Query(ctx context.Context, query string, args []any, scan func(sqlstore.Row) error) error {
	args, err := t.args(ctx, query, args)
	if err != nil {
		return err
	}
	return t.Tx.Query(ctx, query, args, scan)
}

func (t modalTx) QueryRow(ctx context.Context, query string, args []any, dest ...any) error {
	args, err := t.args(ctx, query, args)
	if err != nil {
		return err
	}
	return t.Tx.QueryRow(ctx, query, args, dest...)
}
