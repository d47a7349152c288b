package warctest

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
)

// hashes are the algorithms that are verified; see sizes.
var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
}

// sum takes the bytes of a digest field. A field that is missing, unreadable or of an
// unknown algorithm also takes them, and matches any.
type sum struct {
	hash.Hash // nil: nothing to verify
	want      digest
}

func (r *Record) sum(field string) *sum {
	want, err := parseDigest(r.Get(field))
	if err != nil || want.sum == "" {
		return &sum{}
	}
	return &sum{Hash: hashes[want.algorithm](), want: want}
}

// Write implements io.Writer.
func (s *sum) Write(p []byte) (int, error) {
	if s.Hash != nil {
		s.Hash.Write(p)
	}
	return len(p), nil
}

func (s *sum) matches() bool { return s.Hash == nil || string(s.Sum(nil)) == s.want.sum }

// block reads the content block and verifies its digests. The reader reports a block that
// the file cuts short.
func (c *checker) block() {
	whole := c.rec.sum("WARC-Block-Digest")
	r := c.buffer
	r.Reset(io.TeeReader(c.rec.Block, whole))
	var err error
	switch essence := strings.ToLower(c.rec.Get("Content-Type")); {
	case c.isHTTP(essence):
		err = c.message(r, essence)
	case strings.HasPrefix(essence, "application/warc-fields"):
		err = c.warcFields(r)
	case c.kind == "resource" || c.kind == "conversion":
		err = c.payload(r) // the payload is the block (6.4, 6.8)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	if err == nil && !whole.matches() {
		c.broken("5.8", "the block's digest is not WARC-Block-Digest")
	}
}

// isHTTP reports whether the block is an HTTP message (6.3.2, 6.5.2, 6.7).
func (c *checker) isHTTP(essence string) bool {
	target := strings.ToLower(strings.TrimPrefix(c.rec.Get("WARC-Target-URI"), "<"))
	if c.rec.Length == 0 || !strings.HasPrefix(target, "http:") && !strings.HasPrefix(target, "https:") {
		return false
	}
	switch c.kind {
	case "response", "request":
		if !strings.HasPrefix(essence, "application/http") {
			c.advise("6.3.2", "Content-Type is not application/http;msgtype=%s", c.kind)
		}
		return true
	case "revisit":
		return c.rec.profile() != ""
	}
	return false
}

// payload verifies the digest of a payload, which is all of r.
func (c *checker) payload(r io.Reader) error {
	s := c.rec.sum("WARC-Payload-Digest")
	if _, err := io.Copy(s, r); err != nil {
		return err
	}
	if !s.matches() && !c.rec.has("WARC-Segment-Number") {
		c.broken("5.9", "the payload's digest is not WARC-Payload-Digest")
	}
	return nil
}

// maxFields bounds the examined part of a block of named fields, in bytes.
const maxFields = 1 << 20

// warcFields: lines of named fields, and an empty one at the end (clause 4).
func (c *checker) warcFields(r io.Reader) error {
	block, err := io.ReadAll(io.LimitReader(r, maxFields))
	if err != nil {
		return err
	}
	lines := bytes.Split(block, []byte("\n"))
	var rec Record
	for i, line := range lines {
		text, whole := bytes.CutSuffix(line, []byte("\r"))
		switch {
		case i == len(lines)-1 && len(line) == 0:
		case !whole:
			c.broken("4", "a line of warc-fields does not end with CRLF: %.60q", line)
			return nil
		case len(text) == 0 && i >= len(lines)-3:
			// The grammar's CRLF after the fields; some writers add another.
		case len(text) == 0:
			c.broken("4", "an empty line among warc-fields")
			return nil
		default:
			if err := rec.addLine(string(text)); err != nil {
				c.broken("4", "warc-fields: %v", err)
				return nil
			}
		}
	}
	return nil
}

