package storetest

import (
	"sync"

	"recrawl/internal/store/sqlstore"
)

// Counter is an engine that counts a store's use of it.
type Counter struct {
	sqlstore.Engine

	mu      sync.Mutex
	counts  Counts
	queries []string
}

// Counts counts the use of an engine. Commits that must be durable are one fsync each in
// SQLite.
type Counts struct {
	Durable    int // write transactions whose commit must be durable
	Lazy       int // write transactions whose commit may wait
	Reads      int // read transactions
	Statements int // queries within all of them, without BEGIN and COMMIT
	Trips      int // how often they waited for an answer, with COMMIT; as a bound, 0 is none
}

// Count wraps an engine.
func Count(e sqlstore.Engine) *Counter {
	c := &Counter{}
	c.Engine = sqlstore.Observe(e, sqlstore.Observer{Began: c.began, Asked: c.asked, Awaited: c.awaited})
	return c
}

// Take returns the counts since the last call, and the queries in their order.
func (c *Counter) Take() (Counts, []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts, queries := c.counts, c.queries
	c.counts, c.queries = Counts{}, nil
	return counts, queries
}

func (c *Counter) began(t sqlstore.Transaction) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch t {
	case sqlstore.Reading:
		c.counts.Reads++
		c.queries = append(c.queries, "read")
	case sqlstore.Writing:
		c.counts.Durable++
		c.queries = append(c.queries, "write")
	case sqlstore.WritingLazily:
		c.counts.Lazy++
		c.queries = append(c.queries, "write lazily")
	}
}

func (c *Counter) awaited(sqlstore.Transaction) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Trips++
}

func (c *Counter) asked(_ sqlstore.Transaction, query string, _ []any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Statements++
	c.queries = append(c.queries, "  "+query)
}
