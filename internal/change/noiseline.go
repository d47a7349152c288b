package change

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNoisyLine bounds in bytes the lines that are searched for noise. Noise stands
// in the short lines around a text: bylines, captions, footers, cells. A longer
// line is a paragraph.
const maxNoisyLine = 300

// withoutNoise returns a line without its noise and without the marks that only
// separated it from the rest.
func (c *core) withoutNoise(line string) string {
	s := &c.words
	s.quotes = c.joins
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
			s.tokens[i].text, s.tokens[i].noise = s.clockWord(i, i+n), noNoise
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

// mayHaveNoise spares most lines the scan: nearly all noise has a number, and noise
// without one is short.
func mayHaveNoise(line string) bool {
	const most, perRune = 80, 3 // letters of a line that only states an age
	return len(line) <= most || hasDigit(line) || line[0] >= utf8.RuneSelf && len(line) <= perRune*most
}

// hasDigit reports whether a line has a digit, in any script.
func hasDigit(line string) bool {
	for i := range len(line) {
		if c := line[i]; c >= '0' && c <= '9' {
			return true
		} else if c >= utf8.RuneSelf {
			return strings.ContainsAny(line[i:], "0123456789") || strings.ContainsFunc(line[i:], unicode.IsDigit)
		}
	}
	return false
}

// bylines begin lines that say who wrote something and when, even those with a full stop.
var bylines = setOf(`posted published submitted asked answered commented replied uploaded shared veröffentlicht gepostet geschrieben publié publiée posté
	publicado publicada enviado pubblicato inviato geplaatst gepubliceerd opublikowano publicerad опубликовано`)

// isSentence reports whether a line is running text: it ends like a sentence and
// has as many words as one, or has more than any byline.
func isSentence(line string) bool {
	const least, most, byline = 5, 24, 80
	if first, _, _ := strings.Cut(line, " "); len(line) <= byline && bylines()[strings.ToLower(first)] {
		return false
	}
	words := 1 + strings.Count(line, " ")
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line, `"'”’»)`))
	return words > most || words >= least && strings.ContainsRune(".!?…।॥؟۔։።။។", last) && !endsInUnit(line) || strings.ContainsRune("。！？", last)
}

// shortUnits are units of time with a dot: "vor 5 Std."
var shortUnits = setOf(`sec secs min mins hr hrs wk wks mo mos yr yrs std sek godz tyg mies сек мин ч дн нед мес`)

// endsInUnit reports whether a line ends in an abbreviated unit of time, whose dot ends no sentence.
func endsInUnit(line string) bool {
	rest, ok := strings.CutSuffix(line, ".")
	return ok && shortUnits()[strings.ToLower(rest[strings.LastIndexByte(rest, ' ')+1:])]
}

// noiseAt reports the noise that begins at a token, and its length in tokens; 0
// if there is none.
func (s *scanner) noiseAt(i int) (kind, int) {
	if n := s.stampAt(i); n > 0 {
		return stamp, n
	}
	if n := s.bySomebodyAt(i); n > 0 {
		return stamp, n
	}
	if n := s.endedAt(i); n > 0 {
		return stamp, n
	}
	if n := max(s.hitsAt(i), s.presenceAt(i)); n > 0 {
		return counter, n
	}
	if s.sentence {
		return noNoise, 0
	}
	if n := s.timingAt(i); n > 0 {
		return timing, n
	}
	if n := s.idAt(i); n > 0 {
		return requestID, n
	}
	if clock, _ := s.dayWithTimeAt(i); clock > 0 {
		return age, clock - i // the time stays
	}
	if n := s.ageAt(i); n > 0 && s.saysAgo(i, i+n) {
		return age, n
	}
	if n := max(s.counterAt(i), s.namedCountAt(i)); n > 0 {
		return counter, n
	}
	return s.timeAt(i)
}

// separators stand between the parts of a byline.
const separators = "·•|/—–-•,;()[]*►»›…:：、・"

// dropSeparators turns the marks beside removed noise into noise.
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
