package mirror

import (
	"strings"
	"unicode/utf8"
)

// css rewrites the references of a style: url(), the strings of @import and of image-set().
// The result has no "<" that could begin a tag, so it stays a style wherever it is in the
// page.
func (l *links) css(text string) string {
	if strings.Contains(text, "\r") {
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	}
	c := cssWriter{links: l, in: text}
	for c.i < len(c.in) {
		c.token()
	}
	return c.out.String()
}

// cssWriter reads a style token by token (CSS Syntax Level 3).
type cssWriter struct {
	links *links
	in    string
	i     int
	out   strings.Builder
	rule  string   // the at-rule at whose head it is, in small letters: "import" or "namespace"
	open  []string // functions that are open, at most maxOpen
	deep  int      // those beyond
}

const maxOpen = 64

func (c *cssWriter) token() {
	switch b := c.in[c.i]; {
	case strings.HasPrefix(c.in[c.i:], "/*"):
		c.comment()
	case b == '"' || b == '\'':
		c.quoted()
	case b == '@':
		c.i++
		c.atRule(c.ident())
	case isIdentByte(b) || b == '\\' && c.i+1 < len(c.in) && c.in[c.i+1] != '\n':
		name := c.ident()
		if c.i < len(c.in) && c.in[c.i] == '(' {
			c.i++
			c.function(name)
			return
		}
		c.out.WriteString(name)
	default:
		c.mark(b)
	}
}

// mark copies a single character.
func (c *cssWriter) mark(b byte) {
	c.i++
	switch b {
	case 0:
		c.out.WriteString("\uFFFD")
		return
	case '<':
		c.less()
		return
	case '(':
		c.push("")
	case ')':
		c.pop()
	case ';', '{', '}':
		c.rule = ""
	}
	c.out.WriteByte(b)
}

// less keeps a comparison, and splits what would begin a tag or a comment of HTML.
func (c *cssWriter) less() {
	if rest := c.in[c.i:]; strings.HasPrefix(rest, "!--") {
		c.i += 3 // means nothing in a style
		return
	}
	c.out.WriteByte('<')
	if c.i < len(c.in) && c.in[c.i] != ' ' && c.in[c.i] != '=' {
		c.out.WriteByte(' ')
	}
}

func (c *cssWriter) push(function string) {
	if len(c.open) < maxOpen {
		c.open = append(c.open, function)
	} else {
		c.deep++
	}
}

func (c *cssWriter) pop() {
	switch {
	case c.deep > 0:
		c.deep--
	case len(c.open) > 0:
		c.open = c.open[:len(c.open)-1]
	}
}

// comment leaves out the text of a comment, but not the comment itself, which ends words.
func (c *cssWriter) comment() {
	if end := strings.Index(c.in[c.i+2:], "*/"); end >= 0 {
		c.i += end + 4
	} else {
		c.i = len(c.in)
	}
	c.out.WriteString("/**/")
}

// quoted copies a string, or rewrites the address in it.
func (c *cssWriter) quoted() {
	text := c.str()
	if c.rule == "import" || c.inImageSet() {
		c.url(text)
		return
	}
	c.writeString(text)
}

func (c *cssWriter) inImageSet() bool {
	return c.deep == 0 && len(c.open) > 0 && strings.HasSuffix(c.open[len(c.open)-1], "image-set")
}

func (c *cssWriter) atRule(name string) {
	switch lower := strings.ToLower(name); lower {
	case "charset": // files of a mirror are UTF-8
		if end := strings.IndexByte(c.in[c.i:], ';'); end >= 0 {
			c.i += end + 1
		} else {
			c.i = len(c.in)
		}
		return
	case "import", "namespace":
		c.rule = lower
	}
	c.out.WriteString("@" + name)
}

// function goes on after a name and its parenthesis.
func (c *cssWriter) function(name string) {
	lower := strings.ToLower(name)
	if lower != "url" && lower != "src" {
		c.push(lower)
		c.out.WriteString(name + "(")
		return
	}
	c.space()
	var text string
	if c.i < len(c.in) && (c.in[c.i] == '"' || c.in[c.i] == '\'') {
		text = c.str()
	} else {
		text = c.unquoted()
	}
	c.space()
	if c.i < len(c.in) && c.in[c.i] == ')' {
		c.i++
	}
	if c.rule == "namespace" { // it names, and leads nowhere
		c.out.WriteString("url(")
		c.writeString(text)
		c.out.WriteString(")")
		return
	}
	c.url(text)
}

