//go:build counts

package sqlstore

import (
	"encoding/binary"
	"os"
	"sync"
)

// envCounts names the file to which a program that is built with the tag counts writes
// how many transactions and statements its store has run. `make bench-visits` reads it.
const envCounts = "RECRAWL_COUNTS"

// observed counts the store's use of an engine, if the environment names a file.
func observed(e Engine) Engine {
	path := os.Getenv(envCounts)
	if path == "" {
		return e
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic("count what the store does: " + err.Error()) // this program exists for nothing else
	}
	c := &counts{file: file}
	return Observe(e, Observer{Asked: c.asked, Awaited: c.awaited, Ended: c.ended})
}

// counts are numbers since the start, which the file holds as 64-bit integers, the
// lowest byte first: write transactions, read transactions, the statements of each, and how
// often one of them waited for an answer.
// They are written after each transaction, so that the file can be read at any time.
type counts struct {
	mu      sync.Mutex
	file    *os.File
	numbers [5]uint64
}

const (
	countWrites = iota
	countReads
	countWriteStatements
	countReadStatements
	countTrips
)

func (c *counts) awaited(Transaction) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.numbers[countTrips]++
}

func (c *counts) asked(t Transaction, _ string, _ []any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t == Reading {
		c.numbers[countReadStatements]++
	} else {
		c.numbers[countWriteStatements]++
	}
}

func (c *counts) ended(t Transaction) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t == Reading {
		c.numbers[countReads]++
	} else {
		c.numbers[countWrites]++
	}
	var b []byte
	for _, n := range c.numbers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	if _, err := c.file.WriteAt(b, 0); err != nil {
		panic("count what the store does: " + err.Error())
	}
}
