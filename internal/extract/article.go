package extract

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"recrawl/internal/crawl"
)

// Article returns the text of a page's article, each block on a line: what a reader
// came for, without headline, bylines, comments and what leads elsewhere. A page that
// has no article has its main text, and one of which the crawl selects parts has
// these. See survey.article for what is left out.
func Article(src Source, rules Rules) (string, error) {
	media := crawl.ParseMediaType(src.ContentType)
	if media.Type != "" && media.Type != "text/html" && media.Type != "application/xhtml+xml" {
		page, err := Parse(src, rules)
		return page.Text, err
	}
	decoded, charset, err := decode(src.Body, media)
	if err != nil {
		return "", err
	}
	src.charset = charset
	rules = rules.at(src.URL)
	root, err := parseTree(decoded)
	if err != nil {
		return parseFlat(src, decoded, rules).Text, nil
	}
	s := surveyOf(root, rules.ignored(root))
	if selected := selectedText(root, s, rules, nil); selected != "" {
		return selected, nil
	}
	if text := articleText(root, s, rules, nil); text != "" {
		return text, nil
	}
	text, _, _ := mainText(root, s, rules, nil)
	return text, nil
}

// articleText is the text of a document's article, "" if it has none. The recorder, if there
// is one, notes what stays.
func articleText(root *html.Node, s *survey, rules Rules, r *recorder) string {
	kept := s.article(root)
	if kept == nil {
		return ""
	}
	w := keptWriter{seen: s, kept: kept, rules: rules, record: r}
	w.walk(root, false)
	w.endLine()
	return w.out.String()
}

// article tells which elements of a surveyed document the text of its article stands
// in: for each number, whether the text that is in the element and in no element within
// it is kept. It is nil for a page without an article, such as a list of links.
//
// Where the main text leaves out what some rule knows, the article is chosen:
//
//  1. Navigation, asides, forms, and what classes and ids call comments, related
//     links, sharing, adverts and the like are gone. If next to nothing is left by that, what
//     holds a third of the running text stays all the same: then it is the article.
//  2. From the whole page, the choice goes inwards as long as one element has
//     at least four fifths of the running text that is left, and no other like it
//     stands beside it. It never goes into lists and paragraphs.
//  3. In there, blocks of links go, unless they make up a third of it, and so do
//     captions, bylines, and the headline with what is before it. Lists and tables go or stay as
//     a whole, and code always stays.
//
// What has less than a tenth of the page's running text, or of what is left by the first
// step less than a third, is no article, and neither is what leads elsewhere more than it
// says: then the page is one of comments, of short lines, or of teasers.
func (s *survey) article(root *html.Node) []bool {
	if len(s.elements) == 0 {
		return nil
	}
	a := &articleChoice{survey: s, gone: make([]bool, len(s.elements)), lost: make([]lost, len(s.elements))}
	a.number(root, 0)
	least := max(leastContent, s.total.running/10)
	a.leaveOut(s.total.running)
	if a.left(0) < least {
		a.leaveOut(s.total.running / 3)
	}
	i := a.innermost()
	if a.left(i) < least || a.isTeasers(i) {
		return nil
	}
	kept := a.within(i)
	a.leaveOutHeadline(kept, i)
	return kept
}

// articleChoice chooses the article of a surveyed document.
type articleChoice struct {
	*survey
	// By number: the elements, what their markup says, and whether they are left out.
	nodes []*html.Node
	hints []articleHint
	gone  []bool
	lost  []lost
}

// lost is what is left out of an element.
type lost struct{ units, linked, running int32 }

// number lists the elements as the survey numbered them. Its depth is bounded by the
// parser's limit of open elements.
func (a *articleChoice) number(n *html.Node, outer articleHint) {
	if n.Type == html.ElementNode {
		if n.Data == "template" || a.skips(n) {
			return
		}
		h := articleHintsOf(n) | outer&hintVerbatim
		a.nodes, a.hints = append(a.nodes, n), append(a.hints, h)
		outer = h
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		a.number(child, outer)
	}
}

// leaveOut leaves out what is no part of an article, but nothing with more running
// text than most.
func (a *articleChoice) leaveOut(most int32) {
	clear(a.lost)
	for i := int32(len(a.elements)) - 1; i >= 0; i-- {
		e := &a.elements[i]
		if a.gone[i] = e.running <= most && a.isNoise(i); a.gone[i] {
			a.lost[i] = lost{e.units, e.linked, e.running}
		}
		if e.parent >= 0 {
			outer := &a.lost[e.parent]
			outer.units += a.lost[i].units
			outer.linked += a.lost[i].linked
			outer.running += a.lost[i].running
		}
	}
}

// left is the running text of an element without what is left out.
func (a *articleChoice) left(i int32) int32 { return a.elements[i].running - a.lost[i].running }

// noise are the hints of the survey that something is no part of an article.
const noise = hintNav | hintFoot | hintMenu | hintSide | hintAd | hintRelated | hintShare | hintCounter | hintConsent | hintForm

// maxByline is the least running text that is more than a line about the article.
const maxByline = 200

// isNoise reports whether an element is no part of an article, by its markup.
func (a *articleChoice) isNoise(i int32) bool {
	e, n, h := &a.elements[i], a.nodes[i], a.hints[i]
	switch {
	case h&hintHidden != 0:
		return true
	case h&hintVerbatim != 0, h&hintBody != 0 && e.running > 0:
		return false
	case h&hintControl != 0, e.notice:
		return true
	case n.Data == "form":
		return !e.heading && !e.article && 3*e.running <= a.total.running
	case inline[n.Data] && e.parent >= 0 && a.elements[e.parent].running > 0: // a word of a text
		return false
	case h&hintPart != 0:
		return false
	}
	named := h&hintNoise != 0 || h&hintByline != 0 && e.running < maxByline && n.Data != "table"
	return named || e.hints&noise != 0 && n.Data != "section"
}

