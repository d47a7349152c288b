package sitemap

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/net/html/charset"
)

// This file reads text that is not quite XML. One byte in another encoding, or one
// control character, must not cost the fifty thousand entries after it: unreadable
// parts are left out and counted, and the reading goes on after them.

// maxBroken is the number of places that are not XML after which a list is given up.
// Each costs another decoder.
const maxBroken = 100_000

var errBroken = fmt.Errorf("it is broken in more than %d places", maxBroken)

// declared is an XML declaration as it should begin a document, and encodingOf the
// encoding in it.
var (
	declared = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[ \t\r\n]*<\?xml[ \t\r\n][^>]{0,512}?\?>`)
	})
	encodingOf = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*["']([^"'>]{1,64})["']`)
	})
)

// undeclared removes an XML declaration, and makes UTF-8 of the encoding that it names,
// unless that is known already. Text that was readable so far is not in UTF-16, whatever
// it says, and an unknown encoding is read as UTF-8. The version and the rest of a
// declaration do not matter.
func undeclared(r *bufio.Reader, told bool) (*bufio.Reader, error) {
	head, _ := r.Peek(1024)
	found := declared().Find(head)
	label := encodingOf().FindSubmatch(found)
	if _, err := r.Discard(len(found)); err != nil || told || label == nil {
		return r, err
	}
	if _, name := charset.Lookup(string(label[1])); isUTF16(name) {
		return r, nil
	}
	if converted := reader(string(label[1]), r); converted != nil {
		return converted, nil
	}
	return r, nil
}

func isUTF16(name string) bool { return name == "utf-16le" || name == "utf-16be" }

// markless is the name of the UTF-16 in which the beginning of a document in ASCII is
// written although it has no mark, "" for none.
func markless(head []byte) string {
	switch {
	case len(head) < 2:
	case head[0] != 0 && head[1] == 0:
		return "utf-16le"
	case head[0] == 0 && head[1] != 0:
		return "utf-16be"
	}
	return ""
}

// newDecoder reads XML from the current position in the list.
func (l *lister) newDecoder() *xml.Decoder {
	d := xml.NewDecoder(l.in)
	d.Strict, d.Entity = false, xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // read already
	return d
}

// goOn leaves out the part that a decoder could not read and returns a decoder for
// the rest. It returns the error if there is no rest.
func (e *elements) goOn(err error) (*xml.Decoder, error) {
	var syntax *xml.SyntaxError
	inComment := errors.As(err, &syntax) && strings.Contains(syntax.Msg, "comment")
	if e.in.err != nil || e.list.Format == "" && !inComment {
		return nil, err
	}
	if e.broken++; e.broken > maxBroken {
		return nil, errBroken
	}
	e.text, e.spoilt = nil, true
	e.list.drop(DropBroken, 1)
	if inComment {
		if err := e.in.skip("-->"); err != nil {
			return nil, err
		}
	} else {
		e.in.unreadAngle()
	}
	return e.newDecoder(), nil
}

// skip reads up to the end of a text.
func (g *guard) skip(until string) error {
	var last []byte
	for {
		c, err := g.ReadByte()
		if err != nil {
			return err
		}
		if last = append(last, c); len(last) > len(until) {
			last = last[1:]
		}
		if bytes.Equal(last, []byte(until)) {
			return nil
		}
	}
}

// unreadAngle gives an opening angle bracket back if it was read last: the decoder that
// failed has read it only to see where its token ends.
func (g *guard) unreadAngle() {
	if g.last == '<' && !g.unread {
		g.unread = true
	}
}

// bare adds the URLs that stand as text in place of elements.
func (e *elements) bare(text []byte) {
	if !e.list.ofURLs() {
		return
	}
	switch {
	case e.parent():
		if e.entry.bare == "" {
			e.entry.bare = absolute(text)
		}
	case e.entry == nil && len(e.open) == 1:
		for field := range bytes.FieldsSeq(text) {
			if href := absolute(field); href != "" {
				e.list.add(e.base, found{href: href, sitemap: e.list.Format == FormatIndex}, e.most)
			}
		}
	}
}

// absolute returns a text that may be an absolute URL, else "".
func absolute(text []byte) string {
	text = bytes.TrimSpace(text)
	if len(text) > maxURL || !bytes.HasPrefix(text, []byte("http://")) && !bytes.HasPrefix(text, []byte("https://")) {
		return ""
	}
	return string(text)
}
