package extract

import (
	"strings"

	"golang.org/x/net/html"
)

// mainText returns the text of a document without its boilerplate, each block on a line,
// and the same without links. It is whole if no main text was found, and the text is all
// visible text.
//
// The rules leave out blocks and never choose one, so a change of one block moves no other
// in or out. Blocks that no rule recognises stay: too much text costs a false change, too
// little hides a true one.
//
//  1. Navigation and page footers are left out, by their element, role or class. Of page
//     headers and asides only running text and first-level headings stay; of a header with
//     the text's own title only links go. In an article headers, footers and asides are part
//     of it, and notes and warnings are everywhere.
//  2. If a part is marked as main (<main>, role=main), only running text and first-level
//     headings stay outside of it, unless most running text is there.
//  3. An element whose class or id names an advert, related links, a menu, sharing, a
//     counter, a notice about cookies, a question whether the page helped, or a form for
//     comments or newsletters is left out if it is as short, or as full of links, as such a
//     thing is. Of side columns only links are left out, and of a box of running text in the
//     content nothing. An article and the longest running text of the page stay, whatever
//     their names. A short notice about cookies without such a class is left out if its
//     buttons show what it is.
//     On a page of text, related links go with what is said of each.
//  4. Blocks that a label in the text calls advertisement or related links are left out
//     too, except the latest news of a page of links, and what says whom to write to about adverts.
//     So are lines in which such labels as "Next:" and "Up:" stand before links.
//  5. On a page of running text, lines of links outside of the content are left out, except
//     in tables of facts, and on any page lines of short links before the first heading.
//
// The recorder, if there is one, notes what stays.
func mainText(root *html.Node, s *survey, rules Rules, r *recorder) mainPart {
	content := s.content()
	c := composer{survey: s, rules: rules, record: r, content: content, hub: s.isHub(content), onlyMain: s.trustsMain()}
	c.walk(root, modeAll)
	c.endLine(modeAll)
	// Next to nothing is left of a page whose content is marked as navigation, or made by
	// scripts.
	if c.kept > 0 && 20*c.kept >= int(s.total.units) {
		return c.part()
	}
	r.restart()
	c = composer{survey: s, rules: rules, record: r, whole: true}
	c.walk(root, modeAll)
	c.endLine(modeAll)
	return c.part()
}

// mainPart is the main text of a document; see mainText.
type mainPart struct {
	text, own string
	whole     bool
	looks     []Look
}

func (c *composer) part() mainPart {
	return mainPart{c.text.String(), c.own.String(), c.whole, c.looks.all}
}

// Sizes up to which an element is believed not to be main text, in units.
const (
	maxAd         = 1500 // an element whose class says advert
	maxLabelledAd = 400  // one whose text says so
	maxShare      = 120
	maxCounter    = 40
	maxConsent    = 1500
	maxForm       = 400
	maxVote       = 300
)

// mode says which lines are kept.
type mode uint8

const (
	modeAll     mode = iota
	modeNoMenus      // without those of links of a word or two
	modeNoLinks      // without those that are mostly links
	modeRunning      // running text, and those of an <h1>
)

// composer writes the text of a surveyed document in a second walk, in step with
// the first.
type composer struct {
	*survey
	rules    Rules
	record   *recorder // nil for visits, which need only the text
	content  int32     // see survey.content
	hub      bool      // see survey.isHub
	onlyMain bool      // see survey.trustsMain
	whole    bool      // nothing is left out

	next     int32 // the number of the next element
	line     line
	inLink   int
	subjects int // open headings, cells and the like, of a line each, and departments
	articles int // open articles, main parts and sections, which may have a head and a foot
	facts    int // open tables of facts
	ads      int // open elements that a class calls an advert, and that are none: a small ad has an "ad-price"
	mains    int
	text     strings.Builder
	own      strings.Builder // text without the text of links
	kept     int             // units
	adverts  alike
	cards    alike
	offers   alike
	looks    looks
}

func (c *composer) walk(n *html.Node, m mode) {
	switch {
	case n.Type == html.TextNode:
		if c.record != nil {
			c.record.text(n.Data, len(c.line.text))
		}
		c.line.add(n.Data, c.inLink > 0)
		if m == modeAll {
			c.looks.text(n.Data)
		}
	case n.Type != html.ElementNode:
		c.children(n, m)
	case c.isMeasured(n):
		c.element(n, m)
	}
}

// children walks over a node's children. Lists of links after a heading for related links
// are left out with it, if both are in one element with other text. A label without such a
// list heads nothing, and may say "popular" of a product.
func (c *composer) children(n *html.Node, m mode) {
	related, headed := false, false // headed: by the element before
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if c.whole || !c.isMeasured(child) {
			c.walk(child, m)
			continue
		}
		e := &c.elements[c.next]
		if e.units > 0 {
			related = related && (e.isLinkList(1) || headed && c.areTeasers(child, c.next))
			headed = false
		}
		if related {
			c.leaveOut(child, m)
			continue
		}
		if related = c.isRelated(e.label) && e.lines == 1; related && c.beforeLinks(child, c.next+e.size) {
			headed = true
			c.leaveOut(child, m)
			continue
		}
		c.element(child, m)
	}
}

