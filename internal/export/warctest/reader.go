// Package warctest reads WARC files and says where they break the standard:
// ISO 28500:2017 (WARC/1.1) and ISO 28500:2009 (WARC/1.0), each record by the
// version that it declares. It is written from the text of the standard and
// shares no code with the writer of package export, so that the one can judge the
// other. Section numbers are those of WARC/1.1.
//
// It does not follow records that are continued in other files (clause 7).
package warctest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxHeader bounds a record's header in bytes. The standard has no limit; a file
// that is not a WARC must not fill the memory.
const maxHeader = 1 << 20

// The versions of the format.
const (
	Version10 = "WARC/1.0"
	Version11 = "WARC/1.1"
)

// Reader reads the records of a WARC file, plain or gzip, in their order. It enforces the
// grammar of clause 4: errors of the format are SyntaxErrors.
type Reader struct {
	in     *counter
	member *gzip.Reader  // nil: the file is not compressed
	data   *bufio.Reader // what is left of the member, or of the file
	begin  int64         // of the member
	last   *Record       // whose block and end have not been read
	done   bool          // the rest can no longer be parsed
}

// SyntaxError says where a file breaks the grammar of WARC files.
type SyntaxError struct {
	Offset int64  // of the record, in the file as stored
	Rule   string // section
	Text   string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("record at %d: %s (%s)", e.Offset, e.Text, e.Rule)
}

// Record is one record of a file.
type Record struct {
	// Offset is where the record, or its gzip member, begins in the file.
	Offset  int64
	Version string // Version10 or Version11
	Fields  []Field
	// Block is the content block, Content-Length bytes. It can be read until the
	// next call of Next, which skips what is left. One that the file cuts short ends
	// with io.ErrUnexpectedEOF.
	Block io.Reader
	// Length is the Content-Length.
	Length int64
	// Shared: an earlier record lies in the same gzip member (annex D.2).
	Shared bool
}

// Field is a named field with its name as written.
type Field struct {
	Name, Value string
	Folded      bool // the value went over several lines
}

