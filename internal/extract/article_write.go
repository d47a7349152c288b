package extract

import (
	"strings"

	"golang.org/x/net/html"
)

// keptWriter writes the text of some elements, in step with the survey.
type keptWriter struct {
	seen  *survey
	kept  []bool
	rules Rules
	next  int32 // the number of the next element
	line  line
	links int // open ones
	out   strings.Builder

	record *recorder // nil where only the text is wanted
}

// walk visits a node. Its depth is bounded by the parser's limit of open elements.
func (w *keptWriter) walk(n *html.Node, kept bool) {
	switch {
	case n.Type == html.TextNode:
		w.text(n.Data, kept)
	case n.Type != html.ElementNode:
		w.children(n, kept)
	case n.Data != "template" && !w.seen.skips(n):
		kept = w.kept[w.next]
		w.next++
		w.breakText(breakBefore(n))
		if w.record != nil {
			w.record.element(n, kept)
		}
		opens := 0
		if isLink(n.Data, n.Attr) {
			opens = 1
		}
		w.links, w.line.links = w.links+opens, w.line.links+opens
		w.children(n, kept)
		w.links -= opens
		w.breakText(breakOf(n.Data))
	}
}

func (w *keptWriter) text(text string, kept bool) {
	switch {
	case kept && w.record != nil:
		w.record.text(text, len(w.line.text))
	case w.record != nil:
		w.record.skip()
	}
	if kept {
		w.line.add(text, w.links > 0)
	}
}

func (w *keptWriter) children(n *html.Node, kept bool) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		w.walk(child, kept)
	}
}

func (w *keptWriter) breakText(space byte) {
	switch space {
	case '\n':
		w.endLine()
	case ' ':
		w.line.space()
	}
}

func (w *keptWriter) endLine() {
	var text []byte
	if !w.line.isPager() {
		text = w.rules.clean(w.line.trimmed())
	}
	if w.record != nil {
		w.record.endLine(w.line.trimmed(), text, w.rules)
	}
	writeLine(&w.out, text)
	w.line.reset()
}
