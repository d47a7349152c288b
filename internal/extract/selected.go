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
	p := picker{survey: s, rules: rules, found: found, record: r}
	p.visit(root, &p)
	p.endLine()
	return p.out.String()
}

// picker writes the text of some elements.
type picker struct {
	*survey
	rules  Rules
	found  map[*html.Node]bool
	record *recorder
	open   int // of these elements
	line   line
	out    strings.Builder
}

func (p *picker) element(n *html.Node) {
	before, after, found := breakBefore(n), breakOf(n.Data), p.found[n]
	if found {
		before, after = '\n', '\n'
		p.open++
	}
	p.breakText(before)
	if p.record != nil {
		p.record.element(n, p.open > 0)
	}
	p.visitBelow(n, p)
	p.breakText(after)
	if found {
		p.open--
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

func (p *picker) text(n *html.Node) {
	switch {
	case p.open == 0 && p.record != nil:
		p.record.skip()
	case p.open > 0 && p.record != nil:
		p.record.text(n.Data, len(p.line.text))
	}
	if p.open > 0 {
		p.line.add(n.Data, false)
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
