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
	if n := s.agoAt(i); n > 0 {
		return n
	}
	longest := s.wordedAt(i)
	end := i + longest
	if s.goesOn(end) || s.isNumber(end) || s.sentence && end < len(s.tokens)-1 {
		return 0 // "updated this week in Oslo"
	}
	return longest
}

// agoAt is the length of an age with a word that means other things elsewhere.
func (s *scanner) agoAt(i int) int {
	const length = 3
	if s.isNumber(i) && s.is(i+1, isUnit) && s.is(i+2, isStampAgo) ||
		s.is(i, isStampAgo) && s.isNumber(i+1) && s.is(i+2, isUnit) {
		return length
	}
	return 0
}

// wordedAt is the length of one of stampTimes, or of an age after one of overTimes.
func (s *scanner) wordedAt(i int) int {
	if i >= len(s.tokens) || !s.tokens[i].word && !s.tokens[i].number {
		return 0
	}
	return max(s.longestAt(i, stampRelative()), s.overAt(i))
}

// overAt is the length of an age after one of overTimes: "more than 2 weeks ago".
func (s *scanner) overAt(start int) int {
	before := 0
	for _, phrase := range agoBefore {
		before = max(before, s.phraseAt(start, phrase))
	}
	i := start + before
	over := s.longestAt(i, overTimes())
	i += over
	if over == 0 || !s.isNumber(i) && !s.is(i, isOne) || !s.is(i+1, isUnit) {
		return 0
	}
	i += 2
	switch {
	case s.is(i, isAgo|isStampAgo):
		i++
	case before == 0:
		return 0
	}
	return i - start
}

// endedAt is the length of a stamp whose time comes first, alone in a line or in a part of
// one: "heute aktualisiert", "2026年3月4日更新".
func (s *scanner) endedAt(i int) int {
	if s.sentence || !s.ends || !s.isEdge(i) {
		return 0
	}
	n := max(s.ageAt(i), s.agoAt(i), s.wordedAt(i), s.endedDayAt(i))
	if n == 0 {
		return 0
	}
	ends := s.longestAt(i+n, stampEnds())
	if ends == 0 || !s.isEdge(i+n+ends) {
		return 0
	}
	return n + ends
}

// endedDayAt is the length of a day, or of an age in characters, that one of stampEnds may
// follow.
func (s *scanner) endedDayAt(i int) int {
	if s.isNumber(i) && i+1 < len(s.tokens) && denseDays[s.tokens[i+1].lower] && !s.is(i+1, isDate) {
		return 2 // "3天前"
	}
	end := i
	for j := i; j < len(s.tokens) && s.tokens[j].role&endsStamp == 0; j++ {
		if !s.isNumber(j) && !s.is(j, isDate|isStampDate|isDateJoin|isStampJoin) && !s.isMark(j, ",.()-–:") {
			return 0
		}
		end = j + 1
	}
	if said := s.readDate(i, end); !said.hasDate() {
		return 0
	}
	return end - i
}

// bySomebodyAt is the length of the time that ends a stamp after a name, which is no noise:
// "on 4 March 2026" in "Last edited by Joe on 4 March 2026".
func (s *scanner) bySomebodyAt(i int) int {
	const mostNames, mostLabel = 4, 8
	if s.by == 0 || i < s.by+2 || i > s.by+1+mostNames || s.goesOn(i) && !s.is(i, isDateJoin|isStampJoin) {
		return 0
	}
	labelled := false
	for from := max(s.by-mostLabel, 0); from < s.by && !labelled; from++ {
		label := from + s.stampLabelAt(from) // perhaps with the word
		labelled = (from == 0 || !s.sentence && s.isEdge(from)) && (label == s.by || label == s.by+1)
	}
	if !labelled {
		return 0
	}
	n := s.stretchAt(i, isDate|isStampDate, isDateJoin|isStampJoin)
	if said := s.readDate(i, i+n); !said.hasDate() {
		return 0
	}
	return n
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
