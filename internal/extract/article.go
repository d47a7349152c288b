package extract

import (
	"slices"

	"golang.org/x/net/html"

	"recrawl/internal/crawl"
)

// Article returns the text of a page's article, each block on a line, without headline,
// bylines, comments and links to other pages. For a page without an article it returns the
// main text, and for one of which the crawl selects parts, these. See survey.article for
// what is left out.
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
	root, err := readTree(decoded, isXML(src))
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
	return mainText(root, s, rules, nil).text, nil
}

// articleText returns the text of a document's article, "" if it has none. The recorder, if
// there is one, notes what stays.
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

// article finds the elements of a surveyed document that hold the text of its article: for
// each number, whether the element's own text, outside of elements within it, is kept. It
// is nil for a page without an article, such as a list of links.
//
// The main text leaves out what some rule recognises. The article is chosen instead:
//
//  1. Navigation, asides, forms, and elements whose classes and ids name comments, related
//     links, sharing, adverts and the like are left out, but not asides and footers that
//     are notes of the text or stand out of it, boxes of running text in it, and an element with the headline and
//     most text of the page, unless others say it. So are comments below a heading that counts them. If next to nothing is left,
//     elements with a third of the running text stay all the same: then they are the
//     article. Menus, the page's foot, side columns and comments are none.
//  2. From the whole page, the choice moves inwards as long as one element has at least
//     four fifths of the running text that is left, and no similar element, paragraph, list
//     or section with running text stands beside it, no section below a heading of the same rank, and
//     no question beside its answers. It never moves into lists and paragraphs. A lead that it passes on its way from
//     the headline to the text is kept.
//  3. Within it, blocks of links are left out, unless they are sentences, declarations of a program, have
//     descriptions, or make up a third of it, and so
//     are captions, bylines, and the headline with everything before it. Lists and tables
//     go or stay as a whole. Code always stays, and so does a table with heads and a column
//     of text, though its other cells are links.
//
// An element with less than a tenth of the page's running text, or less than a third of
// what the first step leaves, is no article. Neither is one with more links than text. Then
// the page is one of comments, of short lines, or of teasers, unless it marks one element as its article.
func (s *survey) article(root *html.Node) []bool {
	if len(s.elements) == 0 {
		return nil
	}
	a := &articleChoice{survey: s, gone: make([]bool, len(s.elements)), lost: make([]lost, len(s.elements)), inner: s.content()}
	a.number(root, 0)
	a.findThreads()
	least := max(leastContent, s.total.running/10)
	a.leaveOut(s.total.running)
	if a.left(0) < least {
		a.leaveOut(s.total.running / 3)
	}
	i := a.innermost()
	if a.left(i) < least || a.isTeasers(i) {
		i, a.leads = a.marked(), nil
	}
	if i < 0 {
		return nil
	}
	kept := a.within(i)
	a.leaveOutHeadline(kept, i)
	a.keepLead(kept)
	return kept
}

// articleChoice chooses the article of a surveyed document.
type articleChoice struct {
	*survey
	// By number: the elements, the hints of their markup, and whether they are left out.
	nodes []*html.Node
	hints []articleHint
	gone  []bool
	lost  []lost
	inner int32   // the content, see survey.content
	leads []int32 // elements between the headline and the text
	pairs alike   // of links with their descriptions
	lists []bool  // from the article's first element on: whether they are lists of these
}

// lost counts the text that is left out of an element.
type lost struct{ units, linked, running int32 }

// number lists the elements as the survey numbered them. Its depth is bounded by the
// parser's limit of open elements.
func (a *articleChoice) number(n *html.Node, outer articleHint) {
	if n.Type == html.ElementNode {
		if n.Data == "template" || a.skips(n) {
			return
		}
		h := articleHintsOf(n) | outer&hintVerbatim
		if a.isNearlyAll(int32(len(a.nodes))) { // if it is hidden, a script shows it
			h &^= hintHidden
		}
		a.nodes, a.hints = append(a.nodes, n), append(a.hints, h)
		outer = h
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		a.number(child, outer)
	}
}