// url writes a reference.
func (c *cssWriter) url(ref string) {
	c.out.WriteString("url(")
	if t := c.links.to(ref, embed); t.text != "" {
		c.writeString(t.text)
	} else {
		c.out.WriteString("about:invalid")
	}
	c.out.WriteString(")")
}

func (c *cssWriter) space() {
	for c.i < len(c.in) && strings.IndexByte(" \t\r\n\f", c.in[c.i]) >= 0 {
		c.i++
	}
}

// unquoted reads the address of url() without quotes, up to its end or its parenthesis.
func (c *cssWriter) unquoted() string {
	var b strings.Builder
	for c.i < len(c.in) && c.in[c.i] != ')' {
		if c.in[c.i] == '\\' {
			b.WriteString(c.escaped())
			continue
		}
		b.WriteByte(c.in[c.i])
		c.i++
	}
	return b.String()
}

// str reads a string with its quotes. An end of line ends an unclosed one.
func (c *cssWriter) str() string {
	quote := c.in[c.i]
	c.i++
	var b strings.Builder
	for c.i < len(c.in) {
		switch ch := c.in[c.i]; ch {
		case quote:
			c.i++
			return b.String()
		case '\n', '\f':
			return b.String()
		case '\\':
			b.WriteString(c.escaped())
		default:
			b.WriteByte(ch)
			c.i++
		}
	}
	return b.String()
}

// escaped reads an escape and returns the character that it stands for.
func (c *cssWriter) escaped() string {
	c.i++
	if c.i == len(c.in) {
		return ""
	}
	code, digits := rune(0), 0
	for ; digits < 6 && c.i < len(c.in) && hexDigit(c.in[c.i]) >= 0; digits++ {
		code = code<<4 | rune(hexDigit(c.in[c.i]))
		c.i++
	}
	if digits == 0 {
		_, size := utf8.DecodeRuneInString(c.in[c.i:])
		if c.in[c.i] == '\n' { // goes on in the next line
			c.i++
			return ""
		}
		c.i += size
		return c.in[c.i-size : c.i]
	}
	if c.i < len(c.in) && strings.IndexByte(" \t\r\n\f", c.in[c.i]) >= 0 {
		c.i++
	}
	if code == 0 || !utf8.ValidRune(code) {
		code = utf8.RuneError
	}
	return string(code)
}

// ident reads a name. A name with escapes keeps only those that it needs.
func (c *cssWriter) ident() string {
	start := c.i
	for c.i < len(c.in) && isIdentByte(c.in[c.i]) {
		c.i++
	}
	if c.i == len(c.in) || c.in[c.i] != '\\' {
		return c.in[start:c.i]
	}
	var name strings.Builder
	name.WriteString(c.in[start:c.i])
	for c.i < len(c.in) {
		switch b := c.in[c.i]; {
		case isIdentByte(b):
			name.WriteByte(b)
			c.i++
		case b == '\\' && c.i+1 < len(c.in) && c.in[c.i+1] != '\n':
			name.WriteString(c.escaped())
		default:
			return escapeIdent(name.String())
		}
	}
	return escapeIdent(name.String())
}

// escapeIdent writes a name so that it is read back unchanged.
func escapeIdent(name string) string {
	var b strings.Builder
	for i, r := range name {
		leads := i == 0 || i == 1 && name[0] == '-' // a digit there would begin a number
		switch {
		case r >= 0x80 || r == '_' || r|0x20 >= 'a' && r|0x20 <= 'z':
			b.WriteRune(r)
		case r == '-' && name != "-", r >= '0' && r <= '9' && !leads:
			b.WriteRune(r)
		default:
			writeEscape(&b, r)
		}
	}
	return b.String()
}

func (c *cssWriter) writeString(text string) {
	c.out.WriteByte('"')
	for _, r := range text {
		if r < ' ' || r == '"' || r == '\\' || r == '<' || r == 0x7f {
			writeEscape(&c.out, r)
		} else {
			c.out.WriteRune(r)
		}
	}
	c.out.WriteByte('"')
}

func writeEscape(b *strings.Builder, r rune) {
	const hex = "0123456789abcdef"
	b.WriteByte('\\')
	if r >= 16 {
		b.WriteByte(hex[r>>4])
	}
	b.WriteByte(hex[r&15])
	b.WriteByte(' ')
}

// isIdentByte: names can continue with it. If a number begins with it, reading it as a name
// does no harm.
func isIdentByte(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' || b == '-' || b == '_' || b >= 0x80
}

func hexDigit(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b|0x20 >= 'a' && b|0x20 <= 'f':
		return int(b|0x20-'a') + 10
	}
	return -1
}