// beforeLinks reports whether the next element with text after a node is a list of links; i
// is the number of that beside the node.
func (c *composer) beforeLinks(n *html.Node, i int32) bool {
	for next := n.NextSibling; next != nil; next = next.NextSibling {
		switch {
		case !c.isMeasured(next):
			continue
		case c.elements[i].units > 0:
			return c.elements[i].isLinkList(1) || c.areTeasers(next, i)
		}
		i += c.elements[i].size
	}
	return false
}

// leaveOut skips an element, which still ends a word or a line.
func (c *composer) leaveOut(n *html.Node, m mode) {
	if breakOf(n.Data) == '\n' {
		c.endLine(m)
	}
	c.line.space()
	if c.record != nil {
		c.record.leaveOut(c.next)
	}
	c.next += c.elements[c.next].size
}

func (c *composer) element(n *html.Node, m mode) {
	i := c.next
	e := &c.elements[i]
	if !c.whole {
		drops, inner := c.judge(n, i, m)
		if drops {
			c.leaveOut(n, m)
			return
		}
		outer := m
		m = inner
		if m != outer {
			c.endLine(outer)
			defer c.endLine(m)
		}
	}
	c.next++
	c.breakText(breakBefore(n), m)
	if c.record != nil {
		c.record.element(n, m == modeAll)
	}
	c.enter(n, e, 1)
	if m == modeAll {
		c.looks.start(n, c.at())
	}
	from := len(c.line.text)
	c.children(n, m)
	if m == modeAll {
		c.raised(n, from)
		c.looks.end(n, c.since)
	}
	if c.isHeadline(n) {
		c.endLine(modeAll)
	}
	c.breakText(breakOf(n.Data), m)
	c.enter(n, e, -1)
}

// judge reports whether an element is left out, and otherwise the mode of what is in it.
func (c *composer) judge(n *html.Node, i int32, outer mode) (drops bool, inner mode) {
	e := &c.elements[i]
	if e.hints&(hintEdge|hintFoot) != 0 && c.articles == 0 && c.inCard(n, e) {
		c.articles++
		defer func() { c.articles-- }()
	}
	return c.drops(n, i), c.modeOf(n, i, outer)
}

// enter counts the open elements up and down.
func (c *composer) enter(n *html.Node, e *measure, by int) {
	if isLink(n.Data, n.Attr) {
		c.inLink += by
		c.line.links += max(by, 0)
	}
	if e.subject && e.lines <= 1 || e.isDepartment() {
		c.subjects += by
	}
	if e.hints&(hintArticle|hintMain) != 0 || c.isSection(n, e) {
		c.articles += by
	}
	if e.hints&hintMain != 0 {
		c.mains += by
	}
	if isFacts(n, e) {
		c.facts += by
	}
	if e.hints&hintAd != 0 && e.units <= maxAd {
		c.ads += by
	}
}

// isSection reports whether an element is a section of the page's text: a header or footer in
// it is its own, and not that of the page (HTML, section 4.3). A section around half of the
// page may be all of it.
func (c *composer) isSection(n *html.Node, e *measure) bool {
	return n.Data == "section" && 2*e.units < c.total.units
}

func (c *composer) breakText(space byte, m mode) {
	switch space {
	case '\n':
		c.endLine(m)
	case ' ':
		c.line.space()
	}
}

// endLine writes the line if the mode keeps it.
func (c *composer) endLine(m mode) {
	defer c.line.reset()
	l := &c.line
	var text []byte
	if c.keepsLine(m) {
		text = c.rules.clean(l.trimmed())
	}
	if c.record != nil {
		c.record.endLine(l.trimmed(), text, c.rules)
	}
	c.looks.endLine(text)
	if len(text) == 0 {
		return
	}
	own := c.rules.clean(l.withoutLinks())
	writeLine(&c.text, text)
	writeLine(&c.own, own)
	c.kept += l.units
}

// keepsLine reports whether a mode keeps the line.
func (c *composer) keepsLine(m mode) bool {
	l := &c.line
	switch {
	case m == modeNoMenus && l.isMenu(), m == modeNoLinks && c.facts == 0 && l.isMostlyLinks(), m == modeRunning && !l.isRunning(),
		!c.whole && c.subjects == 0 && l.linked == 0 && labelOf(l.trimmed()) == labelAd,
		!c.whole && c.facts == 0 && l.isPager():
		return false
	}
	return true
}

