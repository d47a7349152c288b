package sitemap

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"recrawl/internal/crawl"
	"recrawl/internal/unzip"
	"recrawl/internal/urlkey"
)

// Source is a body with where it comes from.
type Source struct {
	Body        io.Reader
	URL         urlkey.URL
	ContentType string
	// MaxURLs is the greatest number of entries that are kept, ≥ 1.
	MaxURLs int

	maxBytes int64 // MaxBytes, unless a test is in a hurry
}

// Read reads a list as it streams in, in memory for its result and one token. A
// gzip coding is undone. A list that is broken in the middle yields the entries
// before that, with a Problem. The error is ErrNoList for a body that is no list at
// all, else that of Body.
func Read(src Source) (List, error) {
	body := &watched{r: src.Body}
	list, err := read(src, body)
	switch {
	case body.err != nil:
		return List{}, fmt.Errorf("read %s: %w", src.URL, body.err)
	case list.Format == "":
		return List{}, ErrNoList
	case err != nil:
		list.Problem = problem(err)
	}
	return list, nil
}

func read(src Source, body io.Reader) (List, error) {
	plain, err := unpacked(bufio.NewReader(body))
	if err != nil {
		return List{}, err
	}
	text, decoded, err := decode(plain, crawl.ParseMediaType(src.ContentType).Charset)
	if err == nil {
		text, err = undeclared(text, decoded)
	}
	if err != nil {
		return List{}, err
	}
	l := lister{in: &guard{r: text, left: cmp.Or(src.maxBytes, MaxBytes)}, base: urlkey.NewBase(src.URL), most: src.MaxURLs}
	switch first := firstByte(text); first {
	case '<':
		err = l.xml()
	case '{':
		err = l.json()
	case 0:
		err = ErrNoList
	default:
		err = l.lines()
	}
	return l.list, err
}

// lister reads one list.
type lister struct {
	in   *guard
	base urlkey.Base
	most int
	list List
}

// unpacked undoes one gzip coding, if there is one.
func unpacked(r *bufio.Reader) (*bufio.Reader, error) {
	head, _ := r.Peek(2) // an error comes again
	if !unzip.IsGzip(head) {
		return r, nil
	}
	plain, err := unzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	return bufio.NewReader(plain), nil
}

// decode makes UTF-8 of a text that a byte order mark or the Content-Type declares
// to be something else, and reports whether one of them did.
func decode(r *bufio.Reader, label string) (text *bufio.Reader, told bool, err error) {
	if told, err = pastMarks(r); told || err != nil {
		return r, told, err
	}
	head, _ := r.Peek(3)
	switch {
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}), bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		utf16 := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder()
		return bufio.NewReader(transform.NewReader(r, utf16)), true, nil
	case markless(head) != "":
		label = markless(head)
	case label == "":
		return r, false, nil
	default:
		if _, name := charset.Lookup(label); isUTF16(name) {
			return r, false, nil // it cannot be: the document may know better
		}
	}
	converted := reader(label, r)
	if converted == nil {
		return r, false, nil // unknown: the document may know better
	}
	return converted, true, nil
}

// pastMarks passes over the byte order marks of UTF-8 with which a text begins, and reports whether
// there are any. Pages that are put together of files have one of each, perhaps behind white space.
func pastMarks(r *bufio.Reader) (found bool, err error) {
	const (
		mark      = "\xEF\xBB\xBF"
		mostMarks = 16
		mostSpace = 64
	)
	for range mostMarks {
		head, _ := r.Peek(mostSpace + len(mark)) // an error comes again
		rest, marked := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte(mark))
		if !marked {
			break
		}
		found = true
		if _, err := r.Discard(len(head) - len(rest)); err != nil {
			return found, err
		}
	}
	return found, nil
}

// reader makes UTF-8 of the encoding with this label; nil if the label is unknown.
func reader(label string, r io.Reader) *bufio.Reader {
	in, name := charset.Lookup(label)
	switch {
	case in == nil:
		return nil
	case name == "gbk":
		in = simplifiedchinese.GB18030 // GBK with more characters, by which GBK is read (Encoding standard 10.1.1)
	}
	return bufio.NewReader(transform.NewReader(r, in.NewDecoder()))
}

// firstByte is the first byte that is no white space, 0 if there is none near.
func firstByte(r *bufio.Reader) byte {
	head, _ := r.Peek(1024)
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 {
		return 0
	}
	return head[0]
}

// errors that end the reading of a list.
var (
	errTooLarge = fmt.Errorf("it has more than %s", crawl.Size(MaxBytes))
	errToken    = fmt.Errorf("one part of it has more than %s", crawl.Size(maxToken))
	errTooDeep  = fmt.Errorf("its elements are nested more than %d deep", maxDepth)
)

// guard bounds the reading: in all, and between two calls of rest.
type guard struct {
	r           *bufio.Reader
	left, token int64
	err         error // that ended it
	last        byte
	unread      bool // last must be read once more
}

// rest allows another token.
func (g *guard) rest() { g.token = maxToken }

func (g *guard) bound() error {
	switch {
	case g.err != nil:
	case g.left <= 0:
		if _, g.err = g.r.Peek(1); g.err == nil { // else it ends just here
			g.err = errTooLarge
		}
	case g.token <= 0:
		g.err = errToken
	}
	return g.err
}

// Read implements io.Reader.
func (g *guard) Read(p []byte) (int, error) {
	if err := g.bound(); err != nil {
		return 0, err
	}
	var n int
	n, g.err = g.r.Read(p[:min(int64(len(p)), g.left, g.token)])
	g.left -= int64(n)
	g.token -= int64(n)
	return n, g.err
}

// ReadByte implements io.ByteReader, so that a decoder reads no further than it
// must.
func (g *guard) ReadByte() (byte, error) {
	if g.unread {
		g.unread = false
		return g.last, nil
	}
	if err := g.bound(); err != nil {
		return 0, err
	}
	g.left--
	g.token--
	g.last, g.err = g.r.ReadByte()
	return g.last, g.err
}

// watched remembers an error of the body itself, which says nothing about the
// list.
type watched struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

// maxProblem bounds a problem in bytes.
const maxProblem = 200

// problem says in plain words why the rest of a list could not be read.
func problem(err error) string {
	var syntax *xml.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.As(err, &syntax) && strings.HasSuffix(syntax.Msg, "unexpected EOF"):
		return "it ends in the middle"
	case errors.As(err, &syntax):
		return crawl.Clean(fmt.Sprintf("it is broken in line %d: %s", syntax.Line, syntax.Msg), maxProblem)
	case errors.Is(err, errTooLarge), errors.Is(err, errToken), errors.Is(err, errTooDeep), errors.Is(err, errBroken):
		return err.Error()
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return "its gzip coding is broken"
	}
	return crawl.Clean("it is broken: "+err.Error(), maxProblem)
}
