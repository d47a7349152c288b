package change

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// counterAt is the length of a counter: "1,234 views", "12 users online", "1.234
// Mal gelesen", "viewed 1,234 times", "Views: 1,234".
func (s *scanner) counterAt(i int) int {
	if n := max(s.votesAt(i), s.badgesAt(i)); n > 0 {
		return n
	}
	switch {
	case s.isCount(i) && !s.isSign(i-1) && !s.isOfName(i) && !s.isAllowance(i):
		return s.countedAfter(i)
	case s.is(i, isRead) && s.isCount(i+1) && s.is(s.multiplied(i+1)+1, isTimes):
		return s.multiplied(i+1) + 2 - i // "viewed 12k times"
	case s.is(i, isCounted|isCountedMany):
		return s.countedBefore(i)
	}
	return 0
}

// metals are the ranks of badges that the sites of Stack Exchange give to who writes there.
var metals = setOf(`gold silver bronze`)

// badgesAt is the length of a count of such badges: "12 silver badges".
func (s *scanner) badgesAt(i int) int {
	const length = 3
	if !s.isCount(i) || i+length > len(s.tokens) || !metals()[s.tokens[i+1].lower] {
		return 0
	}
	if last := s.tokens[i+2].lower; last != "badges" && last != "badge" {
		return 0
	}
	return length
}

// isCount reports whether a number counts something: it is whole, or a fraction of thousands
// or millions. Times, ranges, versions, prices with cents and the year of a date are not.
func (s *scanner) isCount(i int) bool {
	if !s.isNumber(i) || s.isYearOfDate(i) {
		return false
	}
	groups := strings.FieldsFunc(latinDigits(s.tokens[i].text), func(r rune) bool { return strings.ContainsRune(".,'٫٬", r) })
	for _, group := range groups {
		if !isPlain(group) {
			return false
		}
	}
	last := len(groups) - 1
	if last == 0 {
		return true
	}
	whole := len(groups[last]) == 3
	for _, group := range groups[:last] {
		whole = whole && len(group) <= 3 // two in India: 12,34,567
	}
	return whole || last == 1 && s.is(s.multiplied(i), isMultiple)
}

// countedBy are the roles of words for what a number counts.
func (s *scanner) countedBy(i int) role {
	const thousand = 4 // digits
	last, digits := s.multiplied(i), 0
	for _, t := range s.tokens[i : last+1] {
		for _, r := range t.text {
			if unicode.IsDigit(r) {
				digits++
			}
		}
	}
	if digits >= thousand || s.is(last, isMultiple) {
		return isCounted | isCountedMany
	}
	return isCounted
}

// isYearOfDate reports whether a number may be the year of a date before it: "14 May 2026 online".
func (s *scanner) isYearOfDate(i int) bool {
	const within = 3 // "May 14, 2026"
	if year, err := strconv.Atoi(s.tokens[i].text); err != nil || !isYear(year) {
		return false
	}
	for j := max(0, i-within); j < i; j++ {
		if s.is(j, isDate) {
			return true
		}
	}
	return false
}

// countedAfter is the length of a counter that begins with its number.
func (s *scanner) countedAfter(start int) int {
	i := s.multiplied(start) + 1
	times := s.is(i, isTimes)
	for s.is(i, isTimes|isCounting) {
		i++
	}
	end := i
	for s.is(end, s.countedBy(start)) || times && s.is(end, isRead) {
		end++
	}
	for end > i && s.is(end, isCounting) { // "12 users online now"
		end++
	}
	if end == i || s.goesOn(end) || s.isOffered(start, end) || s.isCall(end) { // "12 online courses"
		return 0
	}
	if s.isMark(start-1, ":：") && s.isInShop(s.multiplied(start)+1, start-2) { // "In stock: 5 online"
		return 0
	}
	return end - start
}

