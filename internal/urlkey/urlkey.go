// Package urlkey decides which URLs are the same page and which pages are on
// the same host. A canonical URL is printable ASCII, can be sent by net/http
// unchanged, and is its own canonical form. The steps lose nothing: two
// addresses become one only where RFC 3986 and the WHATWG URL Standard say that
// they are equivalent.
package urlkey

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nlnwa/whatwg-url/url"

	"recrawl/internal/crawl"
)

// MaxLength is the greatest length of a canonical URL in bytes. Longer ones are
// practically always traps, and workflow ids, logs and indexes carry them.
const MaxLength = 8 << 10

// Parsing time is quadratic in these. Without bounds one hostile link of some
// kilobytes costs seconds.
const (
	// maxParts is the most separators before the query.
	maxParts = 512
	// maxUserInfo is the most bytes of a part that has an at sign before the sign.
	maxUserInfo = 512
)

// Errors of this package; each is wrapped with the problem in words.
var (
	// ErrScheme: the URL is neither http nor https.
	ErrScheme = errors.New("not an http or https URL")
	// ErrHost: the host cannot be the name of a machine.
	ErrHost = errors.New("bad host")
	// ErrTooLong: the URL has more than MaxLength bytes.
	ErrTooLong = errors.New("URL too long")
	// ErrSyntax: the text is not a URL.
	ErrSyntax = errors.New("not a URL")
)

// URL is a canonical http or https URL. Only this package makes one; equal
// pages have equal values, so == compares. The zero URL is none.
type URL struct {
	text string
	// Ends of the parts of text.
	scheme, name, authority, path int
}

// Canonical parses an absolute URL and brings it into canonical form: the
// WHATWG parse (host lower case and in Punycode, IPv4 numbers, dot segments,
// default port), without user info, fragment and the host's trailing dot;
// unreserved characters decoded, hex digits in upper case, and everything that
// net/http or a workflow id could not carry percent-encoded. Errors wrap
// ErrSyntax, ErrScheme, ErrHost or ErrTooLong.
func Canonical(raw string) (URL, error) {
	return Base{}.Resolve(raw)
}

// reference returns the part of a raw reference that counts, without the space
// around it and the text of a fragment, unless that would cost too much to parse.
func reference(raw string) (string, error) {
	text := strings.TrimFunc(raw, func(r rune) bool { return r <= ' ' })
	if fragment := strings.IndexByte(text, '#'); fragment >= 0 {
		text = text[:fragment+1] // its mark keeps a space before it
	}
	if len(text) > MaxLength {
		return "", fmt.Errorf("%w: %d bytes", ErrTooLong, len(text))
	}
	beforeQuery, _, _ := strings.Cut(text, "?")
	return text, checkParts(beforeQuery)
}

func checkParts(text string) error {
	parts, start := 0, 0 // start of the part at hand
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '/', '\\':
			parts, start = parts+1, i+1
		case ':', '@':
			parts++
			if text[i] == '@' && i-start > maxUserInfo {
				return fmt.Errorf("%w: more than %d bytes before an @", ErrTooLong, maxUserInfo)
			}
		}
	}
	if parts > maxParts {
		return fmt.Errorf("%w: more than %d parts", ErrTooLong, maxParts)
	}
	return nil
}

// Resolve resolves a reference, as found in a page or a Location header,
// against base and brings it into canonical form. Errors are Canonical's. To
// resolve many references of one page use NewBase.
func Resolve(base URL, ref string) (URL, error) {
	return NewBase(base).Resolve(ref)
}

// Base resolves the references of one document. Its methods may be called from
// one goroutine at a time.
type Base struct {
	doc *url.Url // nil: only absolute references resolve
}

// NewBase prepares base, parsing it once for all references. References
// against the zero URL resolve only if they are absolute.
func NewBase(base URL) Base {
	doc, err := parser.Parse(base.text)
	if err != nil {
		return Base{}
	}
	return Base{doc: doc}
}

// Resolve resolves one reference against the base. Errors are Canonical's.
func (b Base) Resolve(ref string) (URL, error) {
	parsed, err := b.parse(ref)
	if err != nil {
		return URL{}, err
	}
	return canonical(parsed)
}

