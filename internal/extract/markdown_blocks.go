package extract

import (
	"bytes"
	"strings"
)

// blockKind is the kind of a block of Markdown.
type blockKind uint8

const (
	blockNone blockKind = iota
	blockParagraph
	blockHeading
	blockTerm // of a definition
	blockCode
	blockTable
	blockRule
	blockContainer // a list, a quote, a definition
)

// container holds blocks and adds a prefix to each of their lines.
type container struct {
	kind        containerKind
	first, rest string // the prefixes of its first line and of the others
	begun       bool   // a part of it is written
	last        blockKind
	blocks      int
	// marker is the last block's marker if that is a list: the next list must have another.
	marker byte
	list   *list // of an item
}

type containerKind uint8

const (
	containerRoot containerKind = iota
	containerQuote
	containerItem
	containerDefinition
	containerNote
)

// list is an open list.
type list struct {
	ordered bool
	number  int // of the last item
	marker  byte
	items   int       // written
	loose   bool      // an item has paragraphs, so that empty lines stand between all
	layout  bool      // it only arranges: its items are blocks like others
	item    container // the last one
}

// maxContainers bounds how deeply quotes and lists are nested in one another.
const maxContainers = 16

// blockWriter writes blocks of Markdown, each with an empty line before it where needed,
// within limits.
type blockWriter struct {
	out        []byte
	limit      int // of bytes
	budget     int // for everything but the page's text: marks, addresses, indents
	containers []container
	at         int  // where the last block begins
	bare       bool // the budget is used up: containers are no longer written
	full       bool // the limit is reached: the rest is left out
	ruled      bool // a rule comes before the next block
}

func newBlockWriter(limit int) blockWriter {
	return blockWriter{limit: limit, containers: []container{{begun: true}}}
}

// inner is the innermost container.
func (w *blockWriter) inner() *container { return &w.containers[len(w.containers)-1] }

// enter opens a container; leaving it is cutting w.containers.
func (w *blockWriter) enter(c container) {
	if len(w.containers) <= maxContainers {
		w.containers = append(w.containers, c)
	}
}

// afford takes bytes out of the budget, if there are enough.
func (w *blockWriter) afford(n int) bool {
	if n > w.budget {
		return false
	}
	w.budget -= n
	return true
}

// block writes a block of one or more lines.
func (w *blockWriter) block(kind blockKind, text []byte) {
	if len(text) == 0 || w.full {
		return
	}
	if w.ruled {
		if w.ruled = false; len(w.containers) == 1 || !w.containers[1].begun {
			w.write(blockRule, []byte("---"), w.containers[:1])
		}
	}
	w.write(kind, text, w.containers)
}

// rule asks for a rule, which is only written between blocks outside of all containers.
func (w *blockWriter) rule() { w.ruled = len(w.containers) == 1 && len(w.out) > 0 }

func (w *blockWriter) write(kind blockKind, text []byte, containers []container) {
	indent := 0
	for _, c := range containers {
		indent += max(len(c.first), len(c.rest))
	}
	lines := 1 + bytes.Count(text, []byte{'\n'})
	if !w.bare && !w.afford(lines*indent) {
		w.bare = true
	}
	if w.bare {
		indent = 0
	}
	if len(w.out)+len(text)+(lines+1)*indent+2 > w.limit {
		w.full = true
		return
	}
	begun := 1
	for begun < len(containers) && containers[begun].begun {
		begun++
	}
	if !w.isTight(kind, containers, begun) {
		w.prefix(containers[:begun], "", true)
		w.out = append(w.out, '\n')
		w.loosen(containers, begun)
	}
	w.begin(kind, containers, begun)
	w.at = len(w.out)
	first := w.firsts(containers[begun:])
	for line := range bytes.Lines(text) {
		if first != "" {
			w.prefix(containers[:begun], first, false)
			first = ""
		} else {
			w.prefix(containers, "", len(bytes.TrimSpace(line)) == 0)
		}
		w.out = append(w.out, line...)
	}
	w.out = append(w.out, '\n')
}

// firsts returns the prefixes of the first lines of containers.
func (w *blockWriter) firsts(begin []container) string {
	var b strings.Builder
	for _, c := range begin {
		b.WriteString(c.first)
	}
	return b.String()
}

// prefix writes a line's prefix. That of an empty line has no space at its end.
func (w *blockWriter) prefix(containers []container, first string, empty bool) {
	if w.bare {
		return
	}
	start := len(w.out)
	for _, c := range containers {
		w.out = append(w.out, c.rest...)
	}
	w.out = append(w.out, first...)
	if empty {
		w.out = w.out[:start+len(bytes.TrimRight(w.out[start:], " "))]
	}
}

// isTight reports whether a block needs no empty line before it. The containers from begin
// on start with it.
func (w *blockWriter) isTight(kind blockKind, containers []container, begun int) bool {
	at := &containers[begun-1]
	if at.blocks == 0 {
		return true
	}
	if w.bare {
		return false
	}
	if begun == len(containers) {
		return kind == blockTerm && at.last == blockTerm
	}
	switch c := &containers[begun]; c.kind {
	case containerItem:
		if c.list.items > 0 {
			return !c.list.loose && at.marker == c.list.marker
		}
		// Only an ordered list from 1 on may follow a paragraph at once.
		return at.kind == containerItem && at.last == blockParagraph && (!c.list.ordered || c.list.number == 1)
	case containerDefinition:
		return at.last == blockTerm
	}
	return false
}

// loosen notes an empty line between the blocks of an item.
func (w *blockWriter) loosen(containers []container, begun int) {
	at := &containers[begun-1]
	if begun < len(containers) && containers[begun].kind == containerItem && containers[begun].list.items > 0 {
		return // it is between the items of an inner list
	}
	if at.kind == containerItem {
		at.list.loose = true
	}
}

// begin notes that a block is written, and the containers that begin with it.
func (w *blockWriter) begin(kind blockKind, containers []container, begun int) {
	for i := range containers[begun:] {
		c, outer := &containers[begun+i], &containers[begun+i-1]
		c.begun = true
		outer.last, outer.marker = blockContainer, 0
		outer.blocks++
		if c.list != nil {
			c.list.items++
			outer.marker = c.list.marker
		}
	}
	inner := &containers[len(containers)-1]
	inner.last, inner.marker = kind, 0
	inner.blocks++
}
