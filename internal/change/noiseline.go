package change

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxNoisyLine bounds in bytes the lines that noise is looked for in. It stands in
// the short lines around a text: bylines, captions, footers, cells. A longer line
// is a paragraph.
const maxNoisyLine = 300

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
}

// withoutNoise returns a line without its noise and without the marks that only
// separated it from the rest.
func (c *core) withoutNoise(line string) string {
	s := &c.words
	if !mayHaveNoise(line) || !s.scan(line) {
		return line
	}
	found := false
	for i := 0; i < len(s.tokens); {
		k, n := s.noiseAt(i)
		if n == 0 {
			i++
			continue
		}
		for j := i; j < i+n; j++ {
			s.tokens[j].noise = k
		}
		if k == clock {
			s.tokens[i].text, s.tokens[i].noise = s.clockWord(i, i+n, c.at), noNoise
		} else {
			c.note(k, s.join(i, i+n))
		}
		found = true
		i += n
	}
	if !found {
		return line
	}
	s.dropSeparators()
	return s.kept()
}

// A time that may be that of the page's making is kept as one word, with a mark
// that says whether it is. Being it on one side of a comparison tells nothing: an
// article of today has today's date too, and still has it tomorrow.
const (
	clockMark = "\x00"
	nowMark   = clockMark + "now\x00"
	thenMark  = clockMark + "then\x00"
)

// clockWord is the word for the time of some tokens.
func (s *scanner) clockWord(from, to int, at time.Time) string {
	mark := thenMark
	if said := s.readDate(from, to); said.hasDate() && said.isDay(at) || !said.hasDate() && said.isTime(at) {
		mark = nowMark
	}
	return mark + strings.ReplaceAll(s.join(from, to), " ", "\x00")
}

// sameWord compares two words. Clocks are the same if both tell the time at which
// they were looked at.
func sameWord(a, b string) (same, clocks bool) {
	if !strings.HasPrefix(a, clockMark) || !strings.HasPrefix(b, clockMark) {
		return a == b, false
	}
	if strings.TrimPrefix(strings.TrimPrefix(a, nowMark), thenMark) == strings.TrimPrefix(strings.TrimPrefix(b, nowMark), thenMark) {
		return true, false
	}
	both := strings.HasPrefix(a, nowMark) && strings.HasPrefix(b, nowMark)
	return both, both
}

// mayHaveNoise spares most lines the scan: nearly all noise has a number, and what
// has none is short.
func mayHaveNoise(line string) bool {
	const most = 60 // bytes of a line that only says how old it is
	return len(line) <= most || strings.ContainsAny(line, "0123456789")
}

