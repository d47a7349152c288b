package textdiff

import (
	"fmt"
	"slices"
	"strings"
)

// context is how many lines around a difference Unified shows.
const context = 3

// Unified is a unified diff of two texts, "" if they are equal.
func Unified(fromLabel, toLabel, from, to string) string {
	all := edits(from, to)
	if len(all) == 0 {
		return ""
	}
	u := unified{lines: slices.Collect(strings.Lines(from))}
	fmt.Fprintf(&u.out, "--- %s\n+++ %s\n", fromLabel, toLabel)
	at, line := 0, 0 // where the last difference ends
	for _, e := range all {
		start := line + countLines(from[at:e.Start])
		u.between(line, start)
		at, line = e.End, start+countLines(from[e.Start:e.End])
		for _, gone := range u.lines[start:line] {
			u.write('-', gone)
		}
		for came := range strings.Lines(e.New) {
			u.write('+', came)
		}
	}
	u.same(line, min(line+context, len(u.lines)))
	u.endHunk()
	return u.out.String()
}

// unified is a unified diff that is being written.
type unified struct {
	out   strings.Builder
	lines []string // of the first text
	// The hunk that is being written: its lines, and how many each text has of them.
	hunk     strings.Builder
	from, to int
	// fromAt and toAt are the numbers of the lines before the hunk.
	fromAt, toAt int
}

// between takes in the equal lines before a difference, from one number up to another. Many of them
// end the hunk of the difference before.
func (u *unified) between(from, to int) {
	if u.hunk.Len() > 0 {
		if to-from <= 2*context {
			u.same(from, to)
			return
		}
		u.same(from, from+context)
		u.endHunk()
		from += context
	}
	begin := max(from, to-context)
	u.fromAt, u.toAt = u.fromAt+begin-from, u.toAt+begin-from
	u.same(begin, to)
}

func (u *unified) same(from, to int) {
	for _, line := range u.lines[from:to] {
		u.write(' ', line)
	}
}

func (u *unified) write(sign byte, line string) {
	u.hunk.WriteByte(sign)
	u.hunk.WriteString(line)
	if !strings.HasSuffix(line, "\n") {
		u.hunk.WriteString("\n\\ No newline at end of file\n")
	}
	if sign != '+' {
		u.from++
	}
	if sign != '-' {
		u.to++
	}
}

// endHunk writes the hunk, if there is one.
func (u *unified) endHunk() {
	if u.hunk.Len() == 0 {
		return
	}
	fmt.Fprintf(&u.out, "@@ -%s +%s @@\n%s", place(u.fromAt, u.from), place(u.toAt, u.to), u.hunk.String())
	u.fromAt, u.toAt = u.fromAt+u.from, u.toAt+u.to
	u.hunk.Reset()
	u.from, u.to = 0, 0
}

// place writes where the lines of a hunk stand, by how many are before them and how many they are.
func place(before, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", before)
	case 1:
		return fmt.Sprint(before + 1)
	}
	return fmt.Sprintf("%d,%d", before+1, n)
}
