package document

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"recrawl/internal/extract"
)

const (
	// MaxChunk is the largest number of characters of a chunk. Only a block of code, a row
	// of a table or code within a line that is longer by itself makes a longer one, since
	// these are never cut.
	MaxChunk = 2000
	// maxLead is the largest number of characters of a table's head that is repeated if the
	// table goes on in another chunk.
	maxLead = MaxChunk / 4
	// maxSections bounds the sections into which headings cut a document. One with more,
	// whose chunks would hold more headings than text, is cut by length alone.
	maxSections = 5000
	// maxHeading is the largest number of characters of a heading in the list of a chunk.
	maxHeading = 200
)

// Chunks cuts a document at its headings, and sections longer than MaxChunk between their
// blocks, else between items of lists and rows of tables, else between sentences, words and
// at last characters. A heading without text of its own goes with the heading below it. The
// chunks together hold the whole document.
func (d Document) Chunks() []Chunk {
	var chunks []Chunk
	ordinals, reserved := map[string]int{}, statementsOf(d.Reserved)
	sections := d.sections()
	if len(sections) > maxSections {
		sections = []section{{headings: []string{}, lines: linesOf(d.Markdown)}}
	}
	for _, s := range sections {
		c := cutter{text: d.Markdown}
		c.section(s.lines)
		for _, p := range c.done {
			text := p.text(d.Markdown)
			if text == "" {
				continue
			}
			path := strings.Join(s.headings, "\x00")
			ordinals[path]++
			chunk := Chunk{URL: d.URL, Anchor: s.anchor, Headings: s.headings, Ordinal: ordinals[path], Text: text, SHA256: hexSum(text), Reserved: reserved}
			chunk.ID = hexSum(fmt.Sprintf("%s\x00\x00%s\x00\x00%d", d.URL, path, chunk.Ordinal))[:32]
			chunks = append(chunks, chunk)
		}
	}
	return chunks
}

func hexSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// section is a heading with the text below it, up to the next one.
type section struct {
	headings []string // from the outermost on
	anchor   string
	lines    []line
}

// sections cuts the document at its headings.
func (d Document) sections() []section {
	known := map[int]extract.Heading{}
	for _, h := range d.Headings {
		known[h.Offset] = h
	}
	now := section{headings: []string{}}
	var all []section
	var levels []int8
	own := false // there is text besides headings
	for _, l := range linesOf(d.Markdown) {
		if l.level > 0 {
			// A heading without text of its own goes with one below it.
			if deeper := len(levels) == 0 || l.level > levels[len(levels)-1]; len(now.lines) > 0 && (own || !deeper) {
				all = append(all, now)
				now.lines, own = nil, false
			}
			path := now.headings
			for len(levels) > 0 && levels[len(levels)-1] >= l.level {
				levels, path = levels[:len(levels)-1], path[:len(path)-1]
			}
			h, ok := known[l.from]
			if !ok {
				h.Text = plainHeading(d.Markdown[l.from+int(l.level) : l.to])
			}
			levels = append(levels, l.level)
			now.headings, now.anchor = append(path[:len(path):len(path)], clipped(h.Text)), h.Anchor
		}
		own = own || l.level == 0 && !l.blank
		now.lines = append(now.lines, l)
	}
	if len(now.lines) > 0 {
		all = append(all, now)
	}
	return all
}

// plainHeading returns a heading's Markdown without escapes.
func plainHeading(text string) string {
	var b strings.Builder
	text = strings.TrimSpace(text)
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && isPunctuation(text[i+1]) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// clipped returns a heading for the list of a chunk.
func clipped(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxHeading {
			return text[:i]
		}
	}
	return text
}

func isPunctuation(c byte) bool {
	return c > ' ' && c < 0x7f && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
}

// piece is a future chunk: a part of the text, after the head of the table that goes on in
// it, if any.
type piece struct {
	lead string
	span
}

// text returns a piece's text: without empty lines around it, and without the indentation
// that all of its lines have.
func (p piece) text(whole string) string {
	text := strings.TrimRight(whole[p.from:p.to], " \t\r\n")
	for {
		first, rest, more := strings.Cut(text, "\n")
		if strings.TrimSpace(first) != "" || !more {
			break
		}
		text = rest
	}
	return dedent(p.lead + text)
}

