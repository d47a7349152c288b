// Package textdiff compares texts line by line.
package textdiff

import (
	"strings"
	"unicode/utf8"
)

// Hunk is some lines that were replaced by others, or removed, or added.
type Hunk struct{ Removed, Added []string }

// Hunks returns the lines that only one of two texts has, in their order and without their ends:
// those that Unified marks with - and +.
func Hunks(from, to string) []Hunk {
	var hunks []Hunk
	for _, edit := range edits(from, to) {
		hunks = append(hunks, Hunk{splitLines(from[edit.Start:edit.End]), splitLines(edit.New)})
	}
	return hunks
}

// Lines returns the lines of Hunks.
func Lines(from, to string) (removed, added []string) {
	for _, h := range Hunks(from, to) {
		removed, added = append(removed, h.Removed...), append(added, h.Added...)
	}
	return removed, added
}

// Near cuts two lines that replace each other to most bytes each, near their first difference: the
// beginning of a paragraph or of some code says nothing of an edit further on.
func Near(from, to string, most int) (string, string) {
	if len(from) <= most && len(to) <= most {
		return from, to
	}
	same := commonPrefix(from, to)
	at := same - most/4 // some of what both have
	if at <= 0 {
		return from, to
	}
	for at < same && !utf8.RuneStart(from[at]) {
		at++
	}
	const word = 40 // bytes in which one ends, except in scripts without spaces
	if space := strings.IndexByte(from[at:min(at+word, same)], ' '); space >= 0 {
		at += space + 1
	}
	return "…" + from[at:], "…" + to[at:]
}

// commonPrefix is the length of what two texts begin with, in whole characters.
func commonPrefix(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for i > 0 && (i < len(a) && !utf8.RuneStart(a[i]) || i < len(b) && !utf8.RuneStart(b[i])) {
		i--
	}
	return i
}

// Words counts the words of lines that were added, and of lines that were removed, which the
// others do not have: an edited sentence counts by the words that are not the same. Words are
// what white space separates; a word that moved counts as neither.
func Words(removed, added []string) (gone, came int) {
	balance := map[string]int{}
	for _, line := range added {
		for word := range strings.FieldsSeq(line) {
			balance[word]++
		}
	}
	for _, line := range removed {
		for word := range strings.FieldsSeq(line) {
			balance[word]--
		}
	}
	for _, n := range balance {
		came += max(n, 0)
		gone += max(-n, 0)
	}
	return gone, came
}

// countLines counts the lines of a text; the last one may have no end.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
