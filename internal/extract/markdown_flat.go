package extract

import (
	"golang.org/x/net/html"
)

// markdownOfFlat reads a document without a tree, tag by tag. As in its text, only what the
// crawl's patterns match is left out.
func markdownOfFlat(src Source, decoded []byte, rules Rules, reading Reading) Markdown {
	f := flat{tokens: tokensOf(decoded, isXML(src)), rules: rules}
	if reading != ReadAll && len(rules.patterns) > 0 {
		f.record = &recorder{}
	}
	page := f.page(src)
	var kept choice
	if f.record != nil {
		kept = f.record.choice
	}
	text, tags := sizesOf(tokensOf(decoded, isXML(src)))
	w := newMarkdownWriter(addressesOf(src, &f.collector), 2*len(decoded)+allowance, decorations(len(decoded), text, tags))
	m := flatMarkdown{w: w, tokens: tokensOf(decoded, isXML(src)), choice: kept}
	for m.next() {
	}
	m.cut(0)
	return w.finish(page)
}

// sizesOf returns the bytes of a document's text and the number of its start tags.
func sizesOf(tokens tokens) (text, tags int) {
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return text, tags
		case html.TextToken:
			text += len(tokens.Raw())
		case html.StartTagToken, html.SelfClosingTagToken:
			tags++
			if name, _ := tokens.TagName(); string(name) == "noscript" {
				tokens.NextIsNotRawText()
			}
		}
	}
}

// flatMarkdown writes Markdown tag by tag, in step with flat.
type flatMarkdown struct {
	choice
	w         *markdownWriter
	tokens    tokens
	raw       string // see flat.raw
	templates int
	titled    bool
	piece     int32
	open      []string // the elements that the writer has opened, at most maxParts
}

func (m *flatMarkdown) next() bool {
	switch kind := m.tokens.Next(); kind {
	case html.ErrorToken:
		return false
	case html.TextToken:
		m.text()
	case html.StartTagToken, html.SelfClosingTagToken:
		t := m.tokens.Token()
		m.startTag(t)
		if m.tokens.ends(kind) {
			m.endTag(t.Data)
		}
	case html.EndTagToken:
		m.endTag(m.tokens.Token().Data)
	}
	return true
}

func (m *flatMarkdown) text() {
	switch {
	case m.templates > 0:
	case m.raw == "title" && !m.titled:
		m.titled = true
	case !unseen[m.raw]:
		i := m.piece
		m.piece++
		if changed, ok := m.changed[i]; ok {
			m.w.add(changed)
		} else if m.stays(i) {
			m.w.add(string(m.tokens.text()))
		}
	}
}

func (m *flatMarkdown) startTag(t html.Token) {
	m.raw = t.Data
	switch {
	case t.Data != "template":
	case m.templates == 0 && isShadow(t.Attr):
		m.raw = ""
	default:
		m.templates++
	}
	switch t.Data {
	case "noscript":
		m.tokens.NextIsNotRawText()
	case "head":
		m.raw = ""
	}
	if m.templates > 0 {
		return
	}
	m.imply(t.Data)
	m.breakText(t.Data)
	switch t.Data {
	case "img":
		m.w.picture(t.Attr)
	case "hr":
		m.w.rule()
	case "input":
		m.w.box(t.Attr)
	case "br":
		m.w.breakLine()
	default:
		m.start(t)
	}
}

func (m *flatMarkdown) start(t html.Token) {
	if len(m.open) >= maxParts {
		return
	}
	if t.Data == "pre" || t.Data == "code" && m.w.verbatim > 0 && m.w.language == "" {
		m.w.language = languageOfClass(&html.Node{Attr: t.Attr})
	}
	if m.w.open(t.Data, t.Attr) {
		m.open = append(m.open, t.Data)
	}
}

// bounds are the elements within which tags end nothing outside, except parts of tables.
var (
	bounds     = set("table td th")
	tableParts = set("table thead tbody tfoot tr td th")
	listParts  = set("ul ol menu dir")
)

// What start tags end, and where that stops.
var (
	anItem, aLink, aTable = set("li"), set("a"), set("table")
	termParts, termList   = set("dt dd"), set("dl")
	cellParts, rowParts   = set("td th"), set("tr td th thead")
	headingParts          = set("h1 h2 h3 h4 h5 h6")
)

// imply ends the elements that a start tag ends.
func (m *flatMarkdown) imply(name string) {
	switch {
	case name == "li":
		m.end(anItem, listParts)
	case name == "dt" || name == "dd":
		m.end(termParts, termList)
	case name == "td" || name == "th":
		m.end(cellParts, aTable)
	case tableParts[name] && name != "table":
		m.end(rowParts, aTable)
	case name == "a":
		m.end(aLink, bounds)
	case kinds[name]&heading != 0:
		m.end(headingParts, bounds)
	}
	if breakOf(name) == '\n' && name != "br" {
		m.endMarks()
	}
}

// endMarks ends the elements that mark text before a block begins, since their own end is
// unknown.
func (m *flatMarkdown) endMarks() {
	n := len(m.open)
	for n > 0 && inline[m.open[n-1]] && m.open[n-1] != "a" {
		n--
	}
	m.cut(n)
}

// end ends the outermost elements of some names that are within the innermost of others.
func (m *flatMarkdown) end(ends, within names) {
	at := len(m.open)
	for i := len(m.open) - 1; i >= 0; i-- {
		name := m.open[i]
		if ends[name] {
			at = i
		} else if within[name] || bounds[name] {
			break
		}
	}
	m.cut(at)
}

// cut ends the open elements from the n-th on.
func (m *flatMarkdown) cut(n int) {
	for i := len(m.open) - 1; i >= n; i-- {
		m.breakText(m.open[i])
		m.w.close()
	}
	m.open = m.open[:n]
}

func (m *flatMarkdown) endTag(name string) {
	m.raw = ""
	if name == "template" && m.templates > 0 {
		m.templates--
	}
	for i := len(m.open) - 1; i >= 0; i-- {
		if m.open[i] == name || headingParts[name] && headingParts[m.open[i]] {
			m.cut(i)
			return
		}
		if bounds[m.open[i]] && !tableParts[name] {
			break
		}
	}
	switch m.breakText(name); {
	case name == "br":
		m.w.breakLine()
	case breakOf(name) == '\n':
		m.endMarks()
	}
}

func (m *flatMarkdown) breakText(name string) {
	switch {
	case name == "br":
	case breakOf(name) == '\n':
		m.w.endBlock()
	case breakOf(name) == ' ':
		m.w.space()
	}
}
