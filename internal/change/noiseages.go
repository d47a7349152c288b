package change

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// someTimes are numbers that nobody counted, or that are written out: "a few seconds ago", "vor
// einer halben Stunde", "two hours ago".
var someTimes = sync.OnceValue(func() *phraseTree {
	return treeOf(expand(`a|just few, a _|couple of, a|several couple, several, half a|an, one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve,
		ein paar, wenigen|einigen|mehreren, einer halben|knappen|guten, zwei|drei|vier|fünf|sechs, quelques|plusieurs, une demi _|- , deux|trois|quatre|cinq,
		pocos|pocas|algunos|algunas|varios|varias|unos|unas _|pocos|pocas, dos|tres|cuatro|cinco, pochi|poche|alcuni|alcune|qualche|diversi|diverse, due|tre|quattro|cinque,
		poucos|poucas|alguns|algumas|vários|várias, dois|duas|três|quatro|cinco, enkele, een paar|aantal, kilka|kilku|parę, dwa|dwie|trzy, några, ett par, nogle|få|noen, et par, muutama|muutaman, несколько, пару`))
})

// thanTimes stand before the number of an age, anywhere. For those of other languages see overTimes.
var thanTimes = sync.OnceValue(func() *phraseTree { return treeOf(expand(`less|more than, just over|under`)) })

// moments are units of time that are counted vaguely only: "a moment ago".
var moments = setOf(`moment moments augenblick augenblicken instant instants momento momenti momentos ogenblik ogenblikken`)

// ageAt is the length of an age: "3 minutes ago", "vor 3 Minuten", "3分前", "just
// now".
func (s *scanner) ageAt(i int) int {
	if n := s.nowAt(i); n > 0 {
		return n
	}
	start := i
	before := 0 // words that, with a number and a unit, make an age
	if s.is(i, beginsAgo) {
		for _, phrase := range agoBefore {
			before = max(before, s.phraseAt(i, phrase))
		}
	}
	i += before
	i += s.longestAt(i, thanTimes())
	some := s.longestAt(i, someTimes())
	for some == 0 && s.is(i, isAbout) {
		i++
		some = s.longestAt(i, someTimes())
	}
	if some == 0 && (s.isNumber(i) || s.is(i, isOne)) {
		if some = 1; s.isMark(i+1, "+") { // "30+ days ago"
			some++
		}
	}
	if i += some; some == 0 || s.isQuoted(start) {
		return 0
	}
	if s.is(i, isDenseAgo) {
		return i + 1 - start
	}
	if !s.is(i, isUnit) && !(i < len(s.tokens) && moments()[s.tokens[i].lower]) {
		return 0
	}
	i = s.restOfAge(i + 1)
	long := s.is(i-1, isLongUnit)
	if s.is(i, isStampAgo) && !s.is(i, isAgo) && s.is(i+1, isAgo) { // "3 jam yang lalu"
		i++
	}
	switch {
	case s.is(i, isAgo), s.is(i, isStampAgo) && beforeWords()[s.tokens[i].lower]:
		i++
	case before == 0:
		return 0
	}
	if long && s.goesOn(i) { // "20 years ago in Oslo"
		return 0
	}
	return i - start
}

// isQuoted reports whether a quotation or an argument begins right before a token, whose text
// somebody wrote: --since="2 weeks ago", HEAD@{5 minutes ago}.
func (s *scanner) isQuoted(i int) bool {
	return i < len(s.tokens) && !s.tokens[i].space && s.isMark(i-1, "\"'`“„«‘{=")
}

// goesOn reports whether a word in small letters follows, as in a phrase.
func (s *scanner) goesOn(i int) bool {
	if i >= len(s.tokens) || !s.tokens[i].word {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s.tokens[i].text)
	return unicode.IsLower(r)
}

// nowAt is the length of an age without a number, or of a day named relative to
// today with its time: "just now", "yesterday at 14:05".
func (s *scanner) nowAt(i int) int {
	if !s.is(i, isNow) {
		return 0
	}
	for _, phrase := range nowPhrases {
		if n := s.phraseAt(i, phrase); n > 0 {
			return n
		}
	}
	if _, end := s.dayWithTimeAt(i); end > 0 {
		return end - i
	}
	return 0
}

// dayWithTimeAt finds a day named relative to today with its time, "yesterday at 14:05":
// where the time begins and where it ends, 0 if there is none.
func (s *scanner) dayWithTimeAt(i int) (clock, end int) {
	if !s.is(i, isNow) || s.is(i, isDateJoin) { // "à 14h05"
		return 0, 0
	}
	clock = i + 1
	for s.isMark(clock, ",") || s.is(clock, isDateJoin) {
		clock++
	}
	if !s.isNumber(clock) || !strings.ContainsAny(s.tokens[clock].text, ":h") {
		return 0, 0
	}
	if s.isMark(clock+1, "-–—") || strings.Contains(s.tokens[clock].text, "-") {
		return 0, 0 // hours of opening
	}
	end = clock + 1
	for s.is(end, isDate) {
		end++
	}
	return clock, end
}

// restOfAge is the end of an age whose first unit ends at i, with its smaller units and the dots
// of abbreviations: "2 hours, 5 minutes ago", "1 day 3 hours ago", "5 hr. ago".
func (s *scanner) restOfAge(i int) int {
	for {
		if s.isMark(i, ".") && s.endsAge(i+1) {
			i++
		}
		from := i
		if s.isMark(i, ",") || s.is(i, isAnd) {
			from++
		}
		if !s.isNumber(from) || !s.is(from+1, isUnit) {
			return i
		}
		i = from + 2
	}
}

// endsAge reports whether a token goes on with an age after the dot of an abbreviated unit.
func (s *scanner) endsAge(i int) bool {
	return s.is(i, isAgo) || s.is(i, isStampAgo) && beforeWords()[s.tokens[i].lower] || s.isNumber(i) && s.is(i+1, isUnit)
}
