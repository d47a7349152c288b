package cli

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"recrawl/internal/sim"
)

// traceSuffixes are the suffixes of files of changes.
var traceSuffixes = []string{".csv.gz", ".csv"}

// readTrace reads a file of changes and, if there is one, the file of births and
// deaths beside it.
func readTrace(path string) (*sim.Trace, error) {
	stem, suffix := path, ""
	for _, s := range traceSuffixes {
		if trimmed, ok := strings.CutSuffix(path, s); ok {
			stem, suffix = trimmed, s
			break
		}
	}
	changes, err := openTrace(path)
	if err != nil {
		return nil, err
	}
	defer changes.Close()
	name := filepath.Base(stem)
	pages, err := openTrace(stem + ".pages" + suffix)
	if errors.Is(err, fs.ErrNotExist) {
		return sim.ReadTrace(name, changes, nil)
	}
	if err != nil {
		return nil, err
	}
	defer pages.Close()
	return sim.ReadTrace(name, changes, pages)
}

// traceFile is a file that is unpacked while it is read.
type traceFile struct {
	io.Reader
	io.Closer
}

// openTrace opens a file, gzipped or not.
func openTrace(path string) (*traceFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewReader(file)
	if magic, _ := buffered.Peek(2); string(magic) != "\x1f\x8b" {
		return &traceFile{buffered, file}, nil
	}
	unpacked, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &traceFile{unpacked, file}, nil
}
