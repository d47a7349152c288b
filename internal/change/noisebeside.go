package change

import (
	"strconv"
	"strings"
)

// saysTime reports whether a number is a time of day, or has one.
func (s *scanner) saysTime(i int) bool { return strings.ContainsAny(s.tokens[i].text, ":h") }

// goesOnWith reports whether a number may go on with a whole day: as the day once more, or as
// its time with a dot, "14.05".
func (s *scanner) goesOnWith(i int, timed bool) bool {
	text := s.tokens[i].text
	if isPlain(text) {
		return false
	}
	said := s.readDate(i, i+1)
	return said.hasDate() || !timed && isDottedTime(text) && s.isEdge(i+1)
}

// isDottedTime reports whether a number is written as a time of day with a dot: "14.05".
func isDottedTime(number string) bool {
	hour, minute, ok := strings.Cut(number, ".")
	h, errH := strconv.Atoi(hour)
	m, errM := strconv.Atoi(minute)
	return ok && errH == nil && errM == nil && h < 24 && m < 60 && len(minute) == 2
}

// isBeforeDay reports whether a number is followed by a whole day, and is no part of it:
// "Release 3.2 (2026-03-04 10:20:33)".
func (s *scanner) isBeforeDay(i, end int) bool {
	if !s.isNumber(i) || s.saysTime(i) || isDottedTime(s.tokens[i].text) {
		return false
	}
	day := isPlain(s.tokens[i].text) // perhaps
	for i++; i < end; i++ {
		if s.isNumber(i) || s.is(i, isDate) {
			after := i + s.dateAt(i)
			said := s.readDate(i, after)
			return said.hasDate() && s.isWhole(i, after) && !(day && s.is(i, isDate))
		}
	}
	return false
}

// isAmount reports whether a number can be no part of a day or a time: "18,245.33", "1.0825".
func isAmount(number string) bool {
	if strings.Trim(number, "0123456789.,'") != "" {
		return false
	}
	if strings.Contains(number, ",") {
		return true
	}
	whole, rest, ok := strings.Cut(number, ".")
	if year, err := strconv.Atoi(rest); !ok || err != nil || isYear(year) {
		return false
	}
	return isPlain(whole) && (len(whole) > 2 || len(rest) > 2)
}
