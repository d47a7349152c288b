package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
	"recrawl/internal/store/storetest"
)

// countingEngine counts write transactions and their statements.
type countingEngine struct {
	*engine
	transactions, statements atomic.Int64
}

func (c *countingEngine) Write(ctx context.Context, fn func(sqlstore.Tx) error) error {
	c.transactions.Add(1)
	return c.engine.Write(ctx, func(tx sqlstore.Tx) error { return fn(countingTx{tx, c}) })
}

func (c *countingEngine) WriteLazily(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return c.Write(ctx, fn)
}

type countingTx struct {
	sqlstore.Tx
	counts *countingEngine
}

func (t countingTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	t.counts.statements.Add(1)
	return t.Tx.Exec(ctx, query, args...)
}

func (t countingTx) Query(ctx context.Context, query string, args []any, scan func(sqlstore.Row) error) error {
	t.counts.statements.Add(1)
	return t.Tx.Query(ctx, query, args, scan)
}

func (t countingTx) QueryRow(ctx context.Context, query string, args []any, dest ...any) error {
	t.counts.statements.Add(1)
	return t.Tx.QueryRow(ctx, query, args, dest...)
}

// aside runs a test in a time of its own with an engine that counts.
func aside(t *testing.T, run func(t *testing.T, e *countingEngine)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &countingEngine{engine: openOwner(t, filepath.Join(t.TempDir(), "store.db"))}
		defer func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}()
		run(t, e)
	})
}

// TestHeldHost: a page that has its host held goes behind the others.
func TestHeldHost(t *testing.T) {
	pace := storetest.Pace{Delay: 10 * time.Second, Patience: 4 * time.Second, Late: 300 * time.Millisecond, Requests: 100}
	t.Run("OneIsThrottled", func(t *testing.T) {
		aside(t, func(t *testing.T, e *countingEngine) { storetest.HeldHost(t, e, 28, 1, store.HostThrottled, pace) })
	})
	t.Run("ThreeTimeOut", func(t *testing.T) {
		aside(t, func(t *testing.T, e *countingEngine) { storetest.HeldHost(t, e, 25, 3, store.HostFailed, pace) })
	})
}

// TestFairLines tries lines in time of their own: their pages sleep for hours.
func TestFairLines(t *testing.T) {
	for _, waiting := range []int{60, 1000, 20_000} {
		t.Run(fmt.Sprint(waiting), func(t *testing.T) {
			if waiting > 1000 && testing.Short() {
				t.Skip("-short: a long line")
			}
			aside(t, func(t *testing.T, e *countingEngine) {
				storetest.FairLine(t, e, waiting, storetest.Pace{
					Delay: 10 * time.Second, Spacing: 10 * time.Second, Patience: 4 * time.Second, Late: 300 * time.Millisecond, Requests: 160,
				})
				statements, transactions := e.statements.Load(), e.transactions.Load()
				t.Logf("%d statements in %d transactions", statements, transactions)
				if statements > 12*transactions {
					t.Errorf("%d statements in %d transactions", statements, transactions)
				}
			})
		})
	}
}
