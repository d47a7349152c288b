package seeds

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
)

// readSitemap reads a sitemap (sitemaps.org) of any length. It refuses the sitemaps
// that an index names: they are elsewhere.
func readSitemap(in *bufio.Reader) *Reader {
	guard := &bounded{r: in, left: maxEntry}
	d := xml.NewDecoder(guard)
	d.Strict = false
	d.CharsetReader = charsetReader
	s := &sitemapReader{d: d, guard: guard}
	return &Reader{what: "a sitemap", next: s.next}
}

// charsetReader decodes what follows an XML declaration. Text that was readable so far is not in
// UTF-16, whatever it says: it has been decoded, or was saved as UTF-8 by another program.
func charsetReader(label string, in io.Reader) (io.Reader, error) {
	if _, name := charset.Lookup(label); name == "utf-16le" || name == "utf-16be" {
		return in, nil
	}
	return charset.NewReaderLabel(label, in)
}

type sitemapReader struct {
	d     *xml.Decoder
	guard *bounded
	open  []string // elements that are open
}

func (s *sitemapReader) next() (Entry, error) {
	s.guard.rest()
	for {
		token, err := s.d.Token()
		switch {
		case errors.Is(err, io.EOF) && len(s.open) == 0:
			return Entry{}, io.EOF
		case err != nil:
			return Entry{}, fmt.Errorf("it is broken after its entry %d: %w", s.guard.n-1, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			s.open = append(s.open, t.Name.Local)
			if len(s.open) == 1 && t.Name.Local != "urlset" && t.Name.Local != "sitemapindex" {
				return Entry{}, fmt.Errorf("it is XML, but no sitemap: its root is <%s>", t.Name.Local)
			}
			if len(s.open) > 64 {
				return Entry{}, errors.New("its elements are nested more than 64 deep")
			}
			if e, ok, err := s.location(); ok || err != nil {
				return e, err
			}
		case xml.EndElement:
			s.open = s.open[:max(len(s.open)-1, 0)]
		}
	}
}

// location reads the text of <loc> of an entry that has just begun.
func (s *sitemapReader) location() (Entry, bool, error) {
	if len(s.open) != 3 || s.open[2] != "loc" || s.open[1] != "url" && s.open[1] != "sitemap" {
		return Entry{}, false, nil
	}
	var text strings.Builder
	for {
		token, err := s.d.Token()
		if err != nil {
			return Entry{}, false, fmt.Errorf("it is broken after its entry %d: %w", s.guard.n-1, err)
		}
		switch t := token.(type) {
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			s.open = s.open[:len(s.open)-1]
			e := Entry{Text: strings.TrimSpace(text.String())}
			if s.open[1] == "sitemap" {
				e.Refused = ReasonIndex
			}
			return e, true, nil
		case xml.StartElement:
			return Entry{}, false, fmt.Errorf("it is broken after its entry %d: <%s> in <loc>", s.guard.n-1, t.Name.Local)
		}
	}
}
