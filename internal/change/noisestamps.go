package change

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// beginsPart reports whether a label inside a line begins a new part: with a capital, or in
// Korean or a script without spaces between words, where nothing shows it.
func (s *scanner) beginsPart(i int) bool {
	r, _ := utf8.DecodeRuneInString(s.tokens[i].text)
	return unicode.IsUpper(r) || isDense(r) || unicode.Is(unicode.Hangul, r)
}

// relativeAt is the length of a time that a label makes a stamp: "today", "this week", "in
// the last hour", and ages in words that mean other things elsewhere.
func (s *scanner) relativeAt(i int) int {
	switch {
	case s.isNumber(i) && s.is(i+1, isUnit) && s.is(i+2, isStampAgo):
		return 3
	case s.is(i, isStampAgo) && s.isNumber(i+1) && s.is(i+2, isUnit):
		return 3
	}
	if i >= len(s.tokens) || !s.tokens[i].word && !s.tokens[i].number {
		return 0
	}
	longest := s.longestAt(i, stampRelative())
	end := i + longest
	if s.goesOn(end) || s.isNumber(end) || s.sentence && end < len(s.tokens)-1 {
		return 0 // "updated this week in Oslo"
	}
	return longest
}

// isWhole reports whether tokens state a day with its month and year, so that a number
// after them is no part of it.
func (s *scanner) isWhole(from, to int) bool {
	said := s.readDate(from, to)
	return len(said.numbers) >= 3 || said.month > 0 && len(said.numbers) == 2
}

// isPlain reports whether a number is one of digits only, as counts are and times of day
// are not.
func isPlain(number string) bool {
	return !strings.ContainsFunc(number, func(r rune) bool { return !unicode.IsDigit(r) })
}

// saysDay reports whether tokens after a label state a day in a form that means
// nothing elsewhere: without a year, or with one that is counted differently.
func (s *scanner) saysDay(from, to int, said saidTime) bool {
	const months = "月 월 tháng thg сарын" // after the number of a month
	const buddhist, persian, width = 2400, 1300, 300
	tokens := s.tokens[from:to]
	if len(said.numbers) < 2 {
		return false
	}
	for i, t := range tokens {
		if t.word && slices.Contains(strings.Fields(months), t.lower) && (i > 0 || len(tokens) > 1) {
			return true
		}
	}
	counted := func(n int) bool { return n >= buddhist && n < buddhist+width || n >= persian && n < persian+width }
	byMarks := slices.ContainsFunc(tokens, func(t token) bool { return t.number && strings.Count(t.text, "/") == 2 })
	return len(said.numbers) >= 3 && byMarks && slices.ContainsFunc(said.numbers, counted)
}
