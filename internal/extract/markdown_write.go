package extract

import (
	"bytes"
	"strings"
	"unicode"
)

// markdownWriter makes Markdown of elements and texts in the order of the document.
type markdownWriter struct {
	blockWriter
	inlines  inlines
	renderer renderer
	urls     *addresses
	frames   []frame

	style   *style
	code    int // open <code> and the like
	oneLine int // open headings and terms
	level   int // of the open heading
	anchor  string
	last    string // the last id, if no text came since
	list    *list
	table   *cellTable
	terms   int // of the open <dl>
	// verbatim counts open <pre> and the like.
	verbatim int
	source   []byte // its contents
	language string

	headings []Heading
}

// frame is an open element, with its effects.
type frame struct {
	name       string
	style      *style
	list       *list
	terms      int
	containers int
	does       effect
}

// effect is something that ends with an element.
type effect uint8

const (
	endsStyle effect = iota
	endsCode
	endsFormula
	endsSource
	endsHeading
	endsTerm
	endsTable
	endsRow
	endsCell
	endsHead
	endsBlock
)

// newMarkdownWriter makes a writer of at most limit bytes, and of at most budget bytes other
// than the page's text.
func newMarkdownWriter(urls *addresses, limit, budget int) *markdownWriter {
	w := &markdownWriter{blockWriter: newBlockWriter(limit), urls: urls}
	w.budget = budget
	w.renderer.budget = &w.budget
	return w
}

// add takes in a text.
func (w *markdownWriter) add(text string) {
	if w.verbatim > 0 {
		w.addSource(text)
		return
	}
	kind := runText
	if w.code > 0 {
		kind = runCode
	}
	n := len(w.inlines.text)
	w.inlines.add(text, w.style, kind)
	if len(w.inlines.text) > n+1 {
		w.last = ""
	}
}

// addSource takes in text whose lines and spaces stay.
func (w *markdownWriter) addSource(text string) {
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t':
			w.source = append(w.source, byte(r))
		case isInvisible(r) || unicode.IsControl(r):
		case unicode.IsSpace(r):
			w.source = append(w.source, ' ')
		default:
			w.source = append(w.source, string(r)...)
		}
	}
}

// addMarkdown takes in text that is already Markdown.
func (w *markdownWriter) addMarkdown(text string) {
	from := len(w.inlines.text)
	w.inlines.text = append(w.inlines.text, text...)
	w.inlines.note(from, w.style, runMarkdown)
}

// space ends a word.
func (w *markdownWriter) space() {
	if w.verbatim > 0 {
		if n := len(w.source); n > 0 && w.source[n-1] > ' ' {
			w.source = append(w.source, ' ')
		}
		return
	}
	w.add(" ")
}

// separate ends a word where a line of the text ends within a block of Markdown.
func (w *markdownWriter) separate() {
	if n := len(w.inlines.runs); w.verbatim > 0 || n > 0 && w.inlines.runs[n-1].kind != runBreak {
		w.space()
	}
}

// breakLine ends a line of a block; two in a row end the block.
func (w *markdownWriter) breakLine() {
	switch runs := w.inlines.runs; {
	case w.verbatim > 0:
		w.source = append(w.source, '\n')
	case w.oneLine > 0:
		w.space()
	case len(runs) > 0 && runs[len(runs)-1].kind == runBreak:
		w.endBlock()
	case len(runs) > 0:
		w.inlines.note(len(w.inlines.text), w.style, runBreak)
	}
}

// endBlock ends a block of text, or, where there can be only one line, a word.
func (w *markdownWriter) endBlock() {
	switch {
	case w.verbatim > 0:
		if n := len(w.source); n > 0 && w.source[n-1] != '\n' {
			w.source = append(w.source, '\n')
		}
	case w.oneLine > 0:
		w.space()
	default:
		w.flush(blockParagraph)
	}
}

