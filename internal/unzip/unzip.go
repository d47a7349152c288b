// Package unzip reads gzip files as gzip(1) and browsers do: one member after the other, and
// nothing of what follows the last one.
package unzip

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// magic begins a gzip file, and each of its members (RFC 1952 section 2.3.1).
var magic = []byte{0x1F, 0x8B}

// IsGzip reports whether a body begins as a gzip file does.
func IsGzip(head []byte) bool { return bytes.HasPrefix(head, magic) }

// NewReader reads the plain bytes of a gzip file. What follows its last member is ignored: some
// files and bodies end with zeros or a line feed. Its errors are those of package gzip, and
// those of the body.
func NewReader(body *bufio.Reader) (io.Reader, error) {
	r, err := gzip.NewReader(body)
	if err != nil {
		return nil, err
	}
	r.Multistream(false)
	return &members{r, body}, nil
}

type members struct {
	*gzip.Reader
	body *bufio.Reader
}

// Read implements io.Reader.
func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.Reader.Read(p)
		if n > 0 || !errors.Is(err, io.EOF) {
			if errors.Is(err, io.EOF) {
				err = nil // another member may follow
			}
			return n, err
		}
		head, err := m.body.Peek(len(magic))
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if !IsGzip(head) {
			return 0, io.EOF
		}
		if err := m.Reset(m.body); err != nil {
			return 0, err
		}
		m.Multistream(false)
	}
}
