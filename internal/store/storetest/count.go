package storetest

import (
	"context"
	"sync"

	"recrawl/internal/store/sqlstore"
)

// Counter is an engine that counts what a store asks of it.
type Counter struct {
	sqlstore.Engine

	mu      sync.Mutex
	counts  Counts
	queries []string
}

// Counts are what was asked of an engine. Commits that must be durable are one fsync each
// in SQLite.
type Counts struct {
	Durable    int // write transactions whose commit must be durable
	Lazy       int // write transactions whose commit may wait
	Reads      int // read transactions
	Statements int // queries within all of them, without BEGIN and COMMIT
}

// Count wraps an engine.
func Count(e sqlstore.Engine) *Counter { return &Counter{Engine: e} }

// Take returns what was asked since the last call, and the queries in their order.
func (c *Counter) Take() (Counts, []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts, queries := c.counts, c.queries
	c.counts, c.queries = Counts{}, nil
	return counts, queries
}

// Read implements sqlstore.Engine.
func (c *Counter) Read(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return c.run(ctx, c.Engine.Read, &c.counts.Reads, "read", fn)
}

// Write implements sqlstore.Engine.
func (c *Counter) Write(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return c.run(ctx, c.Engine.Write, &c.counts.Durable, "write", fn)
}

// WriteLazily implements sqlstore.Engine.
func (c *Counter) WriteLazily(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return c.run(ctx, c.Engine.WriteLazily, &c.counts.Lazy, "write lazily", fn)
}

func (c *Counter) run(ctx context.Context, engine func(context.Context, func(sqlstore.Tx) error) error, n *int, what string, fn func(sqlstore.Tx) error) error {
	c.mu.Lock()
	*n++
	c.queries = append(c.queries, what)
	c.mu.Unlock()
	return engine(ctx, func(tx sqlstore.Tx) error { return fn(countingTx{tx, c}) })
}

func (c *Counter) asked(query string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Statements++
	c.queries = append(c.queries, "  "+query)
}

type countingTx struct {
	sqlstore.Tx
	counter *Counter
}

func (t countingTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	t.counter.asked(query)
	return t.Tx.Exec(ctx, query, args...)
}

func (t countingTx) Query(ctx context.Context, query string, args []any, scan func(sqlstore.Row) error) error {
	t.counter.asked(query)
	return t.Tx.Query(ctx, query, args, scan)
}

func (t countingTx) QueryRow(ctx context.Context, query string, args []any, dest ...any) error {
	t.counter.asked(query)
	return t.Tx.QueryRow(ctx, query, args, dest...)
}
