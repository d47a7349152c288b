package extract

import (
	"strings"

	"golang.org/x/net/html"
)

// selectedText returns the text of the elements that the rules select: all that is
// visible in them, each on a line of its own. It is "" if there is none. The recorder, if
// there is one, notes their contents.
func selectedText(root *html.Node, s *survey, rules Rules, r *recorder) string {
	found := matches(root, rules.selected)
	if len(found) == 0 {
		return ""
	}
	p := picker{seen: s, rules: rules, found: found, record: r}
	p.walk(root)
	p.endLine()
	return p.out.String()
}

// picker writes the text of some elements.
type picker struct {
	seen   *survey
	rules  Rules
	found  map[*html.Node]bool
	record *recorder
	open   int // of these elements
	line   line
	out    strings.Builder
}

// walk visits a node. Its depth is bounded by the parser's limit of open elements.
func (p *picker) walk(n *html.Node) {
	if n.Type == html.TextNode {
		p.text(n.Data)
		return
	}
	if n.Type != html.ElementNode {
		p.children(n)
		return
	}
	if !p.seen.isMeasured(n) {
		return
	}
	if p.found[n] {
		p.endLine()
		p.note(n, true)
		p.open++
		p.children(n)
		p.endLine()
		p.open--
		return
	}
	p.breakText(breakBefore(n))
	p.note(n, p.open > 0)
	p.children(n)
	p.breakText(breakOf(n.Data))
}

func (p *picker) children(n *html.Node) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		p.walk(child)
	}
}

func (p *picker) breakText(space byte) {
	switch space {
	case '\n':
		p.endLine()
	case ' ':
		p.line.space()
	}
}

func (p *picker) text(text string) {
	switch {
	case p.open == 0 && p.record != nil:
		p.record.skip()
	case p.open > 0 && p.record != nil:
		p.record.text(text, len(p.line.text))
	}
	if p.open > 0 {
		p.line.add(text, false)
	}
}

// note records an element.
func (p *picker) note(n *html.Node, stays bool) {
	if p.record != nil {
		p.record.element(n, stays)
	}
}

func (p *picker) endLine() {
	text := p.rules.clean(p.line.trimmed())
	if p.record != nil {
		p.record.endLine(p.line.trimmed(), text, p.rules)
	}
	writeLine(&p.out, text)
	p.line.reset()
}
