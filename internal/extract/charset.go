package extract

import (
	"bytes"
	"regexp"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"recrawl/internal/crawl"
)

// decode converts a body to UTF-8 and names the encoding that it was in: that of
// its byte order mark, of the Content-Type, of a <meta> in the first kilobyte,
// of an XML declaration, or a guess.
func decode(body []byte, media crawl.MediaType) (decoded []byte, name string, err error) {
	enc, name, certain := charset.DetermineEncoding(body, media.String())
	if !certain {
		enc, name = declared(body, media, enc, name)
	}
	// The guess looks at one kilobyte, and takes ASCII there for windows-1252;
	// also, declarations in the page itself are often wrong. Nothing but UTF-8 is
	// valid UTF-8 by accident, except ASCII, which means something else only in
	// ISO-2022-JP.
	if !certain && name != "iso-2022-jp" && utf8.Valid(body) {
		name = "utf-8"
	}
	if name == "utf-8" {
		return bytes.ToValidUTF8(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")), []byte("\uFFFD")), name, nil
	}
	decoded, err = enc.NewDecoder().Bytes(body)
	if err != nil {
		return nil, name, wrapDecode(name, err)
	}
	// UTF-16 keeps its mark, and some decoders let surrogates through.
	return bytes.ToValidUTF8(bytes.TrimPrefix(decoded, []byte("\uFEFF")), []byte("\uFFFD")), name, nil
}

// declaration is an XML declaration with an encoding, within the kilobyte that
// browsers look at.
var declaration = regexp.MustCompile(`^<\?xml[^>]{0,512}?[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*["']([^"'>]{1,64})["']`)

// declared corrects what charset.DetermineEncoding found without certainty by
// two rules of the HTML standard that it does not know.
func declared(body []byte, media crawl.MediaType, found encoding.Encoding, name string) (encoding.Encoding, string) {
	if name == "x-user-defined" { // a <meta> cannot mean it
		return charmap.Windows1252, "windows-1252"
	}
	// In XHTML the declaration counts and <meta> does not; in HTML it is better
	// than the last guess.
	if media.Type != "application/xhtml+xml" && name != "windows-1252" {
		return found, name
	}
	match := declaration.FindSubmatch(body)
	if match == nil {
		return found, name
	}
	e, label := charset.Lookup(string(match[1]))
	switch {
	case e == nil:
		return found, name
	case label == "utf-16le", label == "utf-16be": // it could not be read if it were
		return encoding.Nop, "utf-8"
	}
	return e, label
}
