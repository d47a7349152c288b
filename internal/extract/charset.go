package extract

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"recrawl/internal/crawl"
)

// decode converts a body to UTF-8 and names the encoding that it was in: that of
// its byte order mark, of the Content-Type, of a <meta> in the first kilobyte,
// or a guess.
func decode(body []byte, media crawl.MediaType) (decoded []byte, name string, err error) {
	encoding, name, certain := charset.DetermineEncoding(body, media.String())
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
	decoded, err = encoding.NewDecoder().Bytes(body)
	if err != nil {
		return nil, name, wrapDecode(name, err)
	}
	// UTF-16 keeps its mark, and some decoders let surrogates through.
	return bytes.ToValidUTF8(bytes.TrimPrefix(decoded, []byte("\uFEFF")), []byte("\uFFFD")), name, nil
}
