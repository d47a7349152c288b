package extract

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// plan holds the findings of a first walk over the kept elements, for the second.
type plan struct {
	bytes   int            // of text
	layouts map[int32]bool // tables and lists, by their numbers, that only arrange
	// references are the links to notes and notes the elements that are notes, with their
	// labels; backs are the links from notes back to their references.
	references, notes map[*html.Node]string
	backs             map[*html.Node]bool
}

// isLeftOut reports whether an element that may be displayed is in the text of a page but not in its Markdown.
func (p *plan) isLeftOut(n *html.Node) bool {
	return p.backs[n] || isLineNumber(n) || isPermalink(n) || isCopyButton(n) || isTooltip(n) || len(p.notes) > 0 && isNoteMark(n)
}

// planner makes a plan, in step with markdownWalk.
type planner struct {
	*survey
	choice
	plan
	next, piece int32
	said        int32   // bytes of visible text so far, without the spaces around each piece
	before      []int32 // said before each element, by its number
	hidden      int     // open elements that are not displayed
	ids         map[string]place32
	links       []fragmentLink // in the order of the document
	tables      []*tableShape  // the open ones
	lists       []int32        // the open <ul>; -1 for elements that bound them
}

// place32 is an element with its number.
type place32 struct {
	node  *html.Node
	first int32
}

// fragmentLink is a link within the page.
type fragmentLink struct {
	place32
	to string
}

func planOf(root *html.Node, s *survey, kept choice) plan {
	p := planner{survey: s, choice: kept, ids: map[string]place32{}, before: make([]int32, len(s.elements)+1)}
	p.layouts = map[int32]bool{}
	p.visit(root, &p)
	p.before[len(s.elements)] = p.said
	p.findNotes()
	return p.plan
}

func (p *planner) text(n *html.Node) {
	if p.stays(p.piece) {
		p.bytes += len(n.Data)
		if p.hidden == 0 {
			p.said += int32(len(strings.TrimSpace(n.Data)))
		}
	}
	p.piece++
}

func (p *planner) element(n *html.Node) {
	if !p.out[p.next] {
		p.inside(n)
		return
	}
	for range p.elements[p.next].size {
		p.before[p.next] = p.said
		p.next++
	}
}

// inside plans an element that is not left out, with all in it.
func (p *planner) inside(n *html.Node) {
	i := p.next
	p.before[i] = p.said
	p.next++
	if isPiece(n) {
		p.piece++
	}
	if p.isUndisplayed(n, i) {
		p.hidden++
		defer func() { p.hidden-- }()
	}
	for _, a := range n.Attr {
		if (a.Key == "id" || a.Key == "name" && n.Data == "a") && a.Val != "" {
			if _, known := p.ids[a.Val]; !known {
				p.ids[a.Val] = place32{n, i}
			}
		}
	}
	if href, ok := attribute(n.Attr, "href"); ok && n.Data == "a" && len(href) > 1 && href[0] == '#' {
		p.links = append(p.links, fragmentLink{place32{n, i}, href[1:]})
	}
	depth, lists := len(p.tables), len(p.lists)
	p.startShape(n, i)
	p.startList(n, i)
	p.visitBelow(n, p)
	p.lists = p.lists[:lists]
	if len(p.tables) > depth {
		if p.tables[depth].isLayout() {
			p.layouts[i] = true
		}
		p.tables = p.tables[:depth]
	}
}

// tableShape holds the features that tell a table of data from a layout.
type tableShape struct {
	rows, cells, columns, most int
	heads                      bool // a cell is a head
	blocks                     bool // a cell has blocks
	layout                     bool
}

// startShape adds an element to the shapes of the open tables.
func (p *planner) startShape(n *html.Node, i int32) {
	var t *tableShape
	if len(p.tables) > 0 {
		t = p.tables[len(p.tables)-1]
	}
	switch {
	case n.Data == "table":
		if t != nil {
			t.layout = true
		}
		role, _ := attribute(n.Attr, "role")
		p.tables = append(p.tables, &tableShape{layout: role == "presentation" || role == "none" || hasClass(n.Parent, "admonitionblock", "colist")})
	case t == nil:
	case n.Data == "tr":
		t.rows++
		t.columns = 0
	case n.Data == "th", n.Data == "td":
		if isLineNumber(n) {
			return
		}
		t.rows = max(t.rows, 1)
		t.cells++
		t.columns++
		t.most = max(t.most, t.columns)
		t.heads = t.heads || n.Data == "th"
		// A cell of data has no text as long as an article.
		const article = 2000
		t.layout = t.layout || n.Data == "td" && p.elements[i].units > article && p.elements[i].paragraphs > 2
	case kinds[n.Data]&heading != 0:
		t.layout = t.layout || !t.heads
	case isVerbatim(n):
		t.blocks = true
		t.layout = t.layout || t.most == 1 && !t.heads
	case kinds[n.Data]&block != 0, n.Data == "br":
		t.blocks = true
	}
}

// startList notes a list, or a heading in the open lists, whose items then are sections or
// articles.
func (p *planner) startList(n *html.Node, i int32) {
	switch {
	case n.Data == "ul":
		p.lists = append(p.lists, i)
	case n.Data == "ol", n.Data == "td", n.Data == "th", n.Data == "dt", n.Data == "blockquote", isAdmonition(n):
		p.lists = append(p.lists, -1)
	case kinds[n.Data]&heading != 0:
		for at := len(p.lists) - 1; at >= 0 && p.lists[at] >= 0 && !p.layouts[p.lists[at]]; at-- {
			p.layouts[p.lists[at]] = true
		}
	}
}

