// Package textdiff compares texts line by line.
package textdiff

import (
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

// context is how many lines around a difference Unified shows.
const context = 3

// Unified is a unified diff of two texts, "" if they are equal.
func Unified(fromLabel, toLabel, from, to string) (string, error) {
	return udiff.ToUnified(fromLabel, toLabel, from, udiff.Lines(from, to), context)
}

// Lines returns the lines that only one of two texts has, in their order and without their
// ends: those that Unified marks with - and +.
func Lines(from, to string) (removed, added []string) {
	for _, edit := range udiff.Lines(from, to) {
		removed = append(removed, splitLines(from[edit.Start:edit.End])...)
		added = append(added, splitLines(edit.New)...)
	}
	return removed, added
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
