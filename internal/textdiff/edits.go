package textdiff

import (
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

const (
	// exact is how many lines udiff finds to differ at most. If more do, it takes all lines between
	// the first and the last ones that it has found for replaced, those that did not change too.
	exact = 100
	// deepest is how often a part of the texts is divided again.
	deepest = 16
)

// edits returns the lines in which two texts differ, as replacements in the first one, in its
// order. No two of them touch.
func edits(from, to string) []udiff.Edit {
	found := udiff.Lines(from, to)
	if changed(from, found) <= exact {
		return found
	}
	d := newDivided(from, to)
	d.between(span{0, len(d.from.ids)}, span{0, len(d.to.ids)}, deepest)
	if changed(from, d.edits) < changed(from, found) {
		return d.edits
	}
	return found
}

// changed counts the lines that go and come.
func changed(from string, edits []udiff.Edit) (n int) {
	for _, e := range edits {
		n += countLines(from[e.Start:e.End]) + countLines(e.New)
	}
	return n
}

// divided are two texts that are compared part by part, as patience diff does: a line that each
// of two parts has once is the same line, if others do not contradict, and divides them.
type divided struct {
	from, to numbered
	// seen counts a line in both texts, within the parts that are looked at; at is its place in
	// the second.
	seen  []sides
	edits []udiff.Edit
}

type sides struct{ from, to, at int32 }

// numbered is a text with a number for each line; equal lines have the same.
type numbered struct {
	text   string
	ids    []int32
	starts []int // of the lines, and the end of the text
}

// span is a part of a text, in lines.
type span struct{ from, to int }

func (s span) empty() bool { return s.from == s.to }

func (n numbered) part(s span) string { return n.text[n.starts[s.from]:n.starts[s.to]] }

func newDivided(from, to string) *divided {
	known := map[string]int32{}
	number := func(text string) numbered {
		n := numbered{text: text, starts: []int{0}}
		for line := range strings.Lines(text) {
			id, ok := known[line]
			if !ok {
				id = int32(len(known))
				known[line] = id
			}
			n.ids, n.starts = append(n.ids, id), append(n.starts, n.starts[len(n.starts)-1]+len(line))
		}
		return n
	}
	d := &divided{from: number(from), to: number(to)}
	d.seen = make([]sides, len(known))
	return d
}

// between compares a part of each text.
func (d *divided) between(a, b span, depth int) {
	for !a.empty() && !b.empty() && d.from.ids[a.from] == d.to.ids[b.from] {
		a.from, b.from = a.from+1, b.from+1
	}
	for !a.empty() && !b.empty() && d.from.ids[a.to-1] == d.to.ids[b.to-1] {
		a.to, b.to = a.to-1, b.to-1
	}
	if a.empty() && b.empty() {
		return
	}
	var common []pair
	if depth > 0 {
		common = d.common(a, b)
	}
	if len(common) == 0 {
		d.search(a, b)
		return
	}
	for _, p := range common {
		d.between(span{a.from, p.from}, span{b.from, p.to}, depth-1)
		a.from, b.from = p.from+1, p.to+1
	}
	d.between(a, b, depth-1)
}

// search compares parts without lines that divide them.
func (d *divided) search(a, b span) {
	at := d.from.starts[a.from]
	for _, e := range udiff.Lines(d.from.part(a), d.to.part(b)) {
		d.edits = append(d.edits, udiff.Edit{Start: at + e.Start, End: at + e.End, New: e.New})
	}
}

// pair is a line of both texts, by its numbers in them.
type pair struct{ from, to int }

// common returns the lines that each part has once, as many of them as stand in the same order.
func (d *divided) common(a, b span) []pair {
	for _, id := range d.from.ids[a.from:a.to] {
		d.seen[id].from++
	}
	for i, id := range d.to.ids[b.from:b.to] {
		d.seen[id].to++
		d.seen[id].at = int32(b.from + i)
	}
	var once []pair
	for i, id := range d.from.ids[a.from:a.to] {
		if s := d.seen[id]; s.from == 1 && s.to == 1 {
			once = append(once, pair{a.from + i, int(s.at)})
		}
	}
	for _, id := range d.from.ids[a.from:a.to] {
		d.seen[id] = sides{}
	}
	for _, id := range d.to.ids[b.from:b.to] {
		d.seen[id] = sides{}
	}
	return rising(once)
}

// rising returns the longest part of pairs in which the second numbers rise, too.
func rising(pairs []pair) []pair {
	var ends []int // of the part of each length with the least end
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(ends, p.to, func(end, to int) int { return pairs[end].to - to })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	longest := make([]pair, len(ends))
	at := -1
	if len(ends) > 0 {
		at = ends[len(ends)-1]
	}
	for n := len(ends) - 1; n >= 0; n-- {
		longest[n] = pairs[at]
		at = before[at]
	}
	return longest
}
