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
	return Observe(e, Observer{Asked: c.asked, Ended: c.ended})
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