// dedent removes the spaces that all lines begin with.
func dedent(text string) string {
	common := -1
	for l := range strings.Lines(text) {
		if strings.TrimSpace(l) == "" {
			continue
		}
		n := runOf(l, ' ')
		if common < 0 || n < common {
			common = n
		}
		if common == 0 {
			return text
		}
	}
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString(l[min(common, runOf(l, ' ')):])
	}
	return b.String()
}

// cutter fills chunks with parts of a section, in their order.
type cutter struct {
	text string
	done []piece
	now  piece
	size int // characters of now
	// bare: now holds only headings.
	bare bool
}

// part is something to be added to a chunk.
type part struct {
	span
	lines []line // that it holds
	// head is the head of the table of which the part is a row; "" if it is no row, or is
	// the head.
	head string
}

// The levels at which a text is cut, from the strongest on.
const (
	byBlock = iota
	byItem
	byLine
	bySentence
	byWord
	byCharacter
	never
)

func (c *cutter) section(lines []line) {
	c.bare = true
	c.add(partOf(lines), byBlock)
	c.flush()
}

func partOf(lines []line) part {
	return part{span: span{lines[0].from, lines[len(lines)-1].to}, lines: lines}
}

// add adds a part to the chunk that is being filled, or begins another with it. One that is
// too long, or would leave a heading alone, is added in parts.
func (c *cutter) add(p part, level int) {
	size := utf8.RuneCountInString(strings.TrimRight(c.text[p.from:p.to], " \t\r\n"))
	switch {
	case c.size+size <= MaxChunk:
	case c.bare || size > MaxChunk:
		if parts, next := c.parts(p, level); len(parts) > 0 {
			for _, q := range parts {
				c.add(q, next)
			}
			return
		}
		c.flush()
	default:
		c.flush()
	}
	c.take(p, size)
}

func (c *cutter) take(p part, size int) {
	if c.size == 0 {
		c.now = piece{span: span{p.from, p.from}}
		if n := utf8.RuneCountInString(p.head); n <= maxLead && n+size <= MaxChunk {
			c.now.lead, c.size = p.head, n
		}
	}
	c.now.to = p.to
	c.size += utf8.RuneCountInString(c.text[p.from:p.to])
	for _, l := range p.lines {
		c.bare = c.bare && (l.level > 0 || l.blank)
	}
}

func (c *cutter) flush() {
	if c.size > 0 {
		c.done = append(c.done, c.now)
	}
	c.now, c.size, c.bare = piece{}, 0, true
}

// parts cuts a part at the strongest level that divides it.
func (c *cutter) parts(p part, level int) (parts []part, next int) {
	for ; level < never; level++ {
		if level <= byLine {
			parts = c.groups(p, level)
		} else {
			parts = c.pieces(p, level)
		}
		if len(parts) > 1 {
			return parts, level + 1
		}
	}
	return nil, never
}

// groups returns the groups of lines of a part that stay together.
func (c *cutter) groups(p part, level int) []part {
	var all []part
	from, head := 0, ""
	for i := 1; i <= len(p.lines); i++ {
		if i < len(p.lines) && !startsGroup(p.lines[i-1], p.lines[i], level) {
			continue
		}
		lines := p.lines[from:i]
		if level == byLine && lines[0].row && (from == 0 || !p.lines[from-1].row) {
			// The head of a table is two lines.
			if i < len(p.lines) && i == from+1 && p.lines[i].row {
				continue
			}
			head = c.text[lines[0].from:lines[len(lines)-1].to]
			all = append(all, partOf(lines))
		} else {
			q := partOf(lines)
			if level == byLine && lines[0].row {
				q.head = head
			}
			all = append(all, q)
		}
		from = i
	}
	return all
}

// startsGroup reports whether a text may be cut between two lines.
func startsGroup(before, l line, level int) bool {
	if l.code && !l.opens {
		return false
	}
	after := before.blank || before.level > 0
	switch level {
	case byBlock:
		return after && !l.blank && !l.indented
	case byItem:
		return !l.blank && (after || l.item)
	}
	return true
}

// pieces returns the parts of a line. Code and rows of tables have none.
func (c *cutter) pieces(p part, level int) []part {
	if len(p.lines) != 1 || p.lines[0].code || p.lines[0].row {
		return nil
	}
	var all []part
	from := p.from
	for _, to := range cuts(c.text[p.from:p.to], level) {
		all = append(all, part{span: span{from, p.from + to}, lines: p.lines})
		from = p.from + to
	}
	if from < p.to {
		all = append(all, part{span: span{from, p.to}, lines: p.lines})
	}
	return all
}
