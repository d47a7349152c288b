package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// snippetLength is about the number of bytes of a text that are shown.
const snippetLength = 240

// Snippet is a part of a text, on one line.
type Snippet struct {
	Text string
	// Marks are the places of the query's words, in bytes: from, to.
	Marks [][2]int
}

// SnippetOf chooses the part of a text that has most of the terms, the first of equals. A text without any is shown
// from its beginning.
func SnippetOf(text string, terms []Term) Snippet {
	text = normal(oneLine(text))
	var found []token
	for t := range tokens(text) {
		if matches(t, terms) {
			found = append(found, t)
		}
	}
	from, to := bounds(text, bestWindow(found))
	s := Snippet{Text: text[from:to]}
	shift := -from
	if from > 0 {
		s.Text = "… " + s.Text
		shift += len("… ")
	}
	if to < len(text) {
		s.Text += " …"
	}
	for _, t := range found {
		if t.from >= from && t.to <= to {
			s.mark(t.from+shift, t.to+shift)
		}
	}
	return s
}

// mark adds a place, joined with the last one if they touch.
func (s *Snippet) mark(from, to int) {
	if n := len(s.Marks); n > 0 && from <= s.Marks[n-1][1] {
		s.Marks[n-1][1] = max(to, s.Marks[n-1][1])
		return
	}
	s.Marks = append(s.Marks, [2]int{from, to})
}

// bestWindow returns the beginning of the part with the most different words, then the most
// words.
func bestWindow(found []token) int {
	best, at := 0, 0
	count := map[string]int{}
	last := 0
	for first := range found {
		for last < len(found) && found[last].to-found[first].from <= snippetLength {
			count[found[last].word]++
			last++
		}
		if worth := len(count)*1000 + last - first; worth > best {
			best, at = worth, found[first].from
		}
		if word := found[first].word; first < last {
			if count[word]--; count[word] == 0 {
				delete(count, word)
			}
		} else {
			last = first + 1
		}
	}
	return at
}

// bounds returns the bounds of a part that begins a little before a word, between words.
func bounds(text string, at int) (from, to int) {
	const before = 60
	from = atRune(text, max(0, at-before))
	if from > 0 {
		if i := strings.IndexByte(text[from:at], ' '); i >= 0 {
			from += i + 1
		}
	}
	to = atRune(text, min(len(text), from+snippetLength+before))
	if to < len(text) {
		if i := strings.LastIndexByte(text[from:to], ' '); i > snippetLength {
			to = from + i
		}
	}
	return from, to
}

// atRune returns the beginning of the character at a place.
func atRune(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// oneLine makes one line of a text, without characters that move a cursor or are invisible.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