// message reads an HTTP message and verifies its payload, the entity-body: everything after
// the head, without a transfer coding. An illegal message is only advised against, since a
// site may have sent it that way (6.3.2).
func (c *checker) message(r *bufio.Reader, essence string) error {
	h, err := readHead(r)
	if errors.As(err, new(headError)) {
		c.advise("6.3.2", "the block is no HTTP message: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	request := c.kind == "request"
	if request != h.request || strings.Contains(essence, "msgtype=request") != request && strings.Contains(essence, "msgtype=") {
		c.advise("6.3.2", "the block's message is of another kind than its record")
	}
	bare, decoded := c.rec.sum("WARC-Payload-Digest"), c.rec.sum("WARC-Payload-Digest")
	n, err := readBody(r, h, bare, decoded)
	if err != nil {
		return err
	}
	c.bodyLength(h, n)
	switch {
	case c.kind == "revisit":
		if n == 0 && c.rec.profile() == identicalPayload && c.rec.Get("WARC-Truncated") != "length" {
			c.broken("6.7.2", "a block without its identical payload shall have WARC-Truncated: length")
		}
	case c.rec.has("WARC-Segment-Number") || decoded.matches():
	case bare.matches():
		c.advise("5.9", "WARC-Payload-Digest is that of the body with its transfer coding")
	default:
		c.broken("5.9", "the payload's digest is not WARC-Payload-Digest")
	}
	return nil
}

// bodyLength: a Content-Length that differs from the record's misleads readers that rely on
// it.
func (c *checker) bodyLength(h head, n int64) {
	if h.request || h.chunked || h.length < 0 || c.kind == "revisit" || c.rec.has("WARC-Truncated") || h.length == n {
		return
	}
	c.advise("6.3.2", "the HTTP Content-Length is %d, the body has %d bytes", h.length, n)
}

// head holds the needed parts of an HTTP message's head.
type head struct {
	request bool
	chunked bool
	length  int64 // of the body, -1 if it does not say
}

// headError says why bytes are no HTTP head.
type headError string

func (e headError) Error() string { return string(e) }

// readHead reads the head of an HTTP message up to the empty line.
func readHead(r *bufio.Reader) (head, error) {
	h := head{length: -1}
	line, err := headLine(r)
	if err != nil {
		return h, err
	}
	if h.request, err = startLine(line); err != nil {
		return h, err
	}
	for {
		if line, err = headLine(r); err != nil || line == "" {
			return h, err
		}
		name, value, ok := strings.Cut(line, ":")
		if line[0] == ' ' || line[0] == '\t' {
			continue
		}
		if !ok || !isToken(name) {
			return h, headError(fmt.Sprintf("%.40q is no field", line))
		}
		switch value = strings.Trim(value, " \t"); strings.ToLower(name) {
		case "transfer-encoding":
			h.chunked = strings.HasSuffix(strings.ToLower(value), "chunked")
		case "content-length":
			if h.length, err = strconv.ParseInt(value, 10, 64); err != nil {
				h.length = -1
			}
		}
	}
}

// headLine reads a line that ends with CRLF or, as some servers send, LF.
func headLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n')
	if err == io.EOF || err == bufio.ErrBufferFull {
		return "", headError(fmt.Sprintf("%.40q ends nowhere", line))
	}
	return strings.TrimRight(string(line), "\r\n"), err
}

// startLine tells a request line from a status line.
func startLine(line string) (request bool, err error) {
	first, rest, _ := strings.Cut(line, " ")
	if strings.HasPrefix(first, "HTTP/") {
		if code, _, _ := strings.Cut(rest, " "); len(code) != 3 || !isDigits(code) {
			return false, headError(fmt.Sprintf("%.40q is no status line", line))
		}
		return false, nil
	}
	if _, version, ok := strings.Cut(rest, " "); !ok || !isToken(first) || !strings.HasPrefix(version, "HTTP/") {
		return false, headError(fmt.Sprintf("%.40q is no start line", line))
	}
	return true, nil
}

// readBody reads a message's body into bare unchanged and into decoded without its transfer
// coding, and returns its unchanged length. If the chunks of a body cannot be read, only
// bare has its digest.
func readBody(r *bufio.Reader, h head, bare, decoded io.Writer) (int64, error) {
	count := &count{}
	if !h.chunked {
		_, err := io.Copy(io.MultiWriter(bare, decoded, count), r)
		return count.n, err
	}
	raw := bufio.NewReader(io.TeeReader(r, io.MultiWriter(bare, count)))
	err := dechunk(raw, decoded)
	if err == nil || errors.As(err, new(headError)) {
		_, err = io.Copy(io.Discard, raw)
	}
	return count.n, err
}

type count struct{ n int64 }

// Write implements io.Writer.
func (c *count) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// dechunk removes the chunked transfer coding (RFC 9112 7.1), trailers included.
func dechunk(r *bufio.Reader, w io.Writer) error {
	for {
		line, err := headLine(r)
		if err != nil {
			return err
		}
		text, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseUint(strings.Trim(text, " \t"), 16, 62)
		if err != nil {
			return headError("no chunk")
		}
		for n == 0 {
			if line, err = headLine(r); err != nil || line == "" {
				return err
			}
		}
		if _, err := io.CopyN(w, r, int64(n)); err != nil {
			if err == io.EOF {
				return headError("a chunk ends nowhere")
			}
			return err
		}
		if line, err = headLine(r); err != nil {
			return err
		}
		if line != "" {
			return headError("a chunk is followed by more")
		}
	}
}