// isOfName reports whether a number is the end of a name: "Int64 read", "Python3 downloads".
func (s *scanner) isOfName(i int) bool {
	if i == 0 || s.tokens[i].space || !s.tokens[i-1].word {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(s.tokens[i-1].text)
	return unicode.Is(unicode.Latin, last)
}

// isCall reports whether a token begins the arguments of the name before it, as in a line of
// code: "53 View();".
func (s *scanner) isCall(i int) bool { return s.isMark(i, "(") && !s.tokens[i].space }

// countedBefore is the length of a counter that ends with its number, which must
// not belong to something else.
func (s *scanner) countedBefore(start int) int {
	i := start + 1
	named := s.isMark(i, ":：")
	if named {
		i++
	}
	if !s.isCount(i) || !s.is(start, s.countedBy(i)) || s.isInShop(start, start-1) {
		return 0
	}
	end := s.multiplied(i) + 1
	if !named && (s.is(start, isCountedOne) || !s.isEdge(start) || !s.isEdge(end) && !s.is(end, isCounted|isTimes)) {
		return 0
	}
	if s.is(end, isTimes) { // "コメント5件"
		end++
	}
	if s.is(end, isCounted) {
		return end - start
	}
	if s.goesOn(end) || s.isMeasured(end) || s.isOffered(start, end) || s.isOfOnline(start, end) { // "Visit: 12 rooms", "Online: 24 €"
		return 0
	}
	return end - start
}

// isOfOnline reports whether a word tells what the number after "online" counts, which is no reader
// then: "Online: 12 Plätze". Others may be followed by a name: "Views: 12 By Ann".
func (s *scanner) isOfOnline(start, end int) bool {
	return s.tokens[start].lower == "online" && end < len(s.tokens) && s.tokens[end].word
}

// money are names of currencies that are written out, in languages that begin them with a capital too.
var money = setOf(`euro euros dollar dollars franken francs pfund pounds yen yuan rubel kronen kroner kronor złotych рублей`)

// isMeasured reports whether the number before a token has a unit: a sign, a currency, or a word in
// capitals, as in "Download: 24 MB".
func (s *scanner) isMeasured(i int) bool {
	const longest = 4
	if i >= len(s.tokens) {
		return false
	}
	if t := s.tokens[i]; t.word {
		return money()[t.lower] || len(t.text) <= longest && t.text == strings.ToUpper(t.text) && t.text != t.lower
	}
	return s.isSign(i)
}

// isSign reports whether a token is the sign of a currency or a measure.
func (s *scanner) isSign(i int) bool {
	if i < 0 || i >= len(s.tokens) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s.tokens[i].text)
	return unicode.Is(unicode.Sc, r) || strings.ContainsRune("%‰°", r)
}

// multiplied is the last token of a number that begins at i: with its groups of
// three digits, and its "k" or "Mio.".
func (s *scanner) multiplied(i int) int {
	for s.isNumber(i+1) && len(s.tokens[i+1].text) == 3 && s.tokens[i+1].space {
		i++
	}
	if s.is(i+1, isMultiple) {
		i++
		if s.isMark(i+1, ".") {
			i++
		}
	}
	return i
}

// stampAt is the length of a labelled time: "Last updated: 4 March 2026, 14:05". In
// a sentence it must come first.
func (s *scanner) stampAt(i int) int {
	label := s.stampLabelAt(i)
	if label == 0 || s.sentence && i > 0 && (i > 1 || !s.is(0, isStampNoun)) {
		return 0
	}
	if !s.isEdge(i) && !s.beginsPart(i) {
		return 0 // "the rules updated on 3 March"
	}
	for label > 0 {
		if end := s.labelledAt(i + label); end > 0 {
			return end - i
		}
		label = s.longestWithin(i, i+label-1, stampLabels()) // "last updated" of "last updated on"
	}
	return 0
}

// labelledAt is the end of the time that follows a label, which ends before i; 0 if there
// is none.
func (s *scanner) labelledAt(end int) int {
	for s.isMark(end, ":：՝-–—】］") {
		end++
	}
	if n := s.ageAt(end); n > 0 {
		return end + n
	}
	if n := s.relativeAt(end); n > 0 {
		return end + n
	}
	n := s.stretchAt(end, isDate|isStampDate, isDateJoin|isStampJoin)
	if n > 0 && !isPlain(s.tokens[end].text) && s.isBeforeDay(end, end+n) { // "Last update: 2.4.1 (4 March 2026)"
		return 0
	}
	if said := s.readDate(end, end+n); said.hasDate() || said.clock != nil || s.saysDay(end, end+n, said) {
		return end + n
	}
	return 0
}

// stampLabelAt is the length of the longest label that begins at i.
func (s *scanner) stampLabelAt(i int) int {
	if !s.is(i, beginsStamp) {
		return 0
	}
	return s.longestAt(i, stampLabels())
}