// flush writes the gathered text as a block.
func (w *markdownWriter) flush(kind blockKind) {
	if len(w.inlines.runs) == 0 {
		w.inlines.reset()
		return
	}
	where := inParagraph
	switch {
	case w.inCell():
		where = inCell
	case kind != blockParagraph:
		where = inHeading
	}
	text := w.renderer.render(&w.inlines, where)
	w.inlines.reset()
	if len(text) > 0 {
		w.put(kind, text)
	}
}

// inCell reports whether text goes into the open cell of a table.
func (w *markdownWriter) inCell() bool { return w.table != nil && !w.table.layout && w.table.inCell }

// put writes a block where it belongs.
func (w *markdownWriter) put(kind blockKind, text []byte) {
	if !w.inCell() {
		w.block(kind, text)
		return
	}
	first := ""
	for i := w.table.base; i < len(w.containers); i++ {
		if c := &w.containers[i]; !c.begun {
			c.begun = true
			if c.kind == containerItem && w.afford(len(c.first)) {
				first += c.first
			}
		}
	}
	w.table.add(first, text)
}

// endHeading writes the open heading.
func (w *markdownWriter) endHeading() {
	text := w.renderer.render(&w.inlines, inHeading)
	plain := plainText(&w.inlines)
	w.inlines.reset()
	if len(text) == 0 {
		return
	}
	line := append([]byte(strings.Repeat("#", w.level)+" "), text...)
	if n := len(line); line[n-1] == '#' {
		line = append(line[:n-1], '\\', '#')
	}
	w.put(blockHeading, line)
	if len(w.containers) == 1 && !w.full {
		w.headings = append(w.headings, Heading{Level: w.level, Text: plain, Anchor: w.anchor, Offset: w.at})
	}
}

// plainText returns the text of a block without marks.
func plainText(in *inlines) string {
	var b strings.Builder
	for _, run := range in.runs {
		if run.kind != runMarkdown {
			b.Write(in.text[run.from:run.to])
		}
	}
	return collapse(b.String())
}

// endSource writes the contents of a <pre>.
func (w *markdownWriter) endSource() {
	text := bytes.TrimRightFunc(w.source, unicode.IsSpace)
	for {
		line, rest, more := bytes.Cut(text, []byte{'\n'})
		if !more || len(bytes.TrimSpace(line)) > 0 {
			break
		}
		text = rest
	}
	language := w.language
	w.source, w.language = nil, ""
	switch {
	case len(text) == 0:
	case w.inCell() || w.oneLine > 0:
		for line := range bytes.Lines(text) {
			w.addLine(line)
			w.breakLine()
		}
		w.endBlock()
	default:
		fence := fenceFor(text)
		if !w.afford(len(language)) {
			language = ""
		}
		w.block(blockCode, bytes.Join([][]byte{[]byte(fence + language), text, []byte(fence)}, []byte{'\n'}))
	}
}

// addLine takes in a line of code in a cell. Its spaces stay if it has a line of its own there.
func (w *markdownWriter) addLine(line []byte) {
	line = bytes.TrimRight(line, "\n\t ")
	tabs := bytes.Count(line, []byte{'\t'})
	if w.oneLine > 0 || len(line) == 0 || !w.afford(len(line)-len(bytes.TrimLeft(line, "\t "))+3*tabs) {
		w.inlines.add(string(line), w.style, runCode)
		return
	}
	from := len(w.inlines.text)
	w.inlines.text = append(w.inlines.text, bytes.ReplaceAll(line, []byte{'\t'}, []byte("    "))...)
	w.inlines.note(from, w.style, runSource)
}

// fenceFor returns a fence for a text: longer than any in it.
func fenceFor(text []byte) string {
	ticks, tildes := longestRun(text, '`'), longestRun(text, '~')
	if ticks > 2 && tildes < ticks {
		return strings.Repeat("~", max(3, tildes+1))
	}
	return strings.Repeat("`", max(3, ticks+1))
}

// marksOf are the marks of elements.
var marksOf = map[string]mark{
	"b": markStrong, "strong": markStrong, "summary": markStrong,
	"i": markEmphasis, "em": markEmphasis, "cite": markEmphasis, "dfn": markEmphasis, "var": markEmphasis,
	"s": markStrike, "strike": markStrike, "del": markStrike,
}
