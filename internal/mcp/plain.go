package mcp

import (
	"strings"
	"unicode"

	"recrawl/internal/crawl"
)

// plain returns a text in which a person sees everything that a model reads: valid UTF-8
// without control characters, without invisible characters, which could smuggle in words,
// and without those that change the order in which others are shown.
func plain(text string) string {
	return strings.Map(seen, strings.ToValidUTF8(text, "\uFFFD"))
}

func seen(r rune) rune {
	switch {
	case r == '\n', r == '\t':
		return r
	case r == '\u2028', r == '\u2029', r == '\u0085':
		return '\n'
	case unicode.IsControl(r), invisible(r):
		return -1
	}
	return r
}

// blanks are characters that show nothing and that Unicode does not count among those that
// may be ignored: a Braille cell without dots, and fillers.
const blanks = "\u2800\u3164\uFFA0\u115F\u1160\u180E"

// invisible reports whether a character is visible only by its effect on others. Signs that
// stand before Arabic numbers are format characters that can be seen.
func invisible(r rune) bool {
	if r < 0x80 {
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Co, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		strings.ContainsRune(blanks, r)
}

// oneLine returns a short text of a site as a part of a line.
func oneLine(text string, limit int) string {
	return crawl.Clean(strings.Join(strings.Fields(plain(text)), " "), limit)
}
