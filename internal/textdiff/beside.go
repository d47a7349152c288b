package textdiff

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Row is a line of two texts beside each other.
type Row struct {
	// From and To are the numbers of its lines, 0 where a text has none. A row without any
	// stands for Skipped lines that both texts have.
	From, To int
	Skipped  int
	// Old and New are the lines in parts; those of equal lines are one.
	Old, New []Part
}

// Same reports whether both texts have the line.
func (r Row) Same() bool { return r.From > 0 && r.To > 0 && len(r.Old) == 1 && !r.Old[0].Differs }

// Part is a part of a line. Differs: the line beside it does not have it.
type Part struct {
	Text    string
	Differs bool
}

// Beside puts two texts beside each other: the lines that differ, with as many lines around
// them as around says. It stops after most rows, and reports whether those are all.
func Beside(from, to string, around, most int) (rows []Row, all bool) {
	b := beside{around: around}
	found := edits(from, to)
	at := 0
	for i, edit := range found {
		before := splitLines(from[at:edit.Start])
		b.same(before, i > 0, true)
		b.changed(splitLines(from[edit.Start:edit.End]), splitLines(edit.New))
		at = edit.End
		if len(b.rows) > most {
			return b.rows[:most], false
		}
	}
	if len(found) > 0 {
		b.same(splitLines(from[at:]), true, false)
	}
	return b.rows, true
}

// beside is a comparison under way: the rows, and the number of the last line of each text.
type beside struct {
	rows     []Row
	from, to int
	around   int
}

// same adds the first and the last of some lines that both texts have: those after a
// difference, and those before one.
func (b *beside) same(lines []string, after, before bool) {
	head, tail := 0, 0
	if after {
		head = min(b.around, len(lines))
	}
	if before {
		tail = min(b.around, len(lines)-head)
	}
	for i, line := range lines {
		b.from++
		b.to++
		switch {
		case i < head || i >= len(lines)-tail:
			part := []Part{{Text: line}}
			b.rows = append(b.rows, Row{From: b.from, To: b.to, Old: part, New: part})
		case i == head:
			b.rows = append(b.rows, Row{Skipped: len(lines) - head - tail})
		}
	}
}

// changed adds lines that were replaced, those that belong together beside each other.
func (b *beside) changed(gone, came []string) {
	i, j := 0, 0
	apart := func(toI, toJ int) {
		for ; i < toI; i++ {
			b.from++
			b.rows = append(b.rows, Row{From: b.from, Old: []Part{{gone[i], true}}})
		}
		for ; j < toJ; j++ {
			b.to++
			b.rows = append(b.rows, Row{To: b.to, New: []Part{{came[j], true}}})
		}
	}
	for _, p := range Pairs(gone, came) {
		apart(p[0], p[1])
		b.from, b.to = b.from+1, b.to+1
		row := Row{From: b.from, To: b.to}
		row.Old, row.New = parts(gone[i], came[j])
		b.rows = append(b.rows, row)
		i, j = i+1, j+1
	}
	apart(len(gone), len(came))
}

// longLine is the length in bytes of the longest line whose words are compared.
const longLine = 10_000

// parts are two lines, divided at the words in which they differ.
func parts(from, to string) (old, come []Part) {
	if len(from) > longLine || len(to) > longLine {
		return longParts(from, to)
	}
	a, b := wordLines(from), wordLines(to)
	at, till := 0, 0
	for _, edit := range edits(a, b) {
		same := a[at:edit.Start]
		old = add(add(old, same, false), a[edit.Start:edit.End], true)
		come = add(add(come, same, false), edit.New, true)
		till += len(same) + len(edit.New)
		at = edit.End
	}
	return add(old, a[at:], false), add(come, b[till:], false)
}

// longParts are two long lines: what they begin with and end with, and what differs between.
func longParts(from, to string) (old, come []Part) {
	head := strings.TrimRightFunc(from[:commonPrefix(from, to)], isOfWord)
	from, to = from[len(head):], to[len(head):]
	tail := 0
	for tail < min(len(from), len(to)) && from[len(from)-tail-1] == to[len(to)-tail-1] {
		tail++
	}
	end := strings.TrimLeftFunc(from[len(from)-tail:], isOfWord)
	from, to = from[:len(from)-len(end)], to[:len(to)-len(end)]
	old, come = []Part{{from, true}}, []Part{{to, true}}
	if len(from) <= longLine && len(to) <= longLine {
		old, come = parts(from, to)
	}
	around := func(middle []Part) []Part {
		all := add(nil, head, false)
		for _, p := range middle {
			all = add(all, p.Text, p.Differs)
		}
		return add(all, end, false)
	}
	return around(old), around(come)
}

// isOfWord reports whether a character is within a word, or the rest of one that was cut.
func isOfWord(r rune) bool { return kindOf(r) == letter }

// wordLines puts each word on a line of its own, so that words can be compared as lines are.
// Spaces and marks between words are words here, too. The line itself has no line break that
// could be taken for the end of a word.
func wordLines(line string) string {
	var b strings.Builder
	was := rune(0)
	for i, r := range line {
		if i > 0 && (kindOf(r) != kindOf(was) || kindOf(r) == other) {
			b.WriteByte('\n')
		}
		b.WriteRune(r)
		was = r
	}
	b.WriteByte('\n')
	return b.String()
}

// Kinds of characters.
const (
	letter = iota
	space
	other
)

func kindOf(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return space
	case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r), r == utf8.RuneError:
		return letter
	}
	return other
}

// add adds words to a line's parts.
func add(all []Part, words string, differs bool) []Part {
	text := strings.ReplaceAll(words, "\n", "")
	if text == "" {
		return all
	}
	if n := len(all); n > 0 && all[n-1].Differs == differs {
		all[n-1].Text += text
		return all
	}
	return append(all, Part{text, differs})
}

// splitLines are the lines of a text without their ends.
func splitLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines
}