// innermost is the innermost element that the article is in. Each has most of what the
// one around it has, and all of them most of what there is.
func (a *articleChoice) innermost() int32 {
	at := int32(0)
	for {
		best := int32(-1)
		a.eachChild(at, func(child int32) {
			if !a.gone[child] && (best < 0 || a.left(child) > a.left(best)) {
				best = child
			}
		})
		if best < 0 || 5*a.left(best) < 4*a.left(at) || 3*a.left(best) < 2*a.left(0) || a.isText(best) || a.hasTwin(at, best) {
			return at
		}
		at = best
	}
}

func (a *articleChoice) eachChild(i int32, do func(child int32)) {
	end := i + a.elements[i].size
	for child := i + 1; child < end; child += a.elements[child].size {
		do(child)
	}
}

// textElements are parts of a text.
var textElements = set("p ul ol dl blockquote")

// isText reports whether an element is a part of a text, with nothing but text in it.
func (a *articleChoice) isText(i int32) bool {
	name := a.nodes[i].Data
	return textElements[name] || inline[name] || a.hints[i]&hintVerbatim != 0
}

// hasTwin reports whether another element of the same class beside one has running
// text, too: articles are cut into pieces.
func (a *articleChoice) hasTwin(parent, i int32) bool {
	class, _ := attribute(a.nodes[i].Attr, "class")
	if class == "" {
		return false
	}
	found := false
	a.eachChild(parent, func(child int32) {
		if child != i && !a.gone[child] && a.left(child) >= leastRunning && a.nodes[child].Data == a.nodes[i].Data {
			other, _ := attribute(a.nodes[child].Attr, "class")
			found = found || other == class
		}
	})
	return found
}

// within keeps what is in an element and not left out.
func (a *articleChoice) within(at int32) []bool {
	kept := make([]bool, len(a.elements))
	var blocks []int32     // of links
	var links, until int32 // how much text they have, and where the last one ends
	for i, end := at, at+a.elements[at].size; i < end; i++ {
		if a.gone[i] {
			i += a.elements[i].size - 1
			continue
		}
		if i > at && i >= until && a.isLinks(i) {
			blocks = append(blocks, i)
			links += a.elements[i].units
			until = i + a.elements[i].size
		}
		kept[i] = true
	}
	if 3*links > a.elements[at].units { // the links make up the text
		return kept
	}
	for _, i := range blocks {
		clear(kept[i : i+a.elements[i].size])
	}
	return kept
}

// isTeasers reports whether an element leads elsewhere more than it says, or says little
// of what the page says: then the page has no article.
func (a *articleChoice) isTeasers(i int32) bool {
	units, own := a.said(i)
	_, all := a.said(0)
	return 2*own < units || 3*own < all
}

// said is how much text is left of an element, and how much of that in no links.
func (a *articleChoice) said(i int32) (units, own int32) {
	e, l := &a.elements[i], &a.lost[i]
	units = e.units - l.units
	return units, units - (e.linked - l.linked)
}

// isLinks reports whether a block has links and little else.
func (a *articleChoice) isLinks(i int32) bool {
	return !inline[a.nodes[i].Data] && a.hints[i]&(hintPart|hintVerbatim) == 0 && a.elements[i].isLinkList(1)
}

// leaveOutHeadline leaves out an <h1> before all running text, with what is before it.
func (a *articleChoice) leaveOutHeadline(kept []bool, at int32) {
	blocks := a.blocks(kept, at)
	for i, b := range blocks {
		switch {
		case b.running > 0:
			return
		case a.nodes[b.number].Data == "h1":
			a.drop(kept, blocks[:i+1])
			return
		}
	}
}

// textBlock is a block with text that is in no block within it.
type textBlock struct {
	number  int32
	running int32
}

// blocks lists the kept blocks with text of their own.
func (a *articleChoice) blocks(kept []bool, at int32) []textBlock {
	end := at + a.elements[at].size
	units, running := make([]int32, end-at), make([]int32, end-at) // of the blocks within each
	var all []textBlock
	for i := end - 1; i >= at; i-- {
		e := &a.elements[i]
		ownUnits, ownRunning := e.units-units[i-at], e.running-running[i-at]
		isBlock := breakOf(a.nodes[i].Data) == '\n'
		if kept[i] && isBlock && ownUnits > 0 {
			all = append(all, textBlock{i, ownRunning})
		}
		if i > at {
			p := e.parent - at
			if isBlock {
				units[p] += e.units
				running[p] += e.running
			} else {
				units[p] += units[i-at]
				running[p] += running[i-at]
			}
		}
	}
	slices.Reverse(all)
	return all
}

// drop leaves out the text of blocks, but not that of blocks within them.
func (a *articleChoice) drop(kept []bool, blocks []textBlock) {
	for _, b := range blocks {
		kept[b.number] = false
		for i, end := b.number+1, b.number+a.elements[b.number].size; i < end; i++ {
			if breakOf(a.nodes[i].Data) == '\n' {
				i += a.elements[i].size - 1
				continue
			}
			kept[i] = false
		}
	}
}

// keptWriter writes the text of some elements, in step with the survey.
type keptWriter struct {
	seen  *survey
	kept  []bool
	rules Rules
	next  int32 // the number of the next element
	line  line
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
		w.children(n, kept)
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
		w.line.add(text, false)
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
	text := w.rules.clean(w.line.trimmed())
	if w.record != nil {
		w.record.endLine(w.line.trimmed(), text, w.rules)
	}
	writeLine(&w.out, text)
	w.line.reset()
}