// Get returns the value of the first field of a name, in whatever case, or "".
func (r *Record) Get(name string) string {
	for _, f := range r.Fields {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// NewReader reads the WARC file r. It buffers.
func NewReader(r io.Reader) *Reader { return &Reader{in: &counter{r: bufio.NewReaderSize(r, 64<<10)}} }

// Next returns the next record, or io.EOF where the file ends. After a SyntaxError
// in a compressed file the next call goes on with the next member; in a plain file
// there is no way to find the next record, and io.EOF follows.
func (r *Reader) Next() (*Record, error) {
	if r.done {
		return nil, io.EOF
	}
	if err := r.endRecord(); err != nil {
		return nil, r.abandon(err)
	}
	rec, err := r.open()
	if err != nil {
		return nil, r.abandon(err)
	}
	if err := r.header(rec); err != nil {
		return nil, r.abandon(err)
	}
	rec.Block = &block{R: r.data, N: rec.Length}
	r.last = rec
	return rec, nil
}

// open makes the next record's data readable.
func (r *Reader) open() (*Record, error) {
	if r.data == nil {
		return r.openFile()
	}
	_, err := r.data.Peek(1)
	switch {
	case err == nil && r.member == nil:
		return &Record{Offset: r.in.n - int64(r.data.Buffered())}, nil
	case err == nil:
		return &Record{Offset: r.begin, Shared: true}, nil
	case err == io.EOF && r.member != nil:
		return r.openMember()
	case err == io.EOF:
		return nil, io.EOF
	}
	return nil, r.damaged(err)
}

func (r *Reader) openFile() (*Record, error) {
	magic, err := r.in.r.Peek(2)
	if len(magic) == 0 {
		return nil, r.in.keep(err)
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		r.data = bufio.NewReader(r.in)
		return &Record{}, nil
	}
	r.member, r.data = new(gzip.Reader), bufio.NewReader(nil)
	return r.openMember()
}

func (r *Reader) openMember() (*Record, error) {
	r.begin = r.in.n
	if _, err := r.in.r.Peek(1); err != nil {
		return nil, r.in.keep(err) // io.EOF: the file ends where a member does
	}
	if err := r.member.Reset(r.in); err != nil {
		return nil, r.damaged(err)
	}
	r.member.Multistream(false)
	r.data.Reset(r.member)
	return &Record{Offset: r.begin}, nil
}

func (r *Reader) damaged(err error) error {
	r.done = true
	return r.syntax(&Record{Offset: r.begin}, "annex D", "no whole gzip member: %v", err)
}

// endRecord skips what is left of a block and reads the two newlines after it.
func (r *Reader) endRecord() error {
	rec := r.last
	if rec == nil {
		return nil
	}
	r.last = nil
	if _, err := io.Copy(io.Discard, rec.Block); err != nil {
		return r.syntax(rec, "5.3", "the file ends inside the block of %d bytes: %v", rec.Length, err)
	}
	var end [4]byte
	if n, err := io.ReadFull(r.data, end[:]); err != nil || string(end[:]) != "\r\n\r\n" {
		return r.syntax(rec, "4", "%q follows the block of %d bytes instead of two CRLFs", end[:n], rec.Length)
	}
	return nil
}

// abandon gives up the rest of a member, or of the file, after an error.
func (r *Reader) abandon(err error) error {
	r.last = nil
	if r.in.err != nil {
		err = r.in.err
	}
	var syntax *SyntaxError
	if r.done = r.done || r.member == nil || !errors.As(err, &syntax); r.done {
		return err
	}
	_, skipErr := io.Copy(io.Discard, r.data)
	r.done = skipErr != nil // the member is damaged, and its end not to be found
	return err
}

func (r *Reader) syntax(rec *Record, rule, format string, args ...any) error {
	if r.in.err != nil {
		return r.in.err
	}
	return &SyntaxError{rec.Offset, rule, fmt.Sprintf(format, args...)}
}

// header reads the version line and the named fields up to the blank line.
func (r *Reader) header(rec *Record) error {
	budget := maxHeader
	line, err := r.line(rec, &budget)
	if err != nil {
		return err
	}
	if rec.Version = line; line != Version10 && line != Version11 {
		return r.syntax(rec, "4", "%.40q begins no record of a known version", line)
	}
	for {
		if line, err = r.line(rec, &budget); err != nil {
			return err
		}
		if line == "" {
			return r.length(rec)
		}
		if err := rec.addLine(line); err != nil {
			return r.syntax(rec, "4", "%v", err)
		}
	}
}

// line reads a line of the header without its CRLF.
func (r *Reader) line(rec *Record, budget *int) (string, error) {
	var line []byte
	for {
		part, err := r.data.ReadSlice('\n')
		line = append(line, part...)
		if *budget -= len(part); *budget < 0 {
			return "", r.syntax(rec, "4", "a header of more than %d bytes", maxHeader)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err != nil:
			return "", r.syntax(rec, "4", "the header ends inside the line %.40q: %v", line, err)
		case !bytes.HasSuffix(line, []byte("\r\n")):
			return "", r.syntax(rec, "4", "the header's line %.40q ends without CR", line)
		}
		return string(line[:len(line)-2]), nil
	}
}

// addLine adds a line of the header: a named field, or more of the last one.
func (r *Record) addLine(line string) error {
	if !utf8.ValidString(line) {
		return fmt.Errorf("the field %.40q is not UTF-8", line)
	}
	if i := strings.IndexFunc(line, isControl); i >= 0 {
		return fmt.Errorf("the field %.40q has the control character %q", line, line[i])
	}
	if line[0] == ' ' || line[0] == '\t' {
		if len(r.Fields) == 0 {
			return fmt.Errorf("the first field %.40q begins with white space", line)
		}
		last := &r.Fields[len(r.Fields)-1]
		last.Value, last.Folded = strings.Trim(last.Value+" "+strings.Trim(line, " \t"), " \t"), true
		return nil
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok || !isToken(name) {
		return fmt.Errorf("%.40q is no named field", line)
	}
	r.Fields = append(r.Fields, Field{Name: name, Value: strings.Trim(value, " \t")})
	return nil
}

// length reads the Content-Length, without which the block cannot be found.
func (r *Reader) length(rec *Record) error {
	text := rec.Get("Content-Length")
	if text == "" {
		return r.syntax(rec, "5.3", "no Content-Length")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !isDigits(text) {
		return r.syntax(rec, "5.3", "Content-Length %.40q is not a number of bytes", text)
	}
	rec.Length = n
	return nil
}

// isControl reports whether a character is one of the CTLs that a field's value
// may not have; a tab is white space.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// isToken reports whether s is a token: US-ASCII without CTLs and separators.
func isToken(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f || strings.IndexByte("()<>@,;:\\\"/[]?={}", s[i]) >= 0 {
			return false
		}
	}
	return s != ""
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// block is a content block: a file that ends inside it is an error.
type block io.LimitedReader

// Read implements io.Reader.
func (b *block) Read(p []byte) (int, error) {
	if b.N <= 0 {
		return 0, io.EOF
	}
	n, err := (*io.LimitedReader)(b).Read(p)
	if err == io.EOF && b.N > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// counter counts what is taken from a file. It is a flate.Reader, from which
// decompression takes no byte more than it needs.
type counter struct {
	r   *bufio.Reader
	n   int64
	err error // of the file, other than its end
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, c.keep(err)
}

// ReadByte implements io.ByteReader.
func (c *counter) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, c.keep(err)
}

func (c *counter) keep(err error) error {
	if err != nil && err != io.EOF {
		c.err = err
	}
	return err
}
