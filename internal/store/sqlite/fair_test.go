package sqlite

import (
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
	sqlstore.Engine
	transactions, statements atomic.Int64
}

func countWrites(e sqlstore.Engine) *countingEngine {
	c := &countingEngine{}
	c.Engine = sqlstore.Observe(e, sqlstore.Observer{
		Began: func(t sqlstore.Transaction) {
			if t != sqlstore.Reading {
				c.transactions.Add(1)
			}
		},
		Asked: func(t sqlstore.Transaction, _ string, _ []any) {
			if t != sqlstore.Reading {
				c.statements.Add(1)
			}
		},
	})
	return c
}

// counted is a test that gets an engine which counts.
func counted(run func(t *testing.T, e *countingEngine)) func(t *testing.T) {
	return func(t *testing.T) {
		e := countWrites(openOwner(t, filepath.Join(t.TempDir(), "store.db")))
		defer func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}()
		run(t, e)
	}
}

// TestHeldHost: a page that has its host held goes behind the others.
func TestHeldHost(t *testing.T) {
	pace := storetest.Pace{Delay: 10 * time.Second, Patience: 4 * time.Second, Late: 300 * time.Millisecond, Requests: 100}
	t.Run("OneIsThrottled", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, counted(func(t *testing.T, e *countingEngine) {
			storetest.HeldHost(t, e, 28, 1, store.HostThrottled, pace)
		}))
	})
	t.Run("ThreeTimeOut", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, counted(func(t *testing.T, e *countingEngine) {
			storetest.HeldHost(t, e, 25, 3, store.HostFailed, pace)
		}))
	})
}

// TestGateLoad: a page that keeps asking is served, however many others ask and whatever goes
// wrong.
func TestGateLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a load takes its time")
	}
	t.Parallel()
	synctest.Test(t, counted(func(t *testing.T, e *countingEngine) { storetest.GateLoad(t, e) }))
}

// TestFairLines tries lines in simulated time: their pages sleep for hours.
func TestFairLines(t *testing.T) {
	for _, waiting := range []int{60, 1000, 20_000} {
		t.Run(fmt.Sprint(waiting), func(t *testing.T) {
			if waiting > 1000 && testing.Short() {
				t.Skip("-short: a long line")
			}
			t.Parallel()
			synctest.Test(t, counted(func(t *testing.T, e *countingEngine) {
				storetest.FairLine(t, e, waiting, storetest.Pace{
					Delay: 10 * time.Second, Spacing: 10 * time.Second, Patience: 4 * time.Second, Late: 300 * time.Millisecond, Requests: 160,
				})
				statements, transactions := e.statements.Load(), e.transactions.Load()
				t.Logf("%d statements in %d transactions", statements, transactions)
				if statements > 12*transactions {
					t.Errorf("%d statements in %d transactions", statements, transactions)
				}
			}))
		})
	}
}
