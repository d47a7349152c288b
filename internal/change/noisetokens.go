package change

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a number, a word, or one other character of a line.
type token struct {
	text   string // as it stands
	lower  string
	role   role
	number bool
	word   bool
	space  bool // white space before it
	noise  kind
}

// scanner holds the tokens of one line.
type scanner struct {
	tokens []token
	// sentence: the line is running text.
	sentence bool
	// by is the last word that may stand before the name of who changed a page, 0 if there
	// is none.
	by int
	// ends: one of stampEnds may be in the line.
	ends bool
	// quotes: a quotation mark ends a part of a line, as in JSON. Digests of texts, which are
	// stored, are made without.
	quotes bool
}

// scan splits a line. It reports false, early if possible, if the line has neither
// a number nor one of the words of ages without one, or if it is running text that
// does not begin like a stamp or a count of hits.
func (s *scanner) scan(line string) bool {
	s.tokens, s.sentence, s.by = s.tokens[:0], isSentence(line), 0
	s.ends = false
	space, found := false, false
	for rest := line; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if unicode.IsSpace(r) {
			space, rest = true, rest[size:]
			continue
		}
		t := token{space: space}
		switch {
		case r >= '0' && r <= '9':
			size, t.number, found = numberLength(rest), true, true
		case unicode.IsLetter(r):
			size, t.word = wordLength(rest), true
			if isDense(r) {
				size = densePart(rest[:size])
			}
		case unicode.IsDigit(r):
			size, t.number, found = otherNumberLength(rest), true, true
		}
		t.text, rest, space = rest[:size], rest[size:], false
		if t.word || t.number {
			t.lower = strings.ToLower(t.text)
			t.role = roleOf(t.lower)
			found = found || t.role&(isNow|isAgo|beginsAgo|beginsStamp|endsStamp) != 0
		}
		if len(s.tokens) == 0 && s.sentence && t.role&beginsStamp == 0 && !mayCountHits(line, t) {
			return false
		}
		found = found || len(s.tokens) == 0 && t.word && beginsPresence()[t.lower]
		s.ends = s.ends || t.role&endsStamp != 0
		if byWords[t.lower] {
			s.by = len(s.tokens)
		}
		s.tokens = append(s.tokens, t)
	}
	return found
}

// numberLength is the length of the number that a text begins with: digits with
// single marks between them, as in 1,234.50, 14:05:33, 2026-03-04T14:05 and 15h04.
func numberLength(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		isDigit := c >= '0' && c <= '9'
		joins := strings.IndexByte(".,:/'-Th", c) >= 0 && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9'
		if !isDigit && !joins {
			return i
		}
	}
	return len(s)
}

// otherNumberLength is numberLength for digits of other scripts.
func otherNumberLength(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsDigit(r) {
			next, _ := utf8.DecodeRuneInString(s[i+size:])
			if !strings.ContainsRune(".,:/'-٫٬", r) || !unicode.IsDigit(next) {
				return i
			}
		}
		i += size
	}
	return len(s)
}

// latinDigits is a number with the digits 0 to 9.
func latinDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf || !unicode.IsDigit(r) {
			return r
		}
		zero := r // digits of a script stand together, from a zero on
		for unicode.IsDigit(zero-1) && r-zero < 9 {
			zero--
		}
		return '0' + (r - zero)
	}, s)
}

// wordLength is the length of the word that a text begins with: letters of one
// kind of script. An apostrophe ends it.
func wordLength(s string) int {
	first, _ := utf8.DecodeRuneInString(s)
	dense := isDense(first)
	for i, r := range s {
		if r < utf8.RuneSelf && !dense && (r|' ' >= 'a' && r|' ' <= 'z') {
			continue
		}
		if r == '\u200C' || r == '\u200D' { // within words of Persian, Hindi and others
			continue
		}
		if !unicode.IsLetter(r) && !unicode.IsMark(r) || isDense(r) != dense {
			return i
		}
	}
	return len(s)
}

// isDense reports the scripts without spaces between words.
func isDense(r rune) bool {
	const first = 0x2E80
	return r >= first && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー')
}

// is reports whether the token i has one of some roles; tokens beyond the line have
// none.
func (s *scanner) is(i int, r role) bool {
	return i >= 0 && i < len(s.tokens) && s.tokens[i].role&r != 0
}

func (s *scanner) isNumber(i int) bool { return i >= 0 && i < len(s.tokens) && s.tokens[i].number }

// isMark reports whether the token i is one of some characters.
func (s *scanner) isMark(i int, marks string) bool {
	return i >= 0 && i < len(s.tokens) && !s.tokens[i].word && !s.tokens[i].number && strings.Contains(marks, s.tokens[i].text)
}

// isEdge reports whether the token at i begins the line or a part of it.
func (s *scanner) isEdge(i int) bool {
	return i <= 0 || i >= len(s.tokens) || s.isMark(i, separators) || s.isMark(i-1, separators) || s.tokens[i-1].noise != noNoise ||
		s.quotes && (s.isMark(i, `"`) || s.isMark(i-1, `"`))
}

// kept returns the line without its noise.
func (s *scanner) kept() string {
	var b strings.Builder
	gap := false
	for _, t := range s.tokens {
		if t.noise != noNoise {
			gap = true
			continue
		}
		isClock := strings.HasPrefix(t.text, clockMark)
		if (gap || t.space || isClock) && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
		gap = isClock
	}
	return b.String()
}

// join returns the text of some tokens.
func (s *scanner) join(from, to int) string {
	var b strings.Builder
	for _, t := range s.tokens[from:to] {
		b.WriteString(t.text)
		b.WriteByte(' ')
	}
	return b.String()
}