// writeLine adds a line to a text, unless it is empty.
func writeLine(b *strings.Builder, line []byte) {
	if len(line) == 0 {
		return
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.Write(line)
}

// modeOf returns the mode of an element within one that has the mode outer.
func (c *composer) modeOf(n *html.Node, i int32, outer mode) mode {
	e := &c.elements[i]
	switch {
	case n == c.titled:
		return modeAll
	case c.onlyMain && c.mains == 0:
		if e.hints&hintMain != 0 {
			return modeAll
		}
		return modeRunning
	case e.main || c.holdsContent(i):
		return outer
	case e.hints&hintEdge != 0 && c.articles == 0 && !(c.isPage(e) && !isDialog(n)):
		if e.heading && c.isTitleHeader(n, e) {
			return max(outer, modeNoLinks)
		}
		return max(outer, modeRunning)
	case e.hints&hintSide != 0 && !c.isBox(i), !c.hub && c.isOutside(i):
		return max(outer, modeNoLinks)
	case i+e.size <= c.title():
		return max(outer, modeNoMenus)
	}
	return outer
}

// isBox reports whether a side column is a box of running text in the content.
func (c *composer) isBox(i int32) bool {
	e := &c.elements[i]
	return c.holds(c.content, i) && 2*e.running >= e.units
}

// isFacts reports whether an element is a table of facts: one with heads, most of whose text is
// no link. A cell of it that is a link is a fact, too.
func isFacts(n *html.Node, e *measure) bool {
	return n.Data == "table" && 2*e.linked < e.units && hasHeads(n)
}

// mostLooked bounds the nodes that are looked at for the beginning of an element.
const mostLooked = 100

// hasHeads reports whether the first row of a table has a head.
func hasHeads(table *html.Node) bool {
	cell := within(table, func(n *html.Node) bool { return n.Data == "th" || n.Data == "td" })
	return cell != nil && cell.Data == "th"
}

// isTitleHeader reports whether a header is that of the text rather than of the site: its <h1> is
// no link, as the name of a site is, and it has hardly any links; or a lower heading follows
// the <h1>, as in manuals that begin with a section in the header.
func (s *survey) isTitleHeader(header *html.Node, e *measure) bool {
	const most = 3 // links
	title := within(header, s.isHeadline)
	if title == nil {
		return false
	}
	isLink := func(n *html.Node) bool { return n.Data == "a" }
	if e.links <= most && !isLink(title.Parent) && within(title, isLink) == nil {
		return true
	}
	looked := 0
	for next := title.NextSibling; next != nil && looked <= mostLooked; next = next.NextSibling {
		if looked++; next.Type == html.ElementNode && isHeading(next.Data) && next.Data != "h1" {
			return true
		}
	}
	return false
}

// within returns the first of the elements near the beginning of another one that is wanted.
func within(n *html.Node, wanted func(*html.Node) bool) *html.Node {
	looked := 0
	for d := range n.Descendants() {
		if looked++; looked > mostLooked {
			break
		}
		if d.Type == html.ElementNode && wanted(d) {
			return d
		}
	}
	return nil
}

// holds reports whether an element, -1 for none, is around another one.
func (c *composer) holds(outer, i int32) bool {
	return outer >= 0 && i > outer && i < outer+c.elements[outer].size
}

// holdsContent reports whether an element holds the content.
func (c *composer) holdsContent(i int32) bool {
	return c.content >= i && c.content < i+c.elements[i].size
}

// isOutside reports whether an element is neither around the content nor in it.
func (c *composer) isOutside(i int32) bool {
	return c.content >= 0 && !c.holdsContent(i) && (i < c.content || i >= c.content+c.elements[c.content].size)
}

// drops reports whether an element is boilerplate as a whole.
func (c *composer) drops(n *html.Node, i int32) bool {
	e := &c.elements[i]
	if e.main || c.holdsContent(i) {
		return false
	}
	h := e.hints
	if c.hasAllText(e) {
		h &^= hintNav
	}
	switch {
	case h&hintNav != 0:
		return true
	case e.heading:
		return false
	case h&hintFoot != 0 && c.articles == 0,
		h&hintAd != 0 && e.units <= maxAd && c.ads == 0 && !c.smallAd && !e.contact && !e.article && !c.isLongest(e) && !c.adverts.areItems(n),
		h&hintRelated != 0 && (3*e.linked >= e.units || c.areTeasers(n, i)) && !c.isOffer(n, e) && !e.body && !c.isLongest(e),
		h&hintMenu != 0 && e.running == 0 && 10*e.linked >= 8*e.units,
		h&hintShare != 0 && e.running == 0 && e.units <= maxShare && !isFigure(n),
		h&hintCounter != 0 && e.units <= maxCounter && isCount(n),
		h&hintConsent != 0 && e.units <= maxConsent && !c.isLongest(e),
		e.notice && 4*e.units <= c.total.units && !c.isLongest(e),
		h&hintVote != 0 && e.running == 0 && e.units <= maxVote && !e.article,
		h&hintForm != 0 && e.form && !e.article && e.units <= maxForm,
		h&(hintEdge|hintFoot) != 0 && c.articles > 0 && e.isLinkList(2),
		e.label == labelAd && !e.contact && e.links > 0 && e.units <= maxLabelledAd && e.paragraphs <= 1,
		c.isRelated(e.label) && (e.links > 1 && e.running == 0 && 2*e.linked >= e.units || c.areTeasers(n, i)):
		return true
	}
	return false
}

// isLinkList reports whether an element has some links and little else.
func (e *measure) isLinkList(least int32) bool {
	return e.links >= least && e.running == 0 && 10*e.linked >= 6*e.units
}
