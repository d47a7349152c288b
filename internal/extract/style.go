package extract

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// styleRef is a reference in a stylesheet: an address without quotes and escapes.
type styleRef struct {
	url      string
	isImport bool // it is another stylesheet
}

// styleRefs reads the references of a stylesheet by the rules of CSS Syntax Level 3:
// url(…), src(…), and the strings of @import and image-set(…). Text in comments and other
// strings refers to nothing. It takes time in proportion to the length of the text,
// whatever its contents.
func styleRefs(css string) iter.Seq[styleRef] {
	return func(yield func(styleRef) bool) {
		s := styleScanner{css: css}
		for s.at < len(css) {
			if ref, ok := s.next(); ok && !yield(ref) {
				return
			}
		}
	}
}

// styleScanner reads a stylesheet token by token.
type styleScanner struct {
	css       string
	at        int
	importing bool // within an @import, before its address
	named     bool // within an @namespace: what looks like an address is a name
	images    int  // open parentheses of an image-set(…), 0 outside of one
}

// next reads one token, and reports whether it is a reference.
func (s *styleScanner) next() (styleRef, bool) {
	switch c := s.css[s.at]; {
	case c == '/' && strings.HasPrefix(s.css[s.at:], "/*"):
		s.comment()
	case c == '"' || c == '\'':
		text, whole := s.quoted()
		return s.reference(text, whole && (s.importing || s.images > 0))
	case c == '@':
		s.at++
		word := s.name()
		s.importing, s.named = strings.EqualFold(word, "import"), strings.EqualFold(word, "namespace")
	case nameLength(s.css[s.at:]) > 0:
		return s.word()
	default:
		s.mark(c)
	}
	return styleRef{}, false
}

func (s *styleScanner) comment() {
	end := strings.Index(s.css[s.at+2:], "*/")
	if end < 0 {
		s.at = len(s.css)
		return
	}
	s.at += end + 4
}

func (s *styleScanner) mark(c byte) {
	s.at++
	switch {
	case c == ';' || c == '{' || c == '}':
		s.importing, s.named, s.images = false, false, 0
	case c == '(' && s.images > 0:
		s.images++
	case c == ')' && s.images > 0:
		s.images--
	}
}

// word reads a name, and the address in its parentheses if it is url or src.
func (s *styleScanner) word() (styleRef, bool) {
	word := s.name()
	if s.at == len(s.css) || s.css[s.at] != '(' {
		return styleRef{}, false
	}
	s.at++
	switch word = strings.ToLower(word); {
	case word == "url" || word == "src":
		text, whole := s.address()
		return s.reference(text, whole)
	case strings.HasSuffix(word, "image-set"):
		s.images++
	case s.images > 0:
		s.images++
	}
	return styleRef{}, false
}

// reference returns a reference, unless the text is only a name.
func (s *styleScanner) reference(text string, refers bool) (styleRef, bool) {
	ref := styleRef{url: text, isImport: s.importing}
	s.importing = false
	return ref, refers && !s.named
}

func (s *styleScanner) name() string {
	n := nameLength(s.css[s.at:])
	s.at += n
	return s.css[s.at-n : s.at]
}

// nameLength returns the length in bytes of the CSS name at the start of the text, with its
// escapes.
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

// quoted reads a string. It is not whole if its line ends before it does.
func (s *styleScanner) quoted() (text string, whole bool) {
	var b strings.Builder
	quote := s.css[s.at]
	for s.at++; s.at < len(s.css); {
		switch c := s.css[s.at]; c {
		case quote:
			s.at++
			return b.String(), true
		case '\n', '\r', '\f':
			return "", false
		case '\\':
			s.at = unescape(s.css, s.at, &b)
		default:
			b.WriteByte(c)
			s.at++
		}
	}
	return b.String(), true // the end closes it
}

// address reads the contents of url(…), from after the first parenthesis to after the last.
func (s *styleScanner) address() (text string, whole bool) {
	s.space()
	if s.at < len(s.css) && (s.css[s.at] == '"' || s.css[s.at] == '\'') {
		text, whole = s.quoted()
	} else {
		text, whole = s.unquoted()
	}
	s.space()
	end := strings.IndexByte(s.css[s.at:], ')')
	if end < 0 {
		s.at = len(s.css)
		return text, whole
	}
	s.at += end + 1
	return text, whole && end == 0
}

// unquoted reads an address without quotes, which ends before a space.
func (s *styleScanner) unquoted() (text string, whole bool) {
	var b strings.Builder
	for s.at < len(s.css) {
		switch c := s.css[s.at]; {
		case c == ')' || isStyleSpace(c):
			return b.String(), true
		case c == '"' || c == '\'' || c == '(':
			return "", false
		case c == '\\':
			s.at = unescape(s.css, s.at, &b)
		default:
			b.WriteByte(c)
			s.at++
		}
	}
	return b.String(), true
}

func (s *styleScanner) space() {
	for s.at < len(s.css) && isStyleSpace(s.css[s.at]) {
		s.at++
	}
}

// unescape writes the character that an escape stands for, and returns where the escape
// ends.
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
