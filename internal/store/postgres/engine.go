package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

const (
	// conflictTries is how many times a transaction is begun that the server ended in
	// favour of another. All transactions lock in one order, so that even one
	// repetition is rare. One for which the server had no connection left is tried as often:
	// meanwhile another transaction of this process gives its connection back.
	conflictTries = 10
	// connectionTries bounds the quick tries after a connection broke; after that, the
	// caller sleeps on its own timer.
	connectionTries = 3

	firstPause = 10 * time.Millisecond
	lastPause  = 200 * time.Millisecond
)

// engine is a sqlstore.Engine on a PostgreSQL database.
type engine struct {
	pool     *pgxpool.Pool
	watchers sqlstore.Watchers

	// orders has an entry for each table that is read in the order of its ids.
	orders map[sqlstore.Ordered]*order

	// listen starts the goroutine that receives notifications; it ends when
	// stop is called. listenCheck is a constant that tests shorten.
	listen      func()
	listenCheck time.Duration
	stop        context.CancelFunc
	running     sync.WaitGroup
	closed      chan struct{}
	close       sync.Once
}

// newEngine returns an engine with these connections, which Close ends.
func newEngine(pool *pgxpool.Pool) *engine {
	e := &engine{pool: pool, orders: map[sqlstore.Ordered]*order{}, closed: make(chan struct{}), listenCheck: listenCheck}
	for _, table := range []sqlstore.Ordered{sqlstore.OrderedChanges, sqlstore.OrderedPages} {
		e.orders[table] = &order{looking: make(chan struct{}, 1)}
	}
	e.newListener(pool.Config())
	return e
}

// Dialect implements sqlstore.Engine.
func (e *engine) Dialect() sqlstore.Dialect { return dialect{} }

// Watch implements sqlstore.Engine.
func (e *engine) Watch(page int64) (<-chan struct{}, func()) {
	e.listen()
	return e.watchers.Watch(page)
}

// Read implements sqlstore.Engine: a snapshot.
func (e *engine) Read(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return e.retry(ctx, func() (commits bool, err error) {
		return transact(ctx, newTx(e.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}), fn)
	})
}

// Glance implements sqlstore.Engine. Without a transaction, a statement is one round trip
// instead of two or three.
func (e *engine) Glance(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return e.retry(ctx, func() (commits bool, err error) {
		conn, err := acquire(ctx, e.pool)
		if err != nil {
			return false, err
		}
		defer conn.Release()
		return false, fn(statements{conn})
	})
}

// Write implements sqlstore.Engine. A transaction whose COMMIT was sent but not
// answered is not run again: it may have been committed, and only the caller
// knows how to find out.
func (e *engine) Write(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return e.retry(ctx, func() (commits bool, err error) {
		t := newTx(e.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
		commits, err = transact(ctx, t, func(sqlstore.Tx) error {
			if err := fn(t); err != nil {
				return err
			}
			return t.notify(ctx)
		})
		if err == nil {
			// Sooner than by way of the server, and also while the listener is away.
			e.watchers.Notify(t.woken...)
		}
		return commits, err
	})
}

// WriteLazily implements sqlstore.Engine.
func (e *engine) WriteLazily(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return e.Write(ctx, fn)
}

// retry runs a transaction again as long as that is safe and may help.
func (e *engine) retry(ctx context.Context, once func() (commits bool, err error)) error {
	for try, pause := 1, firstPause; ; try, pause = try+1, min(2*pause, lastPause) {
		select {
		case <-e.closed:
			return fmt.Errorf("the store has been closed: %w", store.ErrUnavailable)
		default:
		}
		commits, err := once()
		if err == nil {
			return nil
		}
		crowded := isCrowded(err)
		broken, standby := isConnectionError(err) && !crowded, isReadOnly(err)
		if broken || standby {
			// The other idle connections are as old. Those made during a failover may stay at a
			// server that is, or has become, a standby, while the name leads to another.
			e.pool.Reset()
		}
		again := (isConflict(err) || crowded) && try < conflictTries ||
			(standby || broken && !commits && !isConnectTimeout(err)) && try < connectionTries
		if !again || !sleep(ctx, pause/2+rand.N(pause/2)) {
			return interpretError(err)
		}
	}
}

// acquire takes a connection of the pool.
func acquire(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, acquireLimit, errSilent)
	defer cancel()
	conn, err := pool.Acquire(ctx)
	return conn, blame(ctx, err)
}

// sleep waits and reports whether the context lasted.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// transact runs fn in one transaction; commits says that an error came from the round trip of
// its COMMIT.
func transact(ctx context.Context, t *tx, fn func(sqlstore.Tx) error) (commits bool, err error) {
	defer t.end(ctx)
	if err := fn(t); err != nil || t.untouched() {
		return false, err
	}
	return true, t.commit(ctx)
}

// Close implements sqlstore.Engine. It waits for the transactions that run.
func (e *engine) Close() error {
	e.close.Do(func() {
		e.retire()
		e.pool.Close()
	})
	return nil
}

// retire ends everything but the connections.
func (e *engine) retire() {
	close(e.closed)
	e.stop()
	e.running.Wait()
}
