package extract

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"

	"recrawl/internal/crawl"
)

// maxPrescan bounds how far the search for a <meta> goes. The heads of some pages carry
// their styles and scripts before it.
const maxPrescan = 256 << 10

// decode converts a body to UTF-8 and names the encoding that it was in: that of
// its byte order mark, of the Content-Type, of a <meta>, of an XML declaration, or
// a guess.
func decode(body []byte, media crawl.MediaType) (decoded []byte, name string, err error) {
	enc, name, certain := charset.DetermineEncoding(body, media.String())
	if wide := markless(body); wide != "" && (!certain || strings.HasPrefix(name, "utf-16")) {
		enc, name = charset.Lookup(wide)
	} else if !certain {
		enc, name = uncertain(body, media, enc, name)
	}
	if name == "utf-8" {
		return bytes.ToValidUTF8(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")), []byte("\uFFFD")), name, nil
	}
	if name == "gbk" {
		enc = simplifiedchinese.GB18030 // GBK with more characters, by which GBK is read (Encoding standard 10.1.1)
	}
	decoded, err = enc.NewDecoder().Bytes(body)
	if err != nil {
		return nil, name, wrapDecode(name, err)
	}
	// UTF-16 keeps its mark, and some decoders let surrogates through.
	return bytes.ToValidUTF8(bytes.TrimPrefix(decoded, []byte("\uFEFF")), []byte("\uFFFD")), name, nil
}

// markless is the name of the UTF-16 in which a body that begins in ASCII is written without a byte order mark,
// "" for none. The HTML standard knows it by "<?x" (13.2.3.2), and no other text has such zeros.
func markless(body []byte) string {
	const least = 4
	if len(body) < least {
		return ""
	}
	ascii := func(c byte) bool { return c > 0 && c < utf8.RuneSelf }
	switch a, b, c, d := body[0], body[1], body[2], body[3]; {
	case ascii(a) && b == 0 && ascii(c) && d == 0:
		return "utf-16le"
	case a == 0 && ascii(b) && c == 0 && ascii(d):
		return "utf-16be"
	}
	return ""
}

// isSevenBitJapanese reports whether a body is in ISO-2022-JP: all ASCII, with the sequences that change to
// Japanese and back.
func isSevenBitJapanese(body []byte) bool {
	has := func(sequence string) bool { return bytes.Contains(body, []byte(sequence)) }
	return (has("\x1b$B") || has("\x1b$@")) && (has("\x1b(B") || has("\x1b(J")) &&
		!slices.ContainsFunc(body, func(c byte) bool { return c >= utf8.RuneSelf })
}

// uncertain corrects the encoding that charset.DetermineEncoding found in the first
// kilobyte of a body whose response does not name one.
func uncertain(body []byte, media crawl.MediaType, found encoding.Encoding, name string) (encoding.Encoding, string) {
	const escape = 0x1b // begins what ISO-2022-JP says in seven bits
	isUTF8 := mostlyUTF8(body)
	if isUTF8 && name != "iso-2022-jp" && bytes.IndexByte(body, escape) < 0 {
		return encoding.Nop, "utf-8"
	}
	// These may be guesses.
	if (name == "windows-1252" || name == "utf-8") && !strings.HasSuffix(media.Type, "xml") {
		if e, label := metaCharset(body[:min(len(body), maxPrescan)]); e != nil {
			found, name = e, label
		}
	}
	found, name = declared(body, media, found, name)
	switch {
	case name == "windows-1252" && saysNothing(body, media) && isSevenBitJapanese(body):
		return charset.Lookup("iso-2022-jp")
	case isUTF8 && name != "iso-2022-jp":
		return encoding.Nop, "utf-8"
	case name == "windows-1252" && saysNothing(body, media):
		return guess(body, media.Type != "text/plain")
	}
	return found, name
}

// saysNothing reports whether a page or a plain text does not name its encoding, so that readers
// have to guess it. XML and the like are in UTF-8 then.
func saysNothing(body []byte, media crawl.MediaType) bool {
	if media.Type != "" && media.Type != "text/html" && media.Type != "text/plain" {
		return false
	}
	e, _ := metaCharset(body[:min(len(body), maxPrescan)])
	return e == nil && !declaration().Match(body)
}

// mostlyUTF8 reports whether a body is UTF-8, whatever encoding it declares: text in other
// encodings is valid UTF-8 only by accident, and hardly ever twice. ASCII is UTF-8 too. A
// page may have some bytes of another encoding, such as a name out of an old database:
// outside ASCII, four in five must be characters of UTF-8.
func mostlyUTF8(body []byte) bool {
	if utf8.Valid(body) {
		return true
	}
	valid, invalid := 0, 0
	for i := 0; i < len(body); {
		if body[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(body[i:])
		switch {
		case r != utf8.RuneError || size > 1:
			valid++
		case !utf8.FullRune(body[i:]): // cut off
			return valid >= 4*invalid && valid > 0
		default:
			invalid++
		}
		i += size
	}
	return valid >= 4*invalid
}

// metaCharset returns the encoding of the first <meta> that names a known one; nil if there
// is none.
func metaCharset(body []byte) (encoding.Encoding, string) {
	tokens := html.NewTokenizer(bytes.NewReader(body))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return nil, ""
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := tokens.TagName()
			if string(name) != "meta" {
				continue
			}
			e, label := charset.Lookup(charsetOfMeta(tokens, more))
			if label == "utf-16le" || label == "utf-16be" { // it could not be read if it were
				return encoding.Nop, "utf-8"
			}
			if e != nil {
				return e, label
			}
		}
	}
}

// contentCharset matches the charset in the content of a <meta http-equiv=Content-Type>.
var contentCharset = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)charset[ \t\r\n\f]*=[ \t\r\n\f]*["']?([^"'; \t\r\n\f]{1,64})`)
})

// charsetOfMeta reads the attributes of a <meta>.
func charsetOfMeta(tokens *html.Tokenizer, more bool) string {
	var declared, content string
	isType := false
	for more {
		var key, value []byte
		key, value, more = tokens.TagAttr()
		switch string(key) {
		case "charset":
			declared = string(value)
		case "http-equiv":
			isType = strings.EqualFold(string(value), "content-type")
		case "content":
			if match := contentCharset().FindSubmatch(value); match != nil {
				content = string(match[1])
			}
		}
	}
	if declared == "" && isType {
		return content
	}
	return declared
}

// declaration matches an XML declaration with an encoding, within the kilobyte that
// browsers look at.
var declaration = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<\?xml[^>]{0,512}?[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*["']([^"'>]{1,64})["']`)
})

// declared corrects an uncertain result of charset.DetermineEncoding by two rules of the
// HTML standard that it does not know.
func declared(body []byte, media crawl.MediaType, found encoding.Encoding, name string) (encoding.Encoding, string) {
	if name == "x-user-defined" { // a <meta> cannot mean it
		return charmap.Windows1252, "windows-1252"
	}
	// In XHTML and other XML the declaration counts and <meta> does not; in HTML it is better
	// than the last guess.
	if !strings.HasSuffix(media.Type, "xml") && name != "windows-1252" {
		return found, name
	}
	match := declaration().FindSubmatch(body)
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