// phraseAt is the length of a phrase that stands at i, 0 if it does not.
func (s *scanner) phraseAt(i int, phrase []string) int {
	if i+len(phrase) > len(s.tokens) {
		return 0
	}
	for j, word := range phrase {
		if s.tokens[i+j].lower != word && s.tokens[i+j].text != word {
			return 0
		}
	}
	return len(phrase)
}

// timingAt is the length of the time that a page took to make, in a line that says
// so: "Page generated in 0.123 seconds". A setting that bounds such a time is none: "Maximum
// execution time: 30 seconds".
func (s *scanner) timingAt(i int) int {
	if n := s.queriesAt(i); n > 0 {
		return n
	}
	if !s.isNumber(i) || !s.is(i+1, isShortUnit) {
		return 0
	}
	made, bound := false, false
	for j := range s.tokens {
		made = made || j < i && s.is(j, isMaking)
		bound = bound || s.is(j, isBound)
	}
	measured := strings.ContainsAny(s.tokens[i].text, ".,٫") || s.tokens[i+1].lower == "ms" || s.is(i-1, isWithin)
	if !made || bound || !measured {
		return 0
	}
	return 2
}

// queries are the words for the database queries that made a page.
var queries = setOf(`queries query abfragen datenbankabfragen requêtes consultas consulte zapytań запросов запроса 次查询 查询`)

// queriesAt is the length of the number of queries after a timing: "in 0.123 seconds with 24
// queries".
func (s *scanner) queriesAt(i int) int {
	timed := false
	for _, t := range s.tokens[:i] {
		timed = timed || t.noise == timing
	}
	switch {
	case !timed:
	case s.isNumber(i) && i+1 < len(s.tokens) && queries()[s.tokens[i+1].lower]:
		return 2
	case queries()[s.tokens[i].lower] && s.isMark(i+1, ":：") && s.isNumber(i+2):
		return 3
	}
	return 0
}

// dateAt is the length of the stretch of words and numbers of dates and times at
// i, which must have a number.
func (s *scanner) dateAt(i int) int { return s.stretchAt(i, isDate, isDateJoin) }

// stretchAt is dateAt with words of some roles, and with what may stand between them.
func (s *scanner) stretchAt(i int, words, joins role) int {
	end, numbers := i, 0
	whole, timed := false, false // a day is stated, and its time
	for j := i; j < len(s.tokens); j++ {
		if s.isNumber(j) && s.saysTime(j) {
			timed = true
		} else if s.isNumber(j) && !s.is(j+1, words) {
			whole = whole || s.isWhole(i, end)
			if whole && !s.goesOnWith(j, timed) {
				break // "4 March 2026, 5 new rules", "2026-03-04 10:20:33, 12.5 °C"
			}
			timed = timed || whole
		}
		switch {
		case s.isNumber(j):
			numbers++
			end = j + 1
		case s.is(j, words), joins&isStampJoin != 0 && s.isMalayMarch(j):
			end = j + 1
		case s.is(j, joins), s.isMark(j, ",.()-–"), joins&isStampJoin != 0 && s.isMark(j, "'’"):
		default:
			j = len(s.tokens) // the end of the stretch
		}
	}
	if numbers == 0 {
		return 0
	}
	return end - i
}

// isMalayMarch reports whether a token is "Mac" between a day and a year.
func (s *scanner) isMalayMarch(i int) bool {
	if s.tokens[i].lower != malayMarch || !s.isNumber(i-1) || !s.isNumber(i+1) {
		return false
	}
	year, err := strconv.Atoi(s.tokens[i+1].text)
	return err == nil && isYear(year) && len(s.tokens[i-1].text) <= 2
}

// timeAt is the length of a time that may be the one at which the page was made: a day, a
// day with a time of day, a time to the second in a separate part of the line, or the time
// after "today".
func (s *scanner) timeAt(i int) (kind, int) {
	if !s.isNumber(i) && !s.is(i, isDate) {
		return noNoise, 0
	}
	n := s.dateAt(i)
	if n == 0 || !s.isEdge(i+n) || s.isBeforeDay(i, i+n) || isAmount(s.tokens[i].text) {
		return noNoise, 0
	}
	said := s.readDate(i, i+n)
	switch {
	case said.hasDate() && (said.clock != nil || s.isEdge(i)), said.seconds && s.isEdge(i),
		said.clock != nil && i > 0 && s.tokens[i-1].noise == age:
		return clock, n
	}
	return noNoise, 0
}
