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
		// Only the head can survive; do not walk megabytes for it. Everything that
		// is dropped below is at most three bytes a rune and rare.
		s = s[:4*limit+64]
	}
	cleaned := strings.TrimSpace(strings.Map(cleanRune, strings.ToValidUTF8(s, "\uFFFD")))
	return strings.TrimSpace(cutRunes(cleaned, limit))
}

func cleanRune(r rune) rune {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return ' '
	case r >= '\u202A' && r <= '\u202E', r >= '\u2066' && r <= '\u2069':
		// Direction overrides make a terminal show another text than is there.
		return -1
	}
	return r
}

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
