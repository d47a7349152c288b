package change

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// saidTime is the time stated in a stretch of a line, whatever the order.
type saidTime struct {
	numbers []int // of a date: days, months, a year
	pairs   bool  // three of them, of two digits each: 04.03.26
	month   int   // by its name, 0 if there is none
	clock   []int // hours, minutes and, perhaps, seconds
	seconds bool
}

// readDate reads the tokens of a date.
func (s *scanner) readDate(from, to int) saidTime {
	var said saidTime
	for _, t := range s.tokens[from:to] {
		switch {
		case t.number:
			for part := range strings.SplitSeq(latinDigits(t.text), "T") {
				said.read(part)
			}
		case t.word && months()[t.lower] > 0:
			said.month = months()[t.lower]
		}
	}
	return said
}

// read takes one number: a time of day, or numbers of a date.
func (said *saidTime) read(text string) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	var numbers []int
	for _, p := range parts {
		if n, err := strconv.Atoi(p); err == nil {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) > 1 && strings.ContainsAny(text, ":h") {
		said.clock, said.seconds = numbers, len(numbers) > 2
		return
	}
	said.numbers = append(said.numbers, numbers...)
	said.pairs = len(parts) == 3 && len(text) == len("04.03.26") && len(parts[0]) == 2 && len(parts[1]) == 2
}

// hasDate reports whether it states a day of a month: by the month's name, or by
// three numbers of which one is a year, or that have two digits each. Versions are
// none.
func (said *saidTime) hasDate() bool {
	if said.month > 0 {
		return len(said.numbers) > 0
	}
	return len(said.numbers) >= 3 && (slices.ContainsFunc(said.numbers, isYear) || said.pairs)
}

func isYear(n int) bool { return n >= 1900 && n < 2200 }

// fits reports whether each of the numbers is a part of the day, and the day and
// the month are among them.
func (said *saidTime) fits(day time.Time) bool {
	const leastYear = 1000
	rest := slices.Clone(said.numbers)
	take := func(n int) bool {
		i := slices.Index(rest, n)
		if i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
		return i >= 0
	}
	switch {
	case !take(day.Day()):
		return false
	case said.month > 0 && said.month != int(day.Month()):
		return false
	case said.month == 0 && !take(int(day.Month())):
		return false
	}
	return len(rest) == 0 || len(rest) == 1 && (rest[0] == day.Year() || rest[0] < leastYear && rest[0] == day.Year()%100)
}
