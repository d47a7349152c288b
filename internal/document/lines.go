package document

import "strings"

// span is a part of a Markdown text, in bytes.
type span struct{ from, to int }

// line is a line of a Markdown text with its meaning for cutting.
type line struct {
	span
	// code: the line is of a fenced block of code; opens: it is its first.
	code, opens bool
	// blank: it is empty, or holds only marks of quotes.
	blank bool
	// row: it is a row of a table.
	row bool
	// item: it begins an item of a list, at whatever depth.
	item bool
	// level is the level of the heading on the line, 0 for none. A heading in a quote or in
	// an item of a list does not count.
	level int8
	// indented lines go on with what an item of a list has.
	indented bool
}

// linesOf reads a text line by line. It knows the Markdown that package extract writes, and
// is linear.
func linesOf(text string) []line {
	var all []line
	var f fence
	for from := 0; from < len(text); {
		to := len(text)
		if n := strings.IndexByte(text[from:], '\n'); n >= 0 {
			to = from + n + 1
		}
		l := line{span: span{from, to}}
		whole := strings.TrimRight(text[from:to], "\r\n")
		inner, quoted := withoutQuotes(whole)
		switch {
		case f.open():
			l.code = true
			if f.closes(whole, inner) {
				f = fence{}
			}
		case f.begins(inner, quoted):
			l.code, l.opens, l.item = true, true, isItem(inner)
		default:
			l.blank, l.row, l.item, l.level = inner == "", strings.HasPrefix(inner, "|"), isItem(inner), headingLevel(whole)
		}
		l.indented = whole != "" && (whole[0] == ' ' || whole[0] == '\t')
		all = append(all, l)
		from = to
	}
	return all
}

// withoutQuotes returns a line without indentation and marks of quotes.
func withoutQuotes(text string) (inner string, quoted bool) {
	for {
		text = strings.Trim(text, " \t")
		rest, ok := strings.CutPrefix(text, ">")
		if !ok {
			return text, quoted
		}
		text, quoted = rest, true
	}
}

// itemMark returns what follows the mark of an item of a list.
func itemMark(inner string) (rest string, ok bool) {
	digits := 0
	for digits < len(inner) && digits < 9 && inner[digits] >= '0' && inner[digits] <= '9' {
		digits++
	}
	if digits >= len(inner) {
		return inner, false
	}
	switch c := inner[digits]; {
	case digits > 0 && c != '.' && c != ')', digits == 0 && c != '-' && c != '*' && c != '+':
		return inner, false
	}
	rest = inner[digits+1:]
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return inner, false
	}
	return strings.TrimLeft(rest, " \t"), true
}

func isItem(inner string) bool {
	_, ok := itemMark(inner)
	return ok
}

// headingLevel returns the level of the heading on a line, 0 if there is none.
func headingLevel(whole string) int8 {
	n := runOf(whole, '#')
	if n == 0 || n > 6 || n < len(whole) && whole[n] != ' ' {
		return 0
	}
	return int8(n)
}

// fence is the mark by which the open block of code began, if one is open.
type fence struct {
	mark   byte
	length int
	quoted bool
}

func (f fence) open() bool { return f.length > 0 }

// begins opens a block of code if a line is its first. Several lists may begin on it.
func (f *fence) begins(inner string, quoted bool) bool {
	for {
		rest, ok := itemMark(inner)
		if !ok {
			break
		}
		inner = rest
	}
	n := runOf(inner, '`')
	mark := byte('`')
	if n < 3 {
		if n, mark = runOf(inner, '~'), '~'; n < 3 {
			return false
		}
	}
	if mark == '`' && strings.IndexByte(inner[n:], '`') >= 0 { // code within a line
		return false
	}
	*f = fence{mark: mark, length: n, quoted: quoted}
	return true
}

// closes: the line is the last of the block of code.
func (f fence) closes(whole, inner string) bool {
	if !f.quoted {
		inner = strings.Trim(whole, " \t")
	}
	n := runOf(inner, f.mark)
	return n >= f.length && n == len(inner)
}

// runOf counts how often a text begins with a byte.
func runOf(text string, c byte) (n int) {
	for n < len(text) && text[n] == c {
		n++
	}
	return n
}
