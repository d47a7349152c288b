package visits

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// storeCounts are the transactions and statements of a store, as a program that was
// built with the tag counts writes them; see internal/store/sqlstore/counting.go.
type storeCounts struct {
	Writes          uint64 `json:"writes"`
	Reads           uint64 `json:"reads"`
	WriteStatements uint64 `json:"write_statements"`
	ReadStatements  uint64 `json:"read_statements"`
	// Trips is how often a transaction waited for an answer: a round trip to Postgres.
	Trips uint64 `json:"trips"`
}

func readStoreCounts(path string) (storeCounts, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return storeCounts{}, fmt.Errorf("read what the store has counted: %w", err)
	}
	if len(data) != 40 {
		return storeCounts{}, fmt.Errorf("%s has %d bytes, and 40 were expected: are the programs those of this commit, built with -tags counts?", path, len(data))
	}
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(data[8*i:]) }
	return storeCounts{at(0), at(1), at(2), at(3), at(4)}, nil
}

func (c storeCounts) since(b storeCounts) storeCounts {
	return storeCounts{
		c.Writes - b.Writes, c.Reads - b.Reads, c.WriteStatements - b.WriteStatements, c.ReadStatements - b.ReadStatements, c.Trips - b.Trips,
	}
}

// tracer finds the program that traces fsyncs; "" if there is none.
func tracer() string {
	path, err := exec.LookPath("strace")
	if err != nil {
		return ""
	}
	return path
}

// traced returns the arguments with which the tracer runs a program like a child of ours,
// and writes each fsync to a file. It stops at nothing else.
func traced(log, program string, args []string) []string {
	return append([]string{"-D", "-f", "--seccomp-bpf", "-qq", "-ttt", "-y", "-e", "trace=fsync,fdatasync", "-e", "signal=none", "-o", log, program}, args...)
}

// Syncs counts fsyncs by the owner of the file.
type Syncs struct {
	Store    int `json:"store"`
	Archive  int `json:"archive"`
	Temporal int `json:"temporal"`
	// Shared counts those of a log that store and Temporal share.
	Shared int `json:"shared"`
}

// syncCounter begins to count fsyncs, and returns the function that ends that.
type syncCounter func(ctx context.Context) (end func(ctx context.Context) (Syncs, error), err error)

// readSyncs counts the fsyncs in [from, until) of a tracer's log, whose lines are
// "PID SECONDS fsync(FD<PATH>) = 0".
func readSyncs(log io.Reader, from, until time.Time) (s Syncs, err error) {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		at, path, ok := syncOf(lines.Text())
		if !ok || at.Before(from) || !at.Before(until) {
			continue
		}
		switch name := filepath.Base(path); {
		case strings.HasPrefix(name, "temporal.db"):
			s.Temporal++
		case strings.HasPrefix(name, "recrawl.db"):
			s.Store++
		case strings.Contains(path, "/archive"):
			s.Archive++
		}
	}
	return s, lines.Err()
}

// syncOf reads a line; the second half of an interrupted call does not count.
func syncOf(line string) (at time.Time, path string, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 3 || !strings.HasPrefix(fields[2], "fsync(") && !strings.HasPrefix(fields[2], "fdatasync(") {
		return at, "", false
	}
	seconds, err := strconv.ParseFloat(fields[1], 64)
	if err != nil {
		return at, "", false
	}
	_, rest, ok := strings.Cut(line, "<")
	if !ok {
		return at, "", false
	}
	path, _, ok = strings.Cut(rest, ">")
	return time.UnixMicro(int64(seconds * 1e6)), path, ok
}
