package extract

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// open begins an element, and reports whether close must end it.
func (w *markdownWriter) open(name string, attributes []html.Attribute) bool {
	f := frame{name: name, style: w.style, list: w.list, terms: w.terms, containers: len(w.containers), does: endsStyle}
	w.remember(name, attributes)
	opens := true
	switch name {
	case "a":
		opens = w.openLink(attributes)
	case "b", "strong", "summary", "i", "em", "cite", "dfn", "var", "s", "strike", "del":
		w.mark(marksOf[name], "")
	case "code", "kbd", "samp", "tt":
		w.code++
		f.does = endsCode
	case "h1", "h2", "h3", "h4", "h5", "h6":
		opens = w.openHeading(name, attributes)
		f.does = endsHeading
	case "pre", "listing", "xmp", "plaintext":
		w.verbatim++
		f.does = endsSource
	case "blockquote":
		w.enter(container{kind: containerQuote, first: "> ", rest: "> "})
		f.does = endsBlock
	case "ul", "ol", "menu", "dir", "li":
		w.openList(name, attributes)
		f.does = endsBlock
	case "dl", "dt", "dd":
		f.does = w.openTerms(name)
	case "table", "thead", "tr", "td", "th":
		f.does, opens = w.openTable(name, attributes)
	default:
		opens = false
	}
	if opens {
		w.frames = append(w.frames, f)
	}
	return opens
}

// close ends the innermost element that open began.
func (w *markdownWriter) close() {
	f := w.frames[len(w.frames)-1]
	w.frames = w.frames[:len(w.frames)-1]
	switch f.does {
	case endsCode:
		w.code--
	case endsFormula:
		w.code--
		w.addMarkdown("$")
	case endsSource:
		if w.verbatim--; w.verbatim == 0 {
			w.endSource()
		}
	case endsHeading:
		w.oneLine--
		w.endHeading()
	case endsTerm:
		if w.oneLine--; w.oneLine == 0 {
			w.endTerm()
		}
	case endsBlock:
		w.endBlock()
	case endsTable, endsRow, endsCell, endsHead:
		w.closeTable(f.does)
	}
	if c := w.inner(); f.name == "li" && c.begun && len(w.containers) > f.containers {
		c.list.item = *c
	}
	w.style, w.list = f.style, f.list
	if f.does != endsTerm {
		w.terms = f.terms
	}
	w.containers = w.containers[:min(len(w.containers), f.containers)]
}

// remember keeps an element's anchor for the heading that follows or contains it.
func (w *markdownWriter) remember(name string, attributes []html.Attribute) {
	for _, key := range [...]string{"id", "name"} {
		value, _ := attribute(attributes, key)
		if value == "" || key == "name" && name != "a" {
			continue
		}
		if w.level > 0 && w.anchor == "" && w.oneLine > 0 {
			w.anchor = value
		}
		w.last = value
		return
	}
}

// permalink takes the anchor of the open heading from the link to it.
func (w *markdownWriter) permalink(attributes []html.Attribute) {
	href, _ := attribute(attributes, "href")
	if _, fragment, _ := strings.Cut(href, "#"); w.oneLine > 0 && w.anchor == "" {
		w.anchor = fragment
	}
}

func (w *markdownWriter) mark(m mark, url string) {
	if !w.style.has(m) && w.code == 0 || m == markLink && !w.style.has(m) {
		w.style = &style{outer: w.style, mark: m, url: url}
	}
}

func (w *markdownWriter) openLink(attributes []html.Attribute) bool {
	href, ok := attribute(attributes, "href")
	if !ok || w.verbatim > 0 {
		return false
	}
	if url := w.urls.link(href); url != "" {
		w.mark(markLink, url)
	}
	return true
}

func (w *markdownWriter) openHeading(name string, attributes []html.Attribute) bool {
	if w.oneLine > 0 || w.verbatim > 0 || w.inCell() {
		return false
	}
	w.endBlock()
	w.oneLine, w.level = 1, int(name[1]-'0')
	id, _ := attribute(attributes, "id")
	if w.anchor = id; id == "" {
		w.anchor = w.last
	}
	return true
}

// openList begins a list or one of its items.
func (w *markdownWriter) openList(name string, attributes []html.Attribute) {
	if w.verbatim > 0 || w.oneLine > 0 {
		return
	}
	w.endBlock()
	if name != "li" {
		if w.list != nil && w.list.items > 0 { // a list right in another one is part of its last item
			w.enter(w.list.item)
		}
		w.list = w.newList(name == "ol", attributes)
		return
	}
	if w.list == nil {
		w.list = w.newList(false, nil)
	}
	l := w.list
	if w.list = nil; l.layout {
		return
	}
	l.number = numberOf(attributes, "value", l.number+1)
	first := string(l.marker) + " "
	if l.ordered {
		first = strconv.Itoa(l.number) + first
	}
	w.enter(container{kind: containerItem, first: first, rest: strings.Repeat(" ", len(first)), list: l})
}

// newList begins a list whose marker is not that of one right before it.
func (w *markdownWriter) newList(ordered bool, attributes []html.Attribute) *list {
	l := &list{ordered: ordered, marker: '-'}
	other := byte('*')
	if ordered {
		l.marker, other = '.', ')'
		l.number = numberOf(attributes, "start", 1) - 1
	}
	if w.inner().marker == l.marker {
		l.marker = other
	}
	return l
}