// scan splits a line. It reports false, early if it can, if the line has neither a
// number nor one of the words of ages without one, or if it is running text that
// does not begin like a stamp.
func (s *scanner) scan(line string) bool {
	s.tokens, s.sentence = s.tokens[:0], isSentence(line)
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
		}
		t.text, rest, space = rest[:size], rest[size:], false
		if t.word || t.number {
			t.lower = strings.ToLower(t.text)
			t.role = roleOf(t.lower)
			found = found || t.role&(isNow|isAgo) != 0
		}
		if len(s.tokens) == 0 && s.sentence && t.role&beginsStamp == 0 {
			return false
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

// wordLength is the length of the word that a text begins with: letters of one
// kind of script. An apostrophe ends it.
func wordLength(s string) int {
	first, _ := utf8.DecodeRuneInString(s)
	dense := isDense(first)
	for i, r := range s {
		if r < utf8.RuneSelf && !dense && (r|' ' >= 'a' && r|' ' <= 'z') {
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

// isSentence reports whether a line is running text: it ends like a sentence and
// has as many words as one, or has more than any byline.
func isSentence(line string) bool {
	const least, most = 5, 24
	words := 1 + strings.Count(line, " ")
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line, `"'”’»)`))
	return words > most || words >= least && strings.ContainsRune(".!?…", last) || strings.ContainsRune("。！？", last)
}

// noiseAt reports the noise that begins at a token, and its length in tokens; 0
// if there is none.
func (s *scanner) noiseAt(i int) (kind, int) {
	if n := s.stampAt(i); n > 0 {
		return stamp, n
	}
	if s.sentence {
		return noNoise, 0
	}
	if n := s.timingAt(i); n > 0 {
		return timing, n
	}
	if n := s.ageAt(i); n > 0 {
		return age, n
	}
	if n := s.counterAt(i); n > 0 {
		return counter, n
	}
	return s.timeAt(i)
}

// is reports whether the token i has one of some roles; beyond the line none has.
func (s *scanner) is(i int, r role) bool {
	return i >= 0 && i < len(s.tokens) && s.tokens[i].role&r != 0
}

func (s *scanner) isNumber(i int) bool { return i >= 0 && i < len(s.tokens) && s.tokens[i].number }

// isMark reports whether the token i is one of some characters.
func (s *scanner) isMark(i int, marks string) bool {
	return i >= 0 && i < len(s.tokens) && !s.tokens[i].word && !s.tokens[i].number && strings.Contains(marks, s.tokens[i].text)
}

// separators stand between the parts of a byline.
const separators = "·•|/—–-•,;()[]*►»›…:：、・"

// isEdge reports whether what begins at i begins the line or a part of it.
func (s *scanner) isEdge(i int) bool {
	return i <= 0 || i >= len(s.tokens) || s.isMark(i, separators) || s.isMark(i-1, separators) || s.tokens[i-1].noise != noNoise
}

// ageAt is the length of an age: "3 minutes ago", "vor 3 Minuten", "3分前", "just
// now".
func (s *scanner) ageAt(i int) int {
	if n := s.nowAt(i); n > 0 {
		return n
	}
	start := i
	before := 0 // words that make an age of a number with a unit
	for _, phrase := range agoBefore {
		before = max(before, s.phraseAt(i, phrase))
	}
	i += before
	for s.is(i, isAbout) {
		i++
	}
	if !s.isNumber(i) && !s.is(i, isOne) {
		return 0
	}
	i++
	if s.is(i, isDenseAgo) {
		return i + 1 - start
	}
	if !s.is(i, isUnit) {
		return 0
	}
	i++
	// "2 hours, 5 minutes ago"
	for s.isMark(i, ",") || s.is(i, isAnd) {
		if !s.isNumber(i+1) || !s.is(i+2, isUnit) {
			break
		}
		i += 3
	}
	long := s.is(i-1, isLongUnit)
	switch {
	case s.is(i, isAgo):
		i++
	case before == 0:
		return 0
	}
	if long && s.goesOn(i) { // "20 years ago in Oslo"
		return 0
	}
	return i - start
}

// goesOn reports whether a word in small letters follows, as in a phrase.
func (s *scanner) goesOn(i int) bool {
	if i >= len(s.tokens) || !s.tokens[i].word {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s.tokens[i].text)
	return unicode.IsLower(r)
}

// nowAt is the length of an age without a number, or of a day told by its distance
// with its time: "just now", "yesterday at 14:05".
func (s *scanner) nowAt(i int) int {
	if !s.is(i, isNow) {
		return 0
	}
	for _, phrase := range nowPhrases {
		if n := s.phraseAt(i, phrase); n > 0 {
			return n
		}
	}
	end := i + 1
	for s.isMark(end, ",") || s.is(end, isDateJoin) {
		end++
	}
	if !s.isNumber(end) || !strings.ContainsAny(s.tokens[end].text, ":h") {
		return 0
	}
	if s.isMark(end+1, "-–—") || strings.Contains(s.tokens[end].text, "-") {
		return 0 // hours of opening
	}
	for end++; s.is(end, isDate); end++ {
	}
	return end - i
}

// counterAt is the length of a counter: "1,234 views", "12 users online", "1.234
// Mal gelesen", "viewed 1,234 times", "Views: 1,234".
func (s *scanner) counterAt(i int) int {
	switch {
	case s.isNumber(i) && !s.isMark(i-1, currencies):
		return s.countedAfter(i)
	case s.is(i, isRead) && s.isNumber(i+1) && s.is(i+2, isTimes):
		return 3
	case s.is(i, isCounted):
		return s.countedBefore(i)
	}
	return 0
}

const currencies = "$€£¥₽%"

// countedAfter is the length of a counter that begins with its number.
func (s *scanner) countedAfter(start int) int {
	i := s.multiplied(start) + 1
	times := s.is(i, isTimes)
	for s.is(i, isTimes|isCounting) {
		i++
	}
	end := i
	for s.is(end, isCounted) || times && s.is(end, isRead) {
		end++
	}
	for end > i && s.is(end, isCounting) { // "12 users online now"
		end++
	}
	if end == i || s.goesOn(end) { // "12 online courses"
		return 0
	}
	return end - start
}

// countedBefore is the length of a counter that ends with its number, which must
// not be that of something else.
func (s *scanner) countedBefore(start int) int {
	i := start + 1
	named := s.isMark(i, ":：")
	if named {
		i++
	}
	if !s.isNumber(i) {
		return 0
	}
	end := s.multiplied(i) + 1
	if !named && (!s.isEdge(start) || !s.isEdge(end) && !s.is(end, isCounted|isTimes)) {
		return 0
	}
	if s.is(end, isTimes) { // "コメント5件"
		end++
	}
	if s.goesOn(end) && !s.is(end, isCounted) { // "Visit: 12 rooms"
		return 0
	}
	return end - start
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
	if label == 0 || s.sentence && i > 0 {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(s.tokens[i].text)
	if !s.isEdge(i) && unicode.IsLower(r) {
		return 0 // "the rules updated on 3 March"
	}
	end := i + label
	for s.isMark(end, ":：-–—") {
		end++
	}
	if n := s.ageAt(end); n > 0 {
		return end + n - i
	}
	n := s.dateAt(end)
	if said := s.readDate(end, end+n); said.hasDate() || said.clock != nil {
		return end + n - i
	}
	return 0
}

// stampLabelAt is the length of the longest label that begins at i.
func (s *scanner) stampLabelAt(i int) int {
	if !s.is(i, beginsStamp) {
		return 0
	}
	longest := 0
	for _, phrase := range stampLabels[s.tokens[i].lower] {
		longest = max(longest, s.phraseAt(i, phrase))
	}
	return longest
}

// phraseAt is the length of a phrase that stands at i, 0 if another does.
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
// so: "Page generated in 0.123 seconds".
func (s *scanner) timingAt(i int) int {
	if !s.isNumber(i) || !s.is(i+1, isShortUnit) {
		return 0
	}
	for j := range s.tokens[:i] {
		if s.tokens[j].role&isMaking != 0 {
			return 2
		}
	}
	return 0
}

// dateAt is the length of the stretch of words and numbers of dates and times at
// i, which must have a number.
func (s *scanner) dateAt(i int) int {
	end, numbers := i, 0
	for j := i; j < len(s.tokens); j++ {
		switch {
		case s.isNumber(j):
			numbers++
			end = j + 1
		case s.is(j, isDate):
			end = j + 1
		case s.is(j, isDateJoin), s.isMark(j, ",.()-–"):
		default:
			j = len(s.tokens) // the end of the stretch
		}
	}
	if numbers == 0 {
		return 0
	}
	return end - i
}

// timeAt is the length of a time that may be the one at which the page was made: a
// day, or a time to the second, in a part of the line of its own, or a day with a
// time of day. A day with a time to the second is made by a machine in any case,
// and a stamp.
func (s *scanner) timeAt(i int) (kind, int) {
	if !s.isNumber(i) && !s.is(i, isDate) {
		return noNoise, 0
	}
	n := s.dateAt(i)
	if n == 0 || !s.isEdge(i+n) {
		return noNoise, 0
	}
	said := s.readDate(i, i+n)
	switch {
	case said.hasDate() && said.seconds:
		return stamp, n
	case said.hasDate() && (said.clock != nil || s.isEdge(i)), said.seconds && s.isEdge(i):
		return clock, n
	}
	return noNoise, 0
}

// dropSeparators makes noise of the marks beside noise that is left out.
func (s *scanner) dropSeparators() {
	mark := func(i, beside int) {
		if beside < 0 || beside >= len(s.tokens) || !s.isMark(i, separators+".。") {
			return
		}
		if k := s.tokens[beside].noise; k != noNoise && k != clock {
			s.tokens[i].noise = k
		}
	}
	for i := range s.tokens {
		mark(i, i-1)
	}
	for i := len(s.tokens) - 1; i >= 0; i-- {
		mark(i, i+1)
	}
}

// kept is the line without what is noise.
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

// join is the text of some tokens.
func (s *scanner) join(from, to int) string {
	var b strings.Builder
	for _, t := range s.tokens[from:to] {
		b.WriteString(t.text)
		b.WriteByte(' ')
	}
	return b.String()
}
