package seeds

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"recrawl/internal/crawl"
	"recrawl/internal/unzip"
)

// Format is the format of a list.
type Format string

// The formats.
const (
	FormatAuto    Format = "auto" // detected from the start
	FormatURLs    Format = "urls"
	FormatCSV     Format = "csv"
	FormatSitemap Format = "sitemap"
	FormatCDXJ    Format = "cdxj"
	FormatWARC    Format = "warc"
)

const (
	// looked is how many bytes of a list are read to detect its format.
	looked = 64 << 10
	// maxEntry bounds one entry in bytes, with its surroundings.
	maxEntry = 1 << 20
)

// Entry is one entry of a list.
type Entry struct {
	Text string // the URL as it is written
	// Refused is why it can be no seed whatever its URL is, or "".
	Refused string
}

// Reader reads a list, an entry at a time, in memory for one entry.
type Reader struct {
	what string
	next func() (Entry, error)
}

// What describes the list in words, such as "CSV, column 2 (url)".
func (r *Reader) What() string { return r.what }

// Next returns the next entry, or io.EOF after the last one. Any other error says what
// is wrong with the rest of the list.
func (r *Reader) Next() (Entry, error) { return r.next() }

// Options say how a list is read.
type Options struct {
	Format Format
	// Column is the name or the number, from 1 on, of a CSV file's column with the URLs;
	// "" detects it.
	Column string
}

// Open reads the start of a list, gzipped or not, and returns its reader.
func Open(in io.Reader, o Options) (*Reader, error) {
	plain, zipped, err := unpack(bufio.NewReaderSize(in, looked))
	if err != nil {
		return nil, err
	}
	head, err := plain.Peek(looked)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return nil, errors.New("it is empty")
	}
	if bytes.IndexByte(head, '\r') >= 0 && bytes.IndexByte(head, '\n') < 0 {
		plain = bufio.NewReaderSize(lineFeeds{plain}, looked)
		head, _ = plain.Peek(looked) // an error comes again
	}
	format := o.Format
	if format == "" || format == FormatAuto {
		if format, err = detect(head); err != nil {
			return nil, err
		}
	}
	if o.Column != "" && o.Format != FormatCSV && format != FormatCSV {
		format = FormatCSV
	}
	r, err := open(plain, head, format, o)
	if err == nil && zipped {
		r.what = "gzipped " + r.what
	}
	return r, err
}

func open(in *bufio.Reader, head []byte, format Format, o Options) (*Reader, error) {
	switch format {
	case FormatURLs:
		return readLines(in, "a list of URLs", urlLine), nil
	case FormatCDXJ:
		return readLines(in, "CDXJ", indexLine), nil
	case FormatCSV:
		return readCSV(in, head, o.Column)
	case FormatSitemap:
		return readSitemap(in), nil
	case FormatWARC:
		return readWARC(in), nil
	}
	return nil, fmt.Errorf("%q is no format: use urls, csv, sitemap, cdxj or warc", format)
}

// lineFeeds makes line feeds of carriage returns. Spreadsheets write "CSV for Macintosh" with
// nothing else at the ends of lines, and URLs drop them: the list would be one long URL.
type lineFeeds struct{ io.Reader }

// Read implements io.Reader.
func (l lineFeeds) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	for i, c := range p[:n] {
		if c == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// packed are the first bytes of formats that must be unpacked by other programs.
var packed = map[string]string{
	"PK\x03\x04": "a ZIP file", "BZh": "compressed by bzip2", "\xFD7zXZ": "compressed by xz", "\x28\xB5\x2F\xFD": "compressed by zstd",
	"7z\xBC\xAF": "a 7z file",
}

// unpack undoes a gzip coding and makes UTF-8 of UTF-16.
func unpack(in *bufio.Reader) (plain *bufio.Reader, zipped bool, err error) {
	head, _ := in.Peek(6) // an error comes again
	for magic, what := range packed {
		if bytes.HasPrefix(head, []byte(magic)) {
			return nil, false, fmt.Errorf("it is %s: unpack it first, or make it gzip", what)
		}
	}
	if unzip.IsGzip(head) {
		members, err := unzip.NewReader(in)
		if err != nil {
			return nil, true, fmt.Errorf("its gzip coding is broken: %w", err)
		}
		in, zipped = bufio.NewReaderSize(members, looked), true
		head, _ = in.Peek(3)
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		_, err = in.Discard(3)
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}), bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		text := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder()
		in = bufio.NewReaderSize(transform.NewReader(in, text), looked)
	}
	return in, zipped, err
}

// detect detects a format by the start of a list.
func detect(head []byte) (Format, error) {
	text := bytes.TrimSpace(head)
	switch {
	case bytes.HasPrefix(text, []byte("WARC/")):
		return FormatWARC, nil
	case text[0] == '<':
		return FormatSitemap, nil
	case bytes.IndexByte(text, 0) >= 0:
		return "", errors.New("it is no text: a list of URLs, CSV, a sitemap, CDXJ or WARC is read, gzipped or not")
	}
	lines := wholeLines(head)
	if len(lines) > 0 && isIndexLine(lines[0]) {
		return FormatCDXJ, nil
	}
	if _, ok := columnOf(lines); ok {
		return FormatCSV, nil
	}
	return FormatURLs, nil
}

// wholeLines returns the non-blank lines among the first hundred; the last one only
// if it is whole or the only one.
func wholeLines(head []byte) []string {
	const sample = 100
	all := strings.Split(string(head), "\n")
	if len(head) >= looked && len(all) > 1 {
		all = all[:len(all)-1]
	}
	var lines []string
	for _, line := range all {
		if line = strings.TrimSpace(line); line != "" && !isComment(line) && len(lines) < sample {
			lines = append(lines, line)
		}
	}
	return lines
}

func isComment(line string) bool { return strings.HasPrefix(line, "#") }

// tooLong is the error of an entry that has no end.
func tooLong(n int) error {
	return fmt.Errorf("entry %d has more than %s: is a quote left open, or is it no list?", n, crawl.Size(maxEntry))
}

// bounded fails when more than maxEntry is read between two calls of rest.
type bounded struct {
	r    *bufio.Reader
	left int
	n    int // entries that have been read
}

func (b *bounded) rest() {
	b.left = maxEntry
	b.n++
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, tooLong(b.n)
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// ReadByte implements io.ByteReader, so that a decoder reads no further than it must.
func (b *bounded) ReadByte() (byte, error) {
	if b.left <= 0 {
		return 0, tooLong(b.n)
	}
	b.left--
	return b.r.ReadByte()
}
