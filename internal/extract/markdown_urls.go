package extract

import (
	"strings"
	"unicode/utf8"

	"recrawl/internal/urlkey"
)

// maxAddresses bounds the different addresses that are resolved for one page: resolving
// half a million of a hostile page would take seconds. Further links become plain text.
const maxAddresses = 20_000

// addresses makes the addresses of links and pictures absolute.
type addresses struct {
	base    urlkey.Base
	encoded queries
	known   map[string]string
	bytes   int // of all that are known
}

// addressesOf resolves against the document's <base>, if it has one.
func addressesOf(src Source, c *collector) *addresses {
	at := src.URL
	if c.hasBase {
		if u, err := urlkey.Resolve(at, c.base); err == nil {
			at = u
		}
	}
	return &addresses{base: urlkey.NewBase(at), encoded: queriesOf(src.charset), known: map[string]string{}}
}

// link returns the address of a link as Markdown writes it: one of the web or of mail, ""
// for any other.
func (a *addresses) link(href string) string {
	address, known := a.known[href]
	if known {
		return address
	}
	if len(a.known) >= maxAddresses || a.bytes > maxLinkBytes {
		return ""
	}
	if to, ok := mailTo(href); ok {
		address = to
	} else {
		address = a.web(href)
	}
	a.known[href] = address
	a.bytes += len(href) + len(address)
	return address
}

// picture returns the address of a picture, "" if it has none on the web.
func (a *addresses) picture(src string) string {
	if address := a.link(src); !strings.HasPrefix(address, "mailto:") {
		return address
	}
	return ""
}

// web resolves an address of the web with its fragment.
func (a *addresses) web(href string) string {
	page, fragment, hasFragment := strings.Cut(href, "#")
	u, err := a.base.Resolve(a.encoded.encode(page))
	if err != nil {
		return ""
	}
	address := destination(u.String())
	if hasFragment && fragment != "" {
		address += "#" + destination(strings.TrimSpace(fragment))
	}
	return address
}

// mailTo reads an address of mail. Browsers ignore white space and control characters
// before a scheme, and line ends in it.
func mailTo(href string) (string, bool) {
	const scheme = "mailto:"
	if len(href) < len(scheme) {
		return "", false
	}
	text := strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, strings.TrimFunc(href, func(r rune) bool { return r <= ' ' }))
	if len(text) <= len(scheme) || !strings.EqualFold(text[:len(scheme)], scheme) || len(text) > urlkey.MaxLength {
		return "", false
	}
	return scheme + destination(text[len(scheme):]), true
}

// destination encodes characters that would end an address in Markdown, or have another
// meaning in it.
func destination(url string) string {
	plain, balanced := true, isBalanced(url)
	for i := 0; i < len(url) && plain; i++ {
		plain = isPlainInDestination(url[i]) || balanced && (url[i] == '(' || url[i] == ')')
	}
	if plain {
		return url
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(url); i++ {
		switch c := url[i]; {
		case c == '(', c == ')':
			if !balanced {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		case c == '&' && opensEntity([]byte(url[i:min(len(url), i+64)])):
			b.WriteString("&amp;")
		case c == '&' || isPlainInDestination(c):
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

// isBalanced reports whether brackets are in pairs, and not nested too deeply for any
// reader.
func isBalanced(url string) bool {
	const most = 8
	depth := 0
	for i := 0; i < len(url) && depth >= 0 && depth <= most; i++ {
		switch url[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	return depth == 0
}

func isPlainInDestination(c byte) bool {
	return c > ' ' && c < utf8.RuneSelf && c != 0x7f && strings.IndexByte("()<>\\|`\"&", c) < 0
}