// parse is the WHATWG parse of a reference.
func (b Base) parse(ref string) (parsed *url.Url, err error) {
	text, err := reference(ref)
	if err != nil {
		return nil, err
	}
	// An absolute reference does not need the base, and copying the base is a
	// good part of the cost of a resolution.
	if b.doc == nil || strings.HasPrefix(ref, "http://") || strings.HasPrefix(ref, "https://") {
		parsed, err = parser.Parse(text)
	} else {
		parsed, err = b.doc.Parse(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	return parsed, nil
}

// canonical turns the standard's parse into our identity.
func canonical(parsed *url.Url) (URL, error) {
	scheme := parsed.Scheme()
	if scheme != "http" && scheme != "https" {
		return URL{}, fmt.Errorf("%w: scheme %.40q", ErrScheme, scheme)
	}
	if parsed.Hostname() == "" {
		return URL{}, fmt.Errorf("%w: neither an address nor a name that a host can have (URL Standard, UTS 46)", ErrHost)
	}
	host, err := canonicalHost(parsed.Hostname())
	if err != nil {
		return URL{}, err
	}
	u := assemble(scheme, host, parsed)
	if len(u.text) > MaxLength {
		return URL{}, fmt.Errorf("%w: %d bytes", ErrTooLong, len(u.text))
	}
	return u, nil
}

func assemble(scheme, host string, parsed *url.Url) URL {
	var b strings.Builder
	var u URL
	b.WriteString(scheme)
	u.scheme = b.Len()
	b.WriteString("://")
	b.WriteString(host)
	u.name = b.Len()
	if port := parsed.Port(); port != "" {
		b.WriteString(":" + port)
	}
	u.authority = b.Len()
	writeEncoded(&b, parsed.Pathname())
	u.path = b.Len()
	// An empty query differs from none, but Search cannot tell them apart; a raw
	// question mark can stand nowhere else before the fragment.
	if strings.Contains(parsed.Href(true), "?") {
		b.WriteByte('?')
		writeEncoded(&b, parsed.Query())
	}
	u.text = b.String()
	return u
}

// writeEncoded writes a path or query with one spelling of each character:
// unreserved characters plain, hex digits upper case, and every character encoded
// that is not safe everywhere. The WHATWG parse leaves some of these alone, and a
// stray percent sign too, which net/http refuses to send.
func writeEncoded(b *strings.Builder, s string) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			writeByte(b, unhex(s[i+1])<<4|unhex(s[i+2]), isUnreserved)
			i += 2
		case c == '%':
			b.WriteString("%25")
		default:
			writeByte(b, c, isPlain)
		}
	}
}

// writeByte writes c plain where that is allowed, else percent-encoded.
func writeByte(b *strings.Builder, c byte, plain func(byte) bool) {
	if plain(c) {
		b.WriteByte(c)
		return
	}
	const hex = "0123456789ABCDEF"
	b.WriteByte('%')
	b.WriteByte(hex[c>>4])
	b.WriteByte(hex[c&15])
}

// isUnreserved: characters whose encoded and plain spelling are equivalent (RFC
// 3986 2.3).
func isUnreserved(c byte) bool {
	return isAlnum(c) || c == '-' || c == '.' || c == '_' || c == '~'
}

// isPlain: characters that stand plain in a canonical path or query: those that RFC
// 3986 allows there, except for the quote, which the visibility queries over
// workflow ids cannot carry.
func isPlain(c byte) bool {
	return isUnreserved(c) || strings.IndexByte("!$&()*+,;=:@/?", c) >= 0
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case isDigit(c):
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	}
	return c - 'A' + 10
}

// String returns the canonical URL, "" for the zero URL.
func (u URL) String() string { return u.text }

// IsZero reports whether u is no URL.
func (u URL) IsZero() bool { return u.text == "" }

// Scheme returns "http" or "https".
func (u URL) Scheme() string { return u.text[:u.scheme] }

// Host returns the name and, unless it is the scheme's default, the port:
// "example.com", "example.com:8443", "[::1]:8080".
func (u URL) Host() string {
	if u.IsZero() {
		return ""
	}
	return u.text[u.scheme+len("://") : u.authority]
}

// Hostname returns the name or address without port, an IPv6 address in its
// brackets.
func (u URL) Hostname() string {
	if u.IsZero() {
		return ""
	}
	return u.text[u.scheme+len("://") : u.name]
}

// Port returns the port as written, "" for the scheme's default.
func (u URL) Port() string { return strings.TrimPrefix(u.text[u.name:u.authority], ":") }

// BadPort reports whether no request may go to the URL's port; see crawl.BadPort.
func (u URL) BadPort() bool { return crawl.BadPort(u.Port()) }

// Path returns the path, which starts with a slash, still percent-encoded.
func (u URL) Path() string { return u.text[u.authority:u.path] }

// Query returns the query without its question mark.
func (u URL) Query() string { return strings.TrimPrefix(u.text[u.path:], "?") }

// Target returns path and query as they stand in the request line.
func (u URL) Target() string { return u.text[u.authority:] }

// Origin returns scheme, name and non-default port: the unit of a robots.txt.
func (u URL) Origin() string { return u.text[:u.authority] }

// HostKey returns the unit of politeness, the same for http and https:
// name and non-default port.
func (u URL) HostKey() string { return u.Host() }