// numberOf reads a list's number, if Markdown can have it.
func numberOf(attributes []html.Attribute, name string, otherwise int) int {
	value, _ := attribute(attributes, name)
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil || n < 0 || n > 99_999_999 {
		return min(otherwise, 99_999_999)
	}
	return n
}

// openTerms begins a list of definitions, a term or a definition.
func (w *markdownWriter) openTerms(name string) effect {
	if w.verbatim > 0 || w.oneLine > 0 && name != "dt" {
		return endsStyle
	}
	switch w.endBlock(); name {
	case "dl":
		w.terms = 0
	case "dt":
		w.oneLine++
		return endsTerm
	case "dd":
		if w.terms > 0 && !w.inCell() {
			w.enter(container{kind: containerDefinition, first: ": ", rest: "  "})
		}
	}
	return endsBlock
}

// endTerm writes a term.
func (w *markdownWriter) endTerm() {
	if len(w.inlines.runs) == 0 {
		return
	}
	text := escapeStart(bytes.Clone(w.renderer.render(&w.inlines, inHeading)), 0)
	w.inlines.reset()
	if len(text) > 0 {
		w.terms++
		w.put(blockTerm, text)
	}
}

// openLayout begins a table or a list that only arranges.
func (w *markdownWriter) openLayout(name string, attributes []html.Attribute) bool {
	switch table := w.table; {
	case !w.open(name, attributes):
		return false
	case w.table != table:
		w.table.layout = true
	case name == "ul" && w.list != nil:
		w.list.layout = true
	}
	return true
}

// openFormula begins a formula in TeX, as GitHub writes it: code between two dollars.
func (w *markdownWriter) openFormula() bool {
	if w.verbatim > 0 || w.code > 0 || !w.afford(len("$$")) {
		return false
	}
	w.frames = append(w.frames, frame{style: w.style, list: w.list, terms: w.terms, containers: len(w.containers), does: endsFormula})
	w.addMarkdown("$")
	w.code++
	return true
}

// openNote begins a note.
func (w *markdownWriter) openNote(label string) bool {
	w.frames = append(w.frames, frame{style: w.style, list: w.list, terms: w.terms, containers: len(w.containers), does: endsBlock})
	w.endBlock()
	w.enter(container{kind: containerNote, first: "[^" + label + "]: ", rest: "    "})
	w.list = nil
	return true
}

// picture writes a picture, unless it only counts visits.
func (w *markdownWriter) picture(attributes []html.Attribute) {
	if w.verbatim > 0 || isTiny(attributes) {
		return
	}
	address := ""
	for _, name := range [...]string{"src", "data-src", "data-original", "data-lazy-src"} {
		if src, ok := attribute(attributes, name); ok && address == "" {
			address = w.urls.picture(src)
		}
	}
	if address == "" {
		return
	}
	alt, _ := attribute(attributes, "alt")
	var in inlines
	in.add(alt, nil, runText)
	free := 2 * len(alt)
	text := (&renderer{budget: &free, open: []opened{{delim: linkOpen}}}).alt(in.text)
	if w.afford(len(text) + len(address) + len("![]()")) {
		w.addMarkdown("![" + text + "](" + address + ")")
	}
}

// isTiny reports whether a picture has the size of a dot.
func isTiny(attributes []html.Attribute) bool {
	for _, name := range [...]string{"width", "height"} {
		value, _ := attribute(attributes, name)
		if value = strings.TrimSuffix(strings.TrimSpace(value), "px"); value == "0" || value == "1" {
			return true
		}
	}
	return false
}

// box writes the box of a task list.
func (w *markdownWriter) box(attributes []html.Attribute) {
	kind, _ := attribute(attributes, "type")
	if c := w.inner(); !strings.EqualFold(kind, "checkbox") || c.kind != containerItem || c.begun || len(w.inlines.runs) > 0 || w.verbatim > 0 || !w.afford(4) {
		return
	}
	box := "[ ]"
	if _, ticked := attribute(attributes, "checked"); ticked {
		box = "[x]"
	}
	w.addMarkdown(box)
	w.space()
}

// openTable begins a table or a part of it.
func (w *markdownWriter) openTable(name string, attributes []html.Attribute) (effect, bool) {
	t := w.table
	if w.verbatim > 0 || w.oneLine > 0 || name != "table" && (t == nil || t.layout) {
		return 0, false
	}
	w.endBlock()
	switch name {
	case "table":
		w.startTable()
		return endsTable, true
	case "thead":
		t.inHead = true
		return endsHead, true
	case "tr":
		t.startRow()
		return endsRow, true
	}
	t.startCell(attributes, name == "th")
	t.base = len(w.containers)
	w.list = nil
	return endsCell, true
}

// startTable begins a table. A table within another makes the outer one a layout.
func (w *markdownWriter) startTable() {
	if outer := w.table; outer != nil && !outer.layout {
		w.putTable(outer)
		outer.layout = true
	}
	w.table = &cellTable{outer: w.table}
}

func (w *markdownWriter) closeTable(does effect) {
	w.endBlock()
	t := w.table
	switch does {
	case endsHead:
		t.endRow()
		t.inHead = false
	case endsRow:
		t.endRow()
	case endsCell:
		t.endCell(w.afford)
	case endsTable:
		w.table = t.outer
		if !t.layout {
			w.putTable(t)
		}
	}
}

// putTable writes a gathered table.
func (w *markdownWriter) putTable(t *cellTable) {
	t.endCell(w.afford)
	t.endRow()
	if len(t.rows) > 0 && len(t.text) > 0 {
		w.block(blockTable, t.markdown(w.afford))
	}
}
