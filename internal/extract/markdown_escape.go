package extract

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// escape writes a text so that nothing in it is taken for Markdown.
func (r *renderer) escape(text []byte) {
	address := false // within a word that Markdown readers turn into a link by themselves
	link := r.inLink()
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == ' ' {
			address = false
		} else if c == ':' && bytes.HasPrefix(text[i:], []byte("://")) {
			address = true
		}
		if c == '_' {
			i = r.underscores(text, i, address)
			continue
		}
		if c == '<' && opensTag(text, i) && r.afford(len("&lt;")-1) {
			r.line = append(r.line, "&lt;"...)
			continue
		}
		if c < utf8.RuneSelf && r.special(text, i, address, link) {
			r.line = append(r.line, '\\')
		}
		r.line = append(r.line, c)
	}
}

// special reports whether a character of a text would be read as Markdown.
func (r *renderer) special(text []byte, i int, address, link bool) bool {
	switch text[i] {
	case '`', '*', '[':
		return true
	case '~':
		return !address
	case ']':
		return link
	case '|':
		return r.setting == inCell
	case '\\':
		return i+1 == len(text) || isASCIIPunctuation(text[i+1])
	case '!':
		return i+1 == len(text) || text[i+1] == '['
	case '<':
		return opensTag(text, i)
	case '&':
		return opensEntity(text[i:])
	case ':': // after the number of a note it would begin the note
		return i == 0 && len(r.line) > 0 && r.line[len(r.line)-1] == ']'
	}
	return false
}

// underscores writes the underscores at i, which mark nothing between letters, and returns
// the place of the last one.
func (r *renderer) underscores(text []byte, i int, address bool) int {
	end := i
	for end < len(text) && text[end] == '_' {
		end++
	}
	before, _ := utf8.DecodeLastRune(text[:i])
	after, _ := utf8.DecodeRune(text[end:])
	plain := address || isWord(before) && isWord(after)
	for range end - i {
		if !plain {
			r.line = append(r.line, '\\')
		}
		r.line = append(r.line, '_')
	}
	return end - 1
}

// isWord reports whether a character is a letter or a digit; RuneError stands for no
// character.
func isWord(c rune) bool {
	return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c))
}

func isASCIIPunctuation(c byte) bool {
	return c > ' ' && c < 0x7f && !isDigit(c) && !isSmall(c|' ')
}

// opensTag reports whether a "<" may begin a tag or an address.
func opensTag(text []byte, i int) bool {
	if i+1 == len(text) {
		return true
	}
	c := text[i+1]
	return isSmall(c|' ') || c == '/' || c == '!' || c == '?'
}

// opensEntity reports whether an "&" begins a character reference.
func opensEntity(text []byte) bool {
	const most = 40 // bytes of one
	for i := 1; i < len(text) && i < most; i++ {
		switch c := text[i]; {
		case c == ';':
			return i > 1
		case !isDigit(c) && !isSmall(c|' ') && c != '#':
			return false
		}
	}
	return false
}

// escapeStart escapes the line that begins at start if it would not be read as a line of a
// paragraph.
func escapeStart(out []byte, start int) []byte {
	line := out[start:]
	if len(line) == 0 {
		return out
	}
	at := -1
	switch c := line[0]; {
	case c == '#':
		n := len(line) - len(bytes.TrimLeft(line, "#"))
		if n <= 6 && isEnd(line, n) {
			at = 0
		}
	case c == '>':
		at = 0
	case c == '-', c == '+', c == ':':
		if isEnd(line, 1) {
			at = 0
		}
	case isDigit(c):
		n := len(line) - len(bytes.TrimLeft(line, "0123456789"))
		if n <= 9 && n < len(line) && (line[n] == '.' || line[n] == ')') && isEnd(line, n+1) {
			at = n
		}
	}
	if at < 0 && len(bytes.Trim(line, "-=:| ")) == 0 {
		at = 0
	}
	if at < 0 {
		return out
	}
	out = append(out, 0)
	copy(out[start+at+1:], out[start+at:])
	out[start+at] = '\\'
	return out
}

// isEnd reports whether a word ends at n.
func isEnd(line []byte, n int) bool { return n >= len(line) || line[n] == ' ' }
