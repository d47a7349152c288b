package cli

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/seeds"
	"recrawl/internal/store"
)

// inputList is a list that is being read.
type inputList struct {
	name   string
	list   *seeds.Reader
	source string // names it, "" for standard input
	size   int64  // in bytes, 0 if it is not known
	read   *countingReader
	file   *os.File // nil for standard input
}

// named puts the list's name before its error.
func (l inputList) named(err error) error { return fmt.Errorf("%s: %w", l.name, err) }

// isFile reports whether a file is the one that is read, also as standard input.
func (l inputList) isFile(file *os.File) bool {
	from, ok := l.read.r.(*os.File)
	if !ok {
		return false
	}
	one, err := from.Stat()
	if err != nil {
		return false
	}
	other, err := file.Stat()
	return err == nil && os.SameFile(one, other)
}

func (l inputList) close() {
	if l.file != nil {
		_ = l.file.Close() // it was read only
	}
}

// countingReader counts the bytes that were read.
type countingReader struct {
	r io.Reader
	n atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

func openSeedList(c importCmd, stdin io.Reader) (inputList, error) {
	l := inputList{name: c.File, read: &countingReader{r: stdin}}
	if c.File == "-" {
		l.name = "standard input"
	} else {
		file, err := os.Open(c.File)
		if err != nil {
			return l, usagef("cannot read the list: %w", err)
		}
		l.file, l.read.r = file, file
		if err := l.identify(c); err != nil {
			l.close()
			return l, l.named(err)
		}
	}
	list, err := seeds.Open(l.read, seeds.Options{Format: c.Format, Column: c.Column})
	if err != nil {
		l.close()
		return l, usage(l.named(err))
	}
	l.list = list
	return l, nil
}

// identify makes the name under which the store records the list's progress: from
// its start, size and time, and the way it is read.
func (l *inputList) identify(c importCmd) error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	const start = 64 << 10
	sum := sha256.New()
	if _, err := io.CopyN(sum, l.file, start); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if _, err := l.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	fmt.Fprintf(sum, "\x00%d\x00%d\x00%s\x00%s", info.Size(), info.ModTime().UnixNano(), c.Format, c.Column)
	l.source, l.size = hex.EncodeToString(sum.Sum(nil)[:16]), info.Size()
	return nil
}

// progress shows how far the import has come, its speed, and how much longer it takes.
func (l inputList) progress(line *progress) func(store.Import) {
	started := time.Now()
	var first store.Import
	var from int64
	begun := false
	return func(done store.Import) {
		if !begun { // an earlier command's work does not count for the speed
			begun, first, from, started = true, done, l.read.n.Load(), time.Now()
		}
		line.show(importLine(importPace{
			done: done.Entries, since: done.Entries - first.Entries, read: l.read.n.Load(), readSince: l.read.n.Load() - from,
			size: l.size, took: time.Since(started),
		}))
	}
}

// importPace is the progress of an import: in entries and in bytes, in all and
// since the start of the clock.
type importPace struct {
	done, since           int
	read, readSince, size int64
	took                  time.Duration
}

func importLine(p importPace) string {
	text := "importing: " + entries(p.done)
	if p.since == 0 || p.took <= 0 {
		return text
	}
	text += fmt.Sprintf(", %.0f/s", float64(p.since)/p.took.Seconds())
	if p.size > 0 && p.readSince > 0 {
		left := time.Duration(float64(p.took) * float64(p.size-p.read) / float64(p.readSince))
		text += fmt.Sprintf(", %d%%, %s left", 100*p.read/p.size, crawl.FormatDuration(left.Round(time.Second)))
	}
	return text
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// refusedFile is the list of refused entries. It is written from the start unless an
// import goes on.
type refusedFile struct {
	*bufio.Writer
	file *os.File
}

// openRefused returns nil if nobody asked for the list. It must not be the list that is read: the
// import would empty it.
func openRefused(name string, in inputList) (*refusedFile, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, usagef("cannot write the list of refused entries: %w", err)
	}
	if in.isFile(file) {
		return nil, errors.Join(usagef("--refused %s is the list itself, which would be overwritten: name another file", name), file.Close())
	}
	return &refusedFile{bufio.NewWriter(file), file}, nil
}

// Resume implements seeds.Refused. A file that is shorter than before is not the one
// that was written; it goes on at its end.
func (r *refusedFile) Resume(size int64) error {
	info, err := r.file.Stat()
	if err == nil && info.Size() > size {
		err = r.file.Truncate(size)
	}
	if err == nil {
		_, err = r.file.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return fmt.Errorf("list of refused entries: %w", err)
	}
	return nil
}

func (r *refusedFile) close() error {
	if r == nil {
		return nil
	}
	if err := errors.Join(r.Flush(), r.file.Close()); err != nil {
		return fmt.Errorf("list of refused entries: %w", err)
	}
	return nil
}
