//go:build counts

package sqlstore

import (
	"context"
	"encoding/binary"
	"os"
	"sync"
)

// envCounts names the file to which a program that is built with the tag counts writes
// how many transactions and statements its store has run. `make bench-visits` reads it.
const envCounts = "RECRAWL_COUNTS"

// observed counts what the store does with an engine, if the environment names a file.
func observed(e Engine) Engine {
	path := os.Getenv(envCounts)
	if path == "" {
		return e
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic("count what the store does: " + err.Error()) // this program is there for nothing else
	}
	return &countingEngine{engine: e, counts: &counts{file: file}}
}

// counts are numbers since the start, which the file holds as 64-bit integers, the
// lowest byte first: write transactions, read transactions, and the statements of each.
// They are written after each transaction, so that the file can be read at any time.
type counts struct {
	mu      sync.Mutex
	file    *os.File
	numbers [4]uint64
}

const (
	countWrites = iota
	countReads
	countWriteStatements
	countReadStatements
)

// add counts a transaction.
func (c *counts) add(transaction, statements int, ran uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.numbers[transaction]++
	c.numbers[statements] += ran
	var b []byte
	for _, n := range c.numbers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	if _, err := c.file.WriteAt(b, 0); err != nil {
		panic("count what the store does: " + err.Error())
	}
}

// countingEngine does not embed Engine: a method that is new there must be counted here.
type countingEngine struct {
	engine Engine
	counts *counts
}

func (e *countingEngine) Dialect() Dialect { return e.engine.Dialect() }

func (e *countingEngine) Read(ctx context.Context, fn func(Tx) error) error {
	ran := uint64(0)
	defer func() { e.counts.add(countReads, countReadStatements, ran) }()
	return e.engine.Read(ctx, func(tx Tx) error { return fn(countingTx{tx, &ran}) })
}

func (e *countingEngine) Write(ctx context.Context, fn func(Tx) error) error {
	return e.write(fn, func(fn func(Tx) error) error { return e.engine.Write(ctx, fn) })
}

func (e *countingEngine) WriteLazily(ctx context.Context, fn func(Tx) error) error {
	return e.write(fn, func(fn func(Tx) error) error { return e.engine.WriteLazily(ctx, fn) })
}

func (e *countingEngine) write(fn func(Tx) error, run func(func(Tx) error) error) error {
	ran := uint64(0)
	defer func() { e.counts.add(countWrites, countWriteStatements, ran) }()
	return run(func(tx Tx) error { return fn(countingTx{tx, &ran}) })
}

func (e *countingEngine) Watch(page int64) (<-chan struct{}, func()) { return e.engine.Watch(page) }

func (e *countingEngine) Erase(ctx context.Context, rewrite bool, tables []string) error {
	return e.engine.Erase(ctx, rewrite, tables)
}

func (e *countingEngine) Close() error { return e.engine.Close() }

// countingTx counts the statements of a transaction, one goroutine at a time. What the
// engine adds (BEGIN, COMMIT, the clock) is not counted.
type countingTx struct {
	tx  Tx
	ran *uint64
}

func (t countingTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	*t.ran++
	return t.tx.Exec(ctx, query, args...)
}

func (t countingTx) Query(ctx context.Context, query string, args []any, scan func(Row) error) error {
	*t.ran++
	return t.tx.Query(ctx, query, args, scan)
}

func (t countingTx) QueryRow(ctx context.Context, query string, args []any, dest ...any) error {
	*t.ran++
	return t.tx.QueryRow(ctx, query, args, dest...)
}

func (t countingTx) Now(ctx context.Context) (int64, error) { return t.tx.Now(ctx) }

func (t countingTx) Wake(page int64) { t.tx.Wake(page) }
