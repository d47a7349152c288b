package extract

import (
	"strings"

	"golang.org/x/net/html"
)

// beside gathers what a reader sees in the main text and its words do not say. Where the texts
// of two pages are equal, so are the places in them.
type beside struct {
	sum  uint64
	seen int // texts and pictures

	rows  []int  // where the cells of the open rows begin
	cells []byte // '1' for a cell with something in it, '0' for one without
	fills []int  // seen at the beginning of each open cell

	verbatim      int  // open blocks of code
	begun         bool // the first line of it was seen
	inLine        bool // the line has begun
	indent, first int  // of the line, and of the first
}

// note adds an observation, by FNV-1a.
func (b *beside) note(kind string, n int) {
	const prime = 1099511628211
	for i := range len(kind) {
		b.sum = (b.sum ^ uint64(kind[i])) * prime
	}
	b.sum = (b.sum ^ uint64(n) ^ 1<<63) * prime
}

var (
	struck   = set("del s strike")
	pictures = set("img svg input canvas object video audio meter progress")
)

// start takes in an element that begins where the text has so many bytes.
func (b *beside) start(n *html.Node, at int) {
	switch {
	case n.Data == "tr":
		b.rows = append(b.rows, len(b.cells))
	case n.Data == "td", n.Data == "th":
		b.fills = append(b.fills, b.seen)
	case isVerbatim(n):
		b.verbatim++
		b.begun, b.inLine, b.indent = false, false, 0
	case struck[n.Data]:
		b.note("struck", at)
	case pictures[n.Data]:
		b.seen++
	case n.Data == "a":
		b.address(n)
	}
}

// address notes where a link leads that is a mail's address or a telephone's number.
func (b *beside) address(n *html.Node) {
	href, _ := attribute(n.Attr, "href")
	if scheme, address, ok := strings.Cut(strings.TrimSpace(href), ":"); ok && (strings.EqualFold(scheme, "mailto") || strings.EqualFold(scheme, "tel")) {
		if address, _, _ = strings.Cut(address, "?"); address != "" {
			b.note(strings.ToLower(address), 0)
		}
	}
}

// end takes in the end of an element.
func (b *beside) end(n *html.Node, at int) {
	switch {
	case n.Data == "tr":
		row := b.cells[b.rows[len(b.rows)-1]:]
		if cells := string(row); strings.Contains(cells, "0") && strings.Contains(cells, "1") {
			b.note("row "+cells, 0)
		}
		b.cells = b.cells[:len(b.cells)-len(row)]
		b.rows = b.rows[:len(b.rows)-1]
	case n.Data == "td", n.Data == "th":
		filled := byte('0')
		if b.seen > b.fills[len(b.fills)-1] {
			filled = '1'
		}
		b.fills = b.fills[:len(b.fills)-1]
		if len(b.rows) > 0 {
			b.cells = append(b.cells, filled)
		}
	case isVerbatim(n):
		b.verbatim--
	case struck[n.Data]:
		b.note("struck", at)
	}
}

// text takes in a text.
func (b *beside) text(text string) {
	if strings.TrimSpace(text) != "" {
		b.seen++
	}
	if b.verbatim == 0 {
		return
	}
	const tab = 1 << 16 // unlike any number of spaces
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n':
			b.inLine, b.indent = false, 0
		case b.inLine, c == '\r':
		case c == ' ':
			b.indent++
		case c == '\t':
			b.indent += tab
		default:
			b.line()
		}
	}
}

// line notes by how much a line of code is indented, beside the first one.
func (b *beside) line() {
	b.inLine = true
	if !b.begun {
		b.begun, b.first = true, b.indent
		return
	}
	b.note("line", b.indent-b.first)
}
