package change

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// looksSame reports whether two words are the same for a reader: spelled with other characters of
// Unicode that nobody tells apart, such as é in one or two, or with marks that only say in which
// direction a text runs and where it may break.
func looksSame(a, b string) bool {
	if !hasWide(a) && !hasWide(b) {
		return false
	}
	return norm.NFC.String(spelled(a)) == norm.NFC.String(spelled(b))
}

// spelled is a word without marks that nobody sees.
func spelled(word string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case isUnseen(r):
			return -1
		case r == '\u2010' || r == '\u2011': // hyphens, the second of which does not break
			return '-'
		}
		return r
	}, word)
}

// isUnseen reports whether a character is seen by nobody: marks of direction, selectors of a
// drawing of the sign before, and places to break a word.
func isUnseen(r rune) bool {
	switch r {
	case '\u00AD', '\u034F', '\u061C', '\u180E', '\u200B', '\u200E', '\u200F', '\u2060', '\uFEFF':
		return true
	}
	return r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069' || r >= '\uFE00' && r <= '\uFE0F'
}

// isUnseenWord reports whether a word is nothing but such characters.
func isUnseenWord(word string) bool {
	return word[0] >= utf8.RuneSelf && strings.IndexFunc(word, func(r rune) bool { return !isUnseen(r) }) < 0
}

func hasWide(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0
}

// runsOn reports whether two words are one for a reader, as white space between characters of
// Chinese and Japanese says nothing: it is where the source of the page breaks its lines.
func runsOn(word, next string) bool {
	if word == "" || next == "" || word[len(word)-1] < utf8.RuneSelf || next[0] < utf8.RuneSelf {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(word)
	first, _ := utf8.DecodeRuneInString(next)
	return isIdeographic(last) && isIdeographic(first)
}

// isIdeographic reports whether a character is Chinese or Japanese, or a mark of theirs.
func isIdeographic(r rune) bool {
	return isDense(r) || r >= 0x3001 && r <= 0x303F || r >= 0xFF01 && r <= 0xFF65 && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}
