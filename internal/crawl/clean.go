package crawl

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes a string from the web safe to store, log and show: valid UTF-8
// without control characters or direction overrides, at most limit bytes, cut
// between runes, without space at either end. Invalid bytes become U+FFFD and
// control characters a space, so that words do not run together. Cleaning
// again changes nothing.
func Clean(s string, limit int) string {
	if len(s) > 4*limit+64 {
		// Only the head can survive; do not walk megabytes for it. Everything dropped
		// below is at most three bytes a rune and rare.
		s = s[:4*limit+64]
	}
	cleaned := strings.TrimSpace(strings.Map(cleanRune, strings.ToValidUTF8(s, "\uFFFD")))
	return strings.TrimSpace(cutRunes(cleaned, limit))
}

func cleanRune(r rune) rune {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return ' '
	case isOverride(r):
		return -1
	}
	return r
}

// Visible puts U+FFFD in the place of a character that a terminal would obey
// instead of showing it: all control characters except the end of a line and the
// tab, and direction overrides.
func Visible(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' || isOverride(r) {
		return utf8.RuneError
	}
	return r
}

// isOverride reports whether a character turns the direction of a text, so that a
// terminal shows a different text.
func isOverride(r rune) bool { return r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069' }

// cutRunes returns the longest head of s that has at most limit bytes and ends
// between two runes.
func cutRunes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:max(limit, 0)]
}