// leaveOut leaves out elements that are not part of an article, except those with more
// running text than most.
func (a *articleChoice) leaveOut(most int32) {
	clear(a.lost)
	for i := int32(len(a.elements)) - 1; i >= 0; i-- {
		e := &a.elements[i]
		if a.gone[i] = (e.running <= most || a.isFoot(i) || a.isBeside(i)) && a.isNoise(i); a.gone[i] {
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

// isBoxOfText reports whether a side column is a box of running text in the content, as
// books have them.
func (a *articleChoice) isBoxOfText(i int32) bool {
	e := &a.elements[i]
	return a.inner >= 0 && i > a.inner && i < a.inner+a.elements[a.inner].size && 10*e.running >= 7*e.units && 4*e.linked <= e.units
}

// isFoot reports whether an element is the foot or a menu of the page, which are no article however little
// else there is.
func (a *articleChoice) isFoot(i int32) bool {
	e := &a.elements[i]
	return e.hints&(hintNav|hintFoot) != 0 && !e.heading && !e.article
}

// isBeside reports whether an element has what others say, or is a side column, which are no article however little
// else there is.
func (a *articleChoice) isBeside(i int32) bool {
	e := &a.elements[i]
	return !e.heading && !e.article && (a.hints[i]&(hintOthers|hintThread) != 0 || a.nodes[i].Data == "aside" || hasClass(a.nodes[i], "sidebar", "widget-area"))
}

// left returns the amount of an element's running text that is not left out.
func (a *articleChoice) left(i int32) int32 { return a.elements[i].running - a.lost[i].running }

// noise are the hints of the survey that an element is not part of an article.
const noise = hintNav | hintFoot | hintMenu | hintSide | hintAd | hintRelated | hintShare | hintCounter | hintConsent | hintForm | hintVote

// maxByline is the least running text of an element that is more than a line about the article.
const maxByline = 200

// isNoise reports whether an element's markup says that it is not part of an article.
func (a *articleChoice) isNoise(i int32) bool {
	e, n, h := &a.elements[i], a.nodes[i], a.hints[i]
	switch {
	case h&(hintHidden|hintThread) != 0:
		return true
	case h&hintVerbatim != 0, h&hintBody != 0 && e.running > 0:
		return false
	case n.Data == "button" && e.parent >= 0 && a.elements[e.parent].running > 0 && isWithinWords(n):
		return false // a term that opens its explanation
	case n.Data == "button" && a.opensText(i):
		return false
	case h&hintControl != 0, e.notice:
		return true
	case h&hintInset != 0 && e.hints&(noise&^hintFoot) == 0 && 2*e.running <= a.total.running:
		return false
	case e.hints == hintSide && a.isBoxOfText(i):
		return false
	case n.Data == "form":
		return !e.heading && !e.article && 3*e.running <= a.total.running
	case inline[n.Data] && e.parent >= 0 && a.elements[e.parent].running > 0: // a word of a text
		return false
	case h&hintPart != 0:
		return false
	}
	others := h&hintOthers != 0 || e.hints&(hintConsent|hintForm|hintVote) != 0 && n.Data != "section"
	if !others && a.holdsPage(e) {
		return false
	}
	named := h&hintNoise != 0 || h&hintByline != 0 && e.running < maxByline && n.Data != "table"
	return others || named || e.hints&noise != 0 && n.Data != "section"
}

// holdsPage reports whether an element has most running text of the page, whatever its name: "above-footer", or a
// "teaser" that holds the whole story with its headline.
func (a *articleChoice) holdsPage(e *measure) bool {
	return e.heading && 2*e.running > a.total.running || a.title() < 0 && 3*e.running > 2*a.total.running
}

// opensText reports whether a button opens a text, as in a list of questions whose answers unfold: it is all of a
// heading or a term, or says that it opens something and running text follows it.
func (a *articleChoice) opensText(i int32) bool {
	_, opens := attribute(a.nodes[i].Attr, "aria-expanded")
	panel, _ := attribute(a.nodes[i].Attr, "aria-controls")
	for units := a.elements[i].units; units > 0; {
		parent := a.elements[i].parent
		if parent < 0 {
			return false
		}
		next := i + a.elements[i].size
		if next < parent+a.elements[parent].size && !a.gone[next] && a.left(next) >= leastRunning {
			id, _ := attribute(a.nodes[next].Attr, "id")
			if panel != "" && id == panel || panel == "" && opens && !textElements[a.nodes[next].Data] {
				return true
			}
		}
		if i = parent; a.elements[i].units != units {
			return false
		}
		if name := a.nodes[i].Data; isHeading(name) || name == "dt" || name == "summary" {
			return true
		}
	}
	return false
}

// innermost returns the innermost element that holds the article. Each element on the way
// has most of the text of the one around it, and of all the text.
func (a *articleChoice) innermost() int32 {
	at, title := int32(0), a.headline()
	for {
		best := int32(-1)
		a.eachChild(at, func(child int32) {
			if !a.gone[child] && (best < 0 || a.left(child) > a.left(best)) {
				best = child
			}
		})
		if best < 0 || 5*a.left(best) < 4*a.left(at) || 3*a.left(best) < 2*a.left(0) || a.isText(best) || a.hasTwin(at, best) || a.standsInText(at, best) {
			return at
		}
		a.findLead(title, at, best)
		at = best
	}
}

func (a *articleChoice) eachChild(i int32, do func(child int32)) {
	end := i + a.elements[i].size
	for child := i + 1; child < end; child += a.elements[child].size {
		do(child)
	}
}

// textElements are the elements that are parts of a text.
var textElements = set("p ul ol dl blockquote")

// isText reports whether an element is a part of a text, with only text in it.
func (a *articleChoice) isText(i int32) bool {
	name := a.nodes[i].Data
	return textElements[name] || inline[name] || a.hints[i]&hintVerbatim != 0
}

// standsInText reports whether paragraphs, lists or sections with running text stand directly beside an
// element: then it is one part of a text, such as the longest section of a manual's page.
func (a *articleChoice) standsInText(parent, i int32) bool {
	if a.hints[i]&hintBody != 0 {
		return false
	}
	found := false
	a.eachChild(parent, func(child int32) {
		name := a.nodes[child].Data
		isPart := textElements[name] || name == "section" || name == "pre" || isNotes(a.nodes[child])
		found = found || child != i && isPart && !a.gone[child] && a.left(child) >= leastRunning
	})
	return found
}

// within keeps the text in an element that is not left out.
func (a *articleChoice) within(at int32) []bool {
	kept := make([]bool, len(a.elements))
	tables := a.tablesOfText(at)
	var blocks []int32     // of links
	var links, until int32 // how much text they have, and where the last one ends
	for i, end := at, at+a.elements[at].size; i < end; i++ {
		if a.gone[i] {
			i += a.elements[i].size - 1
			continue
		}
		switch {
		case i <= at || i < until:
		case a.nodes[i].Data == "table" && tables[i-at] == a.elements[i].units && tables[i-at] > 0: // a whole
			until = i + a.elements[i].size
		case a.isLinks(i) && 2*tables[i-at] < a.elements[i].units && !a.lists[a.elements[i].parent-at]:
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

// tablesOfText returns, for each element from at on in it, how much text is in its lists of links with
// descriptions, which it notes, and in its tables that have heads and, in at least half of their rows, a cell of text without links
// beside another one.
func (a *articleChoice) tablesOfText(at int32) []int32 {
	type sum struct {
		units              int32 // of such tables
		heads, rows, texts int32 // of the table around it; rows have two cells or more
		cells              int32 // of the row around it
		text               bool  // one of these is text
	}
	size := a.elements[at].size
	sums, units := make([]sum, size), make([]int32, size)
	a.lists = make([]bool, size)
	for i := at + size - 1; i >= at; i-- {
		e, s := &a.elements[i], sums[i-at]
		switch a.nodes[i].Data {
		case "th":
			s = sum{units: s.units, heads: 1, cells: 1}
		case "td":
			s = sum{units: s.units, cells: 1, text: e.units > 0 && e.linked == 0}
		case "tr":
			row := sum{units: s.units, heads: s.heads}
			if s.cells > 1 {
				row.rows = 1
				if s.text {
					row.texts = 1
				}
			}
			s = row
		case "table":
			if s.heads > 0 && s.texts > 0 && 2*s.texts >= s.rows-1 { // one row may have the heads
				s.units = e.units
			}
			s = sum{units: s.units}
		}
		if a.lists[i-at] = 2*s.units < e.units && a.describes(i); a.lists[i-at] {
			s.units = e.units
		}
		if units[i-at] = s.units; i > at {
			outer := &sums[e.parent-at]
			outer.units += s.units
			outer.heads += s.heads
			outer.rows += s.rows
			outer.texts += s.texts
			outer.cells += s.cells
			outer.text = outer.text || s.text
		}
	}
	return units
}

// isTeasers reports whether an element has more links than text, or little of the page's
// text: then the page has no article.
func (a *articleChoice) isTeasers(i int32) bool {
	units, own := a.said(i)
	_, all := a.said(0)
	return 2*own < units || 3*own < all
}

// said returns how much text of an element is left, and how much of that is outside links.
func (a *articleChoice) said(i int32) (units, own int32) {
	e, l := &a.elements[i], &a.lost[i]
	units = e.units - l.units
	return units, units - (e.linked - l.linked)
}

// isLinks reports whether a block has links and little else.
func (a *articleChoice) isLinks(i int32) bool {
	return breakOf(a.nodes[i].Data) == '\n' && a.hints[i]&(hintPart|hintVerbatim) == 0 && a.elements[i].isLinkList(1) &&
		!isSentence(a.nodes[i]) && !isDeclaration(a.nodes[i]) && !hasClass(a.nodes[i], admonitions...) && !hasSentences(a.nodes[i])
}

// leaveOutHeadline leaves out an <h1> before all running text, with everything before it.
func (a *articleChoice) leaveOutHeadline(kept []bool, at int32) {
	blocks := a.blocks(kept, at)
	for i, b := range blocks {
		switch {
		case b.running > 0:
			return
		case a.isHeadline(a.nodes[b.number]):
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