// isLayout reports whether a table only arranges its contents.
func (t *tableShape) isLayout() bool {
	return t.layout || !t.heads && (t.most < 2 || t.rows < 2 && t.blocks)
}

// saidIn returns how many bytes of an element's text are seen, without spaces.
func (p *planner) saidIn(i int32) int32 { return p.before[i+p.elements[i].size] - p.before[i] }

// findNotes finds the notes of the page: short links to an item, a paragraph or the like
// further down that has a link back. Both the link and the note's own text must stay.
func (p *planner) findNotes() {
	labels := map[string]int{}
	for _, link := range p.links {
		at, ok := p.ids[link.to]
		if !ok || at.first <= link.first {
			continue
		}
		target := p.bodyOf(at)
		if target.node == nil || p.references[link.node] != "" || p.saidIn(link.first) == 0 {
			continue
		}
		backs, said := p.backsIn(target, link)
		if len(backs) == 0 || said == 0 || !isReference(link.node) {
			continue
		}
		if p.references == nil {
			p.references, p.notes, p.backs = map[*html.Node]string{}, map[*html.Node]string{}, map[*html.Node]bool{}
		}
		label := p.notes[target.node]
		if label == "" {
			label = newLabel(link.node, labels)
			p.notes[target.node] = label
		}
		p.references[link.node] = label
		if target.term != nil {
			p.backs[target.term] = true
		}
		for _, back := range backs {
			p.backs[back] = true
		}
	}
}

// noteBodies are the elements that may be notes.
var noteBodies = set("li aside div p")

// noteBody is the element of a note.
type noteBody struct {
	place32
	term *html.Node // the <dt> before it that has only the note's mark, nil if there is none
	from int32      // the number of the term or, without one, of the element
}

// bodyOf returns the element of a note: the one with the id, one around it, or the
// definition of that term.
func (p *planner) bodyOf(at place32) noteBody {
	for range 3 {
		if at.node == nil || at.node.Type != html.ElementNode {
			break
		}
		if noteBodies[at.node.Data] || at.node.Data == "table" && hasClass(at.node, "footnote") {
			return noteBody{place32: at, from: at.first}
		}
		if at.node.Data == "dt" && hasClass(at.node.Parent, "footnote") {
			return p.definitionOf(at)
		}
		if at.node.Data == "dd" || at.node.Data == "td" || at.first < 1 {
			break
		}
		at = place32{at.node.Parent, p.elements[at.first].parent}
	}
	return noteBody{}
}

// definitionOf returns the note in the definition right after a term.
func (p *planner) definitionOf(term place32) noteBody {
	next := term.node.NextSibling
	for next != nil && next.Type != html.ElementNode {
		next = next.NextSibling
	}
	if next == nil || next.Data != "dd" || !p.isMeasured(next) {
		return noteBody{}
	}
	return noteBody{place32{next, term.first + p.elements[term.first].size}, term.node, term.first}
}

// backsIn returns the links in a note that lead to its reference, or near it, and how many
// bytes the note says besides.
func (p *planner) backsIn(note noteBody, reference fragmentLink) (backs []*html.Node, said int32) {
	const most = 30 // links of a note that are looked at
	if reference.first >= note.from {
		return nil, 0
	}
	from, _ := slices.BinarySearchFunc(p.links, note.from, func(l fragmentLink, first int32) int { return int(l.first - first) })
	end := note.first + p.elements[note.first].size
	said = p.saidIn(note.first)
	found := false
	for _, l := range p.links[from:min(len(p.links), from+most)] {
		if l.first >= end {
			break
		}
		to, ok := p.ids[l.to]
		if !ok || to.first >= note.from {
			continue
		}
		const near = 3 // elements
		if to.first >= reference.first-near && to.first <= reference.first+near {
			found = true
		}
		if isBack(l.node) {
			backs = append(backs, l.node)
			if l.first > note.first {
				said -= p.saidIn(l.first)
			}
		}
	}
	if !found {
		return nil, 0
	}
	return backs, said
}

// isBack reports whether a link in a note leads back, by its looks: a number or a sign.
func isBack(n *html.Node) bool {
	role, _ := attribute(n.Attr, "role")
	return role == "doc-backlink" || hasClass(n, "footnote-backref", "footnote-back", "reversefootnote", "fn-backref") || utf8.RuneCountInString(shortText(n)) <= 3
}

// isReference reports whether a link may refer to a note: a number, a letter or a sign.
func isReference(n *html.Node) bool {
	text := strings.Trim(shortText(n), "[]()")
	count := utf8.RuneCountInString(text)
	if role, _ := attribute(n.Attr, "role"); role == "doc-noteref" {
		return true
	}
	return count > 0 && count <= 4 || count < 12 && (n.Parent.Data == "sup" || hasClass(n, "footnote-ref", "footnote-reference"))
}

// newLabel returns a label for a note: the text of its reference, if no other note has it.
func newLabel(n *html.Node, taken map[string]int) string {
	label := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, shortText(n))
	if label == "" {
		label = "note"
	}
	taken[label]++
	if n := taken[label]; n > 1 { // other labels have no hyphen
		label += "-" + strconv.Itoa(n)
	}
	return label
}

// shortText returns the text of an element, up to some length.
func shortText(n *html.Node) string {
	const most = 32
	var b strings.Builder
	nodes := 0
	var read func(n *html.Node)
	read = func(n *html.Node) {
		for child := n.FirstChild; child != nil && b.Len() < most && nodes < most; child = child.NextSibling {
			nodes++
			if child.Type == html.TextNode {
				b.WriteString(child.Data[:min(len(child.Data), most)])
			} else if !unseen[child.Data] {
				read(child)
			}
		}
	}
	read(n)
	return collapse(strings.ToValidUTF8(b.String(), ""))
}
