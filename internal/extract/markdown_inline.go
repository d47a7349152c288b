package extract

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark is the kind of mark on a stretch of text.
type mark uint8

const (
	markStrong mark = iota
	markEmphasis
	markStrike
	markLink
)

// delimiters begin and end marks; the one at a link's end is followed by its address.
var delimiters = map[mark]string{markStrong: "**", markEmphasis: "*", markStrike: "~~", markLink: "["}

// style is a mark within others.
type style struct {
	outer *style
	mark  mark
	url   string // of a link
}

// has reports whether a style has a mark. Each has it at most once.
func (s *style) has(m mark) bool {
	for ; s != nil; s = s.outer {
		if s.mark == m {
			return true
		}
	}
	return false
}

// isLike reports whether one mark continues another if nothing stands between: their
// delimiters would touch. Each link is separate.
func (s *style) isLike(other *style) bool { return s.mark == other.mark && s.mark != markLink }

// chain returns the marks of a style, from the outermost on.
func (s *style) chain(buffer []*style) []*style {
	buffer = buffer[:0]
	for ; s != nil; s = s.outer {
		buffer = append(buffer, s)
	}
	for i, j := 0, len(buffer)-1; i < j; i, j = i+1, j-1 {
		buffer[i], buffer[j] = buffer[j], buffer[i]
	}
	return buffer
}

// run is a stretch of a block in one style.
type run struct {
	from, to int // in inlines.text
	style    *style
	kind     runKind
}

type runKind uint8

const (
	runText runKind = iota
	runCode
	runSource   // a line of code, with all its spaces
	runMarkdown // written already: a picture, a note's number
	runBreak    // a line break
)

// inlines gathers the text of one block, with each run of white space as one space.
type inlines struct {
	text []byte
	runs []run
}

func (in *inlines) reset() { in.text, in.runs = in.text[:0], in.runs[:0] }

// add appends a text.
func (in *inlines) add(s string, st *style, kind runKind) {
	from := len(in.text)
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == ' ' || c >= '\t' && c <= '\r':
				in.space()
			case c >= ' ' && c != 0x7f:
				in.text = append(in.text, c)
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case unicode.IsSpace(r):
			in.space()
		case !isInvisible(r) && !unicode.IsControl(r):
			in.text = utf8.AppendRune(in.text, r)
		}
	}
	in.note(from, st, kind)
}

// space appends a space unless there is one, or nothing.
func (in *inlines) space() {
	if n := len(in.text); n > 0 && in.text[n-1] != ' ' {
		in.text = append(in.text, ' ')
	}
}

// note makes a run of the appended text.
func (in *inlines) note(from int, st *style, kind runKind) {
	if from == len(in.text) && kind != runBreak {
		return
	}
	if last := len(in.runs) - 1; last >= 0 && kind <= runCode && in.runs[last].kind == kind && in.runs[last].style == st {
		in.runs[last].to = len(in.text)
		return
	}
	in.runs = append(in.runs, run{from, len(in.text), st, kind})
}

// setting is where a block's text stands, which decides what must be escaped.
type setting uint8

const (
	inParagraph setting = iota
	inHeading           // or in a term: it has one line
	inCell              // of a table
)

// cellBreak stands for a line break in a cell until the table is written. Text has no
// control characters.
const cellBreak = '\x01'

// renderer writes the runs of one block as Markdown.
type renderer struct {
	setting setting
	budget  *int
	out     []byte // lines that are whole
	line    []byte
	delims  []delim
	open    []opened
	chain   []*style
}

// delim is a delimiter of emphasis in the line.
type delim struct {
	at, size int
	pair     int // index of the other one
	opens    bool
	gone     bool
}

// opened is a mark that is open in the line.
type opened struct {
	*style
	delim int // its number, linkOpen or notOpen
	at    int // where its text begins
}

const (
	linkOpen = -1
	notOpen  = -2 // there was no room for it
)

// render returns the Markdown of a block, without an end of the last line. It is valid
// until the next call.
func (r *renderer) render(in *inlines, where setting) []byte {
	r.setting, r.out, r.line, r.delims, r.open = where, r.out[:0], r.line[:0], r.delims[:0], r.open[:0]
	space, broken := false, false
	for _, run := range in.runs {
		text := in.text[run.from:run.to]
		if run.kind == runBreak {
			r.shift(nil, false)
			broken, space = true, false
			continue
		}
		core := bytes.Trim(text, " ")
		if len(core) == 0 {
			space = true
			continue
		}
		if run.kind == runSource { // its indent is part of it
			core, text = text, core
		}
		if broken {
			r.endLine(false)
		}
		r.shift(run.style, (space || text[0] == ' ') && len(r.line) > 0)
		r.write(core, run.kind)
		space, broken = text[len(text)-1] == ' ', false
	}
	r.shift(nil, false)
	r.endLine(true)
	return r.out
}

func (r *renderer) write(core []byte, kind runKind) {
	switch kind {
	case runCode, runSource:
		r.code(core)
	case runMarkdown:
		r.line = append(r.line, core...)
	default:
		r.escape(core)
	}
}

