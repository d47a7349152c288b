package extract

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// StyleRef is a reference in a stylesheet.
type StyleRef struct {
	URL string // as it is meant, without quotes and escapes
	// Start and End are where it stands in the stylesheet, with its quotes, without url().
	Start, End int
	// Import: it is another stylesheet.
	Import bool
}

// StyleRefs reads the references of a stylesheet, url(…) and @import, in its order, by the
// rules of CSS Syntax Level 3: what is in a comment or a string refers to nothing. It takes
// time in proportion to the text, whatever that says.
func StyleRefs(css string) iter.Seq[StyleRef] {
	return func(yield func(StyleRef) bool) {
		for at, importing := 0, false; at < len(css); {
			switch c := css[at]; {
			case c == '/' && strings.HasPrefix(css[at:], "/*"):
				end := strings.Index(css[at+2:], "*/")
				if end < 0 {
					return
				}
				at += end + 4
			case c == '"' || c == '\'':
				text, end, whole := styleString(css, at)
				if importing && whole && !yield(StyleRef{URL: text, Start: at, End: end, Import: true}) {
					return
				}
				at, importing = end, false
			case c == '@':
				end := at + 1 + nameLength(css[at+1:])
				importing = strings.EqualFold(css[at+1:end], "import")
				if strings.EqualFold(css[at+1:end], "namespace") { // a name that looks like an address
					if semicolon := strings.IndexByte(css[end:], ';'); semicolon >= 0 {
						end += semicolon
					} else {
						return
					}
				}
				at = end
			case nameLength(css[at:]) > 0:
				end := at + nameLength(css[at:])
				name := css[at:end]
				at = end
				if !strings.EqualFold(name, "url") || at == len(css) || css[at] != '(' {
					importing = false
					continue
				}
				ref, end, whole := styleURL(css, at+1)
				if ref.Import = importing; whole && !yield(ref) {
					return
				}
				at, importing = end, false
			default:
				importing = importing && isStyleSpace(c)
				at++
			}
		}
	}
}

// nameLength is how many bytes a name of CSS has at the start of the text. An escape is part
// of it.
func nameLength(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf, c == '-', c == '_', c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z':
		case c == '\\' && i+1 < len(s) && s[i+1] != '\n':
			i++
		default:
			return i
		}
	}
	return len(s)
}

func isStyleSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// styleString reads a string whose quote stands at a place. It is not whole if its line ends
// before it does.
func styleString(css string, at int) (text string, end int, whole bool) {
	var b strings.Builder
	quote := css[at]
	for at++; at < len(css); {
		switch c := css[at]; c {
		case quote:
			return b.String(), at + 1, true
		case '\n', '\r', '\f':
			return "", at, false
		case '\\':
			at = unescape(css, at, &b)
		default:
			b.WriteByte(c)
			at++
		}
	}
	return b.String(), at, true // the end closes it
}

// styleURL reads what stands in url(…), from behind the parenthesis.
func styleURL(css string, at int) (ref StyleRef, end int, whole bool) {
	for at < len(css) && isStyleSpace(css[at]) {
		at++
	}
	if at < len(css) && (css[at] == '"' || css[at] == '\'') {
		text, end, whole := styleString(css, at)
		return StyleRef{URL: text, Start: at, End: end}, end, whole
	}
	var b strings.Builder
	start := at
	for at < len(css) && css[at] != ')' && !isStyleSpace(css[at]) {
		switch c := css[at]; {
		case c == '"' || c == '\'' || c == '(':
			return StyleRef{}, afterParenthesis(css, at), false
		case c == '\\':
			at = unescape(css, at, &b)
		default:
			b.WriteByte(c)
			at++
		}
	}
	ref = StyleRef{URL: b.String(), Start: start, End: at}
	for at < len(css) && isStyleSpace(css[at]) {
		at++
	}
	if at < len(css) && css[at] != ')' {
		return StyleRef{}, afterParenthesis(css, at), false
	}
	return ref, min(at+1, len(css)), true
}

// afterParenthesis is where a url(…) that is none ends.
func afterParenthesis(css string, at int) int {
	if end := strings.IndexByte(css[at:], ')'); end >= 0 {
		return at + end + 1
	}
	return len(css)
}

// unescape writes what an escape stands for, and returns where it ends.
func unescape(css string, at int, b *strings.Builder) int {
	at++
	if at == len(css) {
		return at
	}
	const digits = 6
	code, n := rune(0), 0
	for n < digits && at+n < len(css) {
		d := strings.IndexByte("0123456789abcdef", css[at+n]|0x20)
		if d < 0 || css[at+n] < '0' {
			break
		}
		code, n = code*16+rune(d), n+1
	}
	switch {
	case n > 0:
		if code == 0 || !utf8.ValidRune(code) {
			code = utf8.RuneError
		}
		b.WriteRune(code)
		if at += n; at < len(css) && isStyleSpace(css[at]) {
			at++
		}
		return at
	case css[at] == '\n' || css[at] == '\f':
		return at + 1 // the line goes on
	case css[at] == '\r':
		return at + 1 + len(css[at+1:min(at+2, len(css))]) - len(strings.TrimPrefix(css[at+1:min(at+2, len(css))], "\n"))
	}
	_, size := utf8.DecodeRuneInString(css[at:])
	b.WriteString(css[at : at+size])
	return at + size
}
