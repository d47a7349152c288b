package urlkey

import (
	"fmt"
	"strings"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// A spelling of a URL is how a request line may write its path and query: the same
// characters, each plain or percent-encoded in either case of hex digits. All spellings
// of a URL have one key, and robots.txt and scope judge by the key, so they say the same
// of all. But some servers serve a page under one of them only. An empty spelling is the
// key's own, URL.Target.

// Spells reports whether a text is a spelling of u that a request line can carry. One that
// begins with two slashes is not: net/http would take it for a host.
func (u URL) Spells(target string) bool {
	if u.IsZero() || len(target) > MaxLength || strings.HasPrefix(target, "//") {
		return false
	}
	for i := range len(target) {
		if c := target[i]; c <= ' ' || c > '~' || c == '#' {
			return false
		}
	}
	var b strings.Builder
	b.Grow(len(u.Target()))
	path, query, hasQuery := strings.Cut(target, "?")
	writeEncoded(&b, path)
	if hasQuery {
		b.WriteByte('?')
		writeEncoded(&b, query)
	}
	return b.String() == u.Target()
}

// Spelling returns the part of a spelling that is kept with u: "" if it is u's own, or no
// spelling of u, such as that of a URL that a crawl's rules have turned into u.
func (u URL) Spelling(target string) string {
	if target == u.Target() || !u.Spells(target) {
		return ""
	}
	return target
}

// Spelled is Canonical with the spelling in which a browser would ask for the URL, empty
// if it is the canonical one.
func Spelled(raw string) (URL, string, error) { return Base{}.Spelled(raw) }

// Spelled is Resolve with the spelling in which a browser would ask for the URL, empty if
// it is the canonical one. A percent sign that encodes nothing is requested as "%25":
// servers refuse a stray one, which browsers send.
func (b Base) Spelled(ref string) (URL, string, error) {
	parsed, err := b.parse(ref)
	if err != nil {
		return URL{}, "", err
	}
	u, err := canonical(parsed)
	if err != nil {
		return URL{}, "", err
	}
	spelling := spellingOf(u, parsed)
	if hasStrayPercent(spelling) {
		spelling = ""
	}
	return u, spelling, nil
}

// Redirected resolves a Location header that answers a request for u. The spelling is
// that of the header, where a request line can carry it.
func Redirected(u URL, location string) (URL, string, error) {
	text, err := reference(encodeNonASCII(location))
	if err != nil {
		return URL{}, "", err
	}
	doc, err := locations.Parse(u.text)
	if err != nil {
		return URL{}, "", fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	parsed, err := doc.Parse(text)
	if err != nil {
		return URL{}, "", fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	to, err := canonical(parsed)
	if err != nil {
		return URL{}, "", err
	}
	return to, spellingOf(to, parsed), nil
}

// locations is the parser of Location headers. The standard encodes "'" in queries. A
// server that redirects from "%27" to "'" does not get "'" from browsers, and would
// redirect for ever.
var locations = newParser(whatwg.WithSpecialQueryPercentEncodeSet(whatwg.QueryPercentEncodeSet))

// spellingOf returns how a parsed URL spells the path and query of u, which was made
// from it.
func spellingOf(u URL, parsed *whatwg.Url) string {
	path, query := parsed.Pathname(), parsed.Query()
	if path == u.Path() && query == u.Query() {
		return ""
	}
	if u.path < len(u.text) {
		path += "?" + query
	}
	if !u.Spells(path) {
		return ""
	}
	return path
}

func hasStrayPercent(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
			return true
		}
		i += 2
	}
	return false
}

// encodeNonASCII percent-encodes the bytes of a header beyond ASCII as they are, as
// browsers do: a server that writes Latin-1 means those bytes.
func encodeNonASCII(header string) string {
	if isASCII(header) {
		return header
	}
	var b strings.Builder
	for i := range len(header) {
		writeByte(&b, header[i], func(c byte) bool { return c < utf8.RuneSelf })
	}
	return b.String()
}