// shift ends and begins marks, with a space between.
func (r *renderer) shift(to *style, space bool) {
	r.chain = to.chain(r.chain)
	same := 0
	for same < len(r.open) && same < len(r.chain) && (r.open[same].style == r.chain[same] || !space && r.open[same].isLike(r.chain[same])) {
		same++
	}
	for i := len(r.open) - 1; i >= same; i-- {
		r.end(r.open[i])
	}
	r.open = r.open[:same]
	if space {
		r.line = append(r.line, ' ')
	}
	for _, st := range r.chain[same:] {
		r.begin(st)
	}
}

// afford takes the bytes of decoration out of the budget, if there are enough.
func (r *renderer) afford(n int) bool {
	if n > *r.budget {
		return false
	}
	*r.budget -= n
	return true
}

func (r *renderer) begin(st *style) {
	text := delimiters[st.mark]
	if !r.afford(2*len(text) + 2 + len(st.url)) {
		r.open = append(r.open, opened{style: st, delim: notOpen})
		return
	}
	if st.mark == markLink {
		r.line = append(r.line, text...)
		r.open = append(r.open, opened{st, linkOpen, len(r.line)})
		return
	}
	r.open = append(r.open, opened{style: st, delim: len(r.delims)})
	r.delims = append(r.delims, delim{at: len(r.line), size: len(text), opens: true})
	r.line = append(r.line, text...)
}

func (r *renderer) end(o opened) {
	switch o.delim {
	case notOpen:
	case linkOpen:
		if text := string(r.line[o.at:]); strings.EqualFold(text, "x") && o.at == 1 {
			r.line = fmt.Appendf(r.line[:o.at], "&#%d;", text[0]) // at the start of an item it would be a box
		}
		r.line = append(r.line, "]("...)
		r.line = append(r.line, o.url...)
		r.line = append(r.line, ')')
	default:
		text := delimiters[o.mark]
		r.delims[o.delim].pair = len(r.delims)
		r.delims = append(r.delims, delim{at: len(r.line), size: len(text), pair: o.delim})
		r.line = append(r.line, text...)
	}
}

// inLink reports whether a link is open.
func (r *renderer) inLink() bool {
	for _, o := range r.open {
		if o.delim == linkOpen {
			return true
		}
	}
	return false
}

// endLine takes over the line, without the delimiters that CommonMark would not recognise
// where they stand, such as those between a letter and a bracket.
func (r *renderer) endLine(last bool) {
	if len(r.line) > 0 {
		r.judge()
		start := len(r.out)
		at := 0
		for _, d := range r.delims {
			r.out = append(r.out, r.line[at:d.at]...)
			if at = d.at; d.gone {
				at += d.size
			}
		}
		r.out = append(r.out, r.line[at:]...)
		if r.setting == inParagraph {
			r.out = escapeStart(r.out, start)
		}
	}
	r.line, r.delims = r.line[:0], r.delims[:0]
	if last || len(r.out) == 0 {
		return
	}
	switch r.setting {
	case inParagraph:
		r.out = append(r.out, "\\\n"...)
	case inHeading:
		r.out = append(r.out, ' ')
	case inCell:
		r.out = append(r.out, cellBreak)
	}
}

// judge drops the pairs of delimiters of which one breaks CommonMark's flanking rules.
// Delimiters that touch are judged as one.
func (r *renderer) judge() {
	for i := 0; i < len(r.delims); {
		j := i + 1
		for j < len(r.delims) && r.delims[j].at == r.delims[j-1].at+r.delims[j-1].size {
			j++
		}
		before, _ := utf8.DecodeLastRune(r.line[:r.delims[i].at])
		after, _ := utf8.DecodeRune(r.line[r.delims[j-1].at+r.delims[j-1].size:])
		if r.delims[i].at == 0 {
			before = ' '
		}
		if r.delims[j-1].at+r.delims[j-1].size == len(r.line) {
			after = ' '
		}
		left := !unicode.IsSpace(after) && (!isPunctuation(after) || unicode.IsSpace(before) || isPunctuation(before))
		right := !unicode.IsSpace(before) && (!isPunctuation(before) || unicode.IsSpace(after) || isPunctuation(after))
		for k := i; k < j; k++ {
			if d := r.delims[k]; d.opens && !left || !d.opens && !right {
				r.delims[k].gone, r.delims[d.pair].gone = true, true
			}
		}
		i = j
	}
}

func isPunctuation(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// code writes a code span.
func (r *renderer) code(text []byte) {
	most := longestRun(text, '`')
	padded := text[0] == '`' || text[len(text)-1] == '`'
	if !r.afford(2*most + 4) {
		r.escape(text)
		return
	}
	fence := strings.Repeat("`", most+1)
	r.line = append(r.line, fence...)
	if padded {
		r.line = append(r.line, ' ')
	}
	for _, c := range text {
		if c == '|' && r.setting == inCell {
			r.line = append(r.line, '\\')
		}
		r.line = append(r.line, c)
	}
	if padded {
		r.line = append(r.line, ' ')
	}
	r.line = append(r.line, fence...)
}

// alt writes the description of a picture.
func (r *renderer) alt(text []byte) string {
	r.setting = inCell
	r.escape(bytes.TrimSpace(text))
	return string(r.line)
}

// longestRun returns the length of the longest run of one character.
func longestRun(text []byte, c byte) int {
	most, n := 0, 0
	for _, b := range text {
		if b == c {
			n++
			most = max(most, n)
		} else {
			n = 0
		}
	}
	return most
}
