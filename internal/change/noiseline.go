package change

import (
	"strings"
	"time"
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
// that says whether it is. Being it on one side of a comparison proves nothing: an
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

// sameWord compares two words. Clocks are the same if both show the time at which
// their pages were fetched.
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

// isSentence reports whether a line is running text: it ends like a sentence and
// has as many words as one, or has more than any byline.
func isSentence(line string) bool {
	const least, most = 5, 24
	words := 1 + strings.Count(line, " ")
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line, `"'”’»)`))
	return words > most || words >= least && strings.ContainsRune(".!?…।॥؟۔։።။។", last) || strings.ContainsRune("。！？", last)
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
	if n := s.hitsAt(i); n > 0 {
		return counter, n
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
