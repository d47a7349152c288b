package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// measure holds the figures of one visible element, its descendants included.
type measure struct {
	parent int32 // index of the element around it, -1 for the outermost
	size   int32 // number of elements, itself included
	sums
	hints   hint
	label   label // at the beginning of its text
	subject bool  // is a heading, a cell, a term, or an item of a list
	heading bool  // holds an <h1>
	main    bool  // holds a main part
	form    bool  // is or holds a form
	article bool  // is or holds an article
	body    bool  // is or holds an article of running text
	contact bool  // is or holds a link to a mail's address or a telephone
	notice  bool  // is a notice about cookies, by its text; see findNotice
	noticed bool  // is or holds one
	answers int32 // buttons and links in it that answer such a notice
	pressed bool  // is or holds a button that does
	further bool  // is or holds a link that tells more of it
}

// sums are the totals of a stretch of a document. Lengths are in units.
type sums struct {
	units, linked int32 // visible text, and that within links
	running       int32 // the lines of running text; see line.isRunning
	lines, links  int32 // counted
	paragraphs    int32 // lines of running text, counted
	// clear counts running text, and plain text within links, outside of suspects.
	clear, plain int32
	cookies      int32 // texts that speak of cookies
	told         int32 // those of them outside of links and answers
}

func (s sums) minus(start sums) sums {
	return sums{
		s.units - start.units, s.linked - start.linked, s.running - start.running,
		s.lines - start.lines, s.links - start.links, s.paragraphs - start.paragraphs,
		s.clear - start.clear, s.plain - start.plain, s.cookies - start.cookies, s.told - start.told,
	}
}

// survey measures a document in one walk and collects its references. The
// visible elements are numbered as they start, so that a subtree is an interval.
type survey struct {
	ignored   map[*html.Node]bool // by the crawl's rules
	collector collector
	elements  []measure
	open      []int32 // the open elements
	starts    []sums  // the totals when each of them started
	total     sums
	line      line // with no more text than a label may have
	inLink    int  // open links
	// suspects counts the open elements whose markup says that they are not main text, and
	// mains the open main parts.
	suspects, mains int
	// inside is the length of the text in main parts outside links, and outside the length
	// of the running text outside of suspects and main parts.
	inside, outside int32
	feet            sums // of the page's feet, one after the other
	openFeet        int
	// heading is the first <h1>, second the first <h2>, and longest the element
	// around the longest line of running text; all outside of suspects, and -1 if
	// there is none.
	heading, second, longest int32
	longestUnits             int
	// titled is the page's title where that is no <h1>, nil if there is none.
	titled    *html.Node
	root      *html.Node
	pageTitle string // of the page; "" until it is asked for
	smallAd   bool   // the title is named as that of an advert: the page is a small ad
	unshown   bool   // an element has the hidden attribute
	waits     bool   // these are read, too: all text is in them
}

// suspect are the hints that an element is not main text.
const suspect = hintNav | hintEdge | hintFoot | hintMenu | hintSide | hintAd | hintRelated | hintShare | hintCounter | hintConsent | hintVote

// surveyOf surveys a document. If all text of it is hidden, a script shows that, and it is read as if it were shown.
func surveyOf(root *html.Node, ignored map[*html.Node]bool) *survey {
	s := surveyed(root, ignored, false)
	if s.total.units == 0 && s.unshown {
		s = surveyed(root, ignored, true)
	}
	return s
}

func surveyed(root *html.Node, ignored map[*html.Node]bool, waits bool) *survey {
	s := &survey{root: root, ignored: ignored, waits: waits, line: line{most: maxLabel + utf8.UTFMax}, heading: -1, second: -1, longest: -1}
	s.walk(root, PlaceBody)
	s.endLine()
	return s
}

// walk visits a node. Its depth is bounded by the parser's limit of open
// elements.
func (s *survey) walk(n *html.Node, place Place) {
	switch n.Type {
	case html.TextNode:
		s.text(n.Data)
	case html.ElementNode:
		if n.Data == "template" { // inert: not part of the document
			return
		}
		s.element(n, place)
	default:
		s.children(n, place)
	}
}

func (s *survey) children(n *html.Node, place Place) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		s.walk(child, place)
	}
}

func (s *survey) element(n *html.Node, place Place) {
	place = place.within(n.Data, n.Attr)
	isLink := s.collector.start(n.Data, n.Attr, place)
	if s.skips(n) {
		s.unshown = s.unshown || isHidden(n)
		s.unseen(n, place)
	} else {
		s.visible(n, place)
	}
	if isLink {
		s.collector.end()
	}
}

// skips reports whether an element has no visible text, or none that is not read already.
func (s *survey) skips(n *html.Node) bool {
	return isUnseen(n) || isHidden(n) && !s.waits || s.ignored[n] || isFormulaAgain(n, s.ignored) || isData(n)
}

// isMeasured reports whether a node is an element that the survey numbers.
func (s *survey) isMeasured(n *html.Node) bool {
	return n.Type == html.ElementNode && n.Data != "template" && !s.skips(n)
}

// visitor takes what visit finds: texts, and elements that the survey numbers. It goes below
// an element by visitBelow.
type visitor interface {
	text(*html.Node)
	element(*html.Node)
}

// visit visits a node in step with the walk that made the survey. Its depth is bounded by the
// parser's limit of open elements.
func (s *survey) visit(n *html.Node, v visitor) {
	switch {
	case n.Type == html.TextNode:
		v.text(n)
	case n.Type != html.ElementNode:
		s.visitBelow(n, v)
	case s.isMeasured(n):
		v.element(n)
	}
}

// visitBelow visits the children of a node.
func (s *survey) visitBelow(n *html.Node, v visitor) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		s.visit(child, v)
	}
}

// unseen looks for references only.
func (s *survey) unseen(n *html.Node, place Place) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch {
		case child.Type == html.TextNode:
			s.collector.text(child.Data)
		case child.Type == html.ElementNode && child.Data != "template":
			place := place.within(child.Data, child.Attr)
			isLink := s.collector.start(child.Data, child.Attr, place)
			s.unseen(child, place)
			if isLink {
				s.collector.end()
			}
		}
	}
}

func (s *survey) visible(n *html.Node, place Place) {
	s.breakText(breakBefore(n))
	i := s.begin(n)
	s.children(n, place)
	if labelling[n.Data] && s.line.units > 0 {
		s.setLabel(labelOf(s.line.trimmed()))
	}
	s.breakText(breakOf(n.Data))
	s.finish(i, n)
}

// labelling elements may be the label at the start of a line, as block elements may label
// the lines after theirs. Emphasised text is no label: articles on advertising begin that
// way.
var labelling = set("span small font label")

// subjects are elements whose text is what the next is about.
var subjects = set("h1 h2 h3 h4 h5 h6 td th dt dd li")

// begin opens an element and returns its number.
func (s *survey) begin(n *html.Node) int32 {
	i := int32(len(s.elements))
	m := measure{parent: -1, hints: hintsOf(n)}
	if len(s.open) > 0 {
		m.parent = s.open[len(s.open)-1]
	}
	if isLink(n.Data, n.Attr) {
		s.inLink++
		s.total.links++
	}
	if m.hints&suspect != 0 {
		s.suspects++
	}
	if m.hints&hintFoot != 0 {
		s.openFeet++
	}
	if m.main = m.hints&hintMain != 0; m.main {
		s.mains++
	}
	m.subject = subjects[n.Data]
	if m.hints&hintEdge != 0 && s.titled == nil {
		s.titled = s.titleOfHeader(n)
	}
	m.heading = s.isHeadline(n)
	m.form = n.Data == "form" || n.Data == "input"
	m.article = m.hints&content != 0
	m.contact = isContact(n)
	s.smallAd = s.smallAd || n.Data == "h1" && (m.hints&hintAd != 0 || m.parent >= 0 && s.elements[m.parent].hints&hintAd != 0)
	switch {
	case s.suspects > 0:
	case n.Data == "h1" && s.heading < 0:
		s.heading = i
	case n.Data == "h2" && s.second < 0:
		s.second = i
	}
	s.elements = append(s.elements, m)
	s.open, s.starts = append(s.open, i), append(s.starts, s.total)
	return i
}

// finish closes the innermost element.
func (s *survey) finish(i int32, n *html.Node) {
	m := &s.elements[i]
	depth := len(s.open) - 1
	m.size = int32(len(s.elements)) - i
	m.sums = s.total.minus(s.starts[depth])
	s.open, s.starts = s.open[:depth], s.starts[:depth]
	if m.hints&hintFoot != 0 {
		if s.openFeet--; s.openFeet == 0 {
			s.feet.units += m.units
			s.feet.linked += m.linked
		}
	}
	m.body = m.body || m.hints&content != 0 && m.running >= leastContent
	s.findNotice(m, n)
	if m.parent >= 0 {
		parent := &s.elements[m.parent]
		parent.heading = parent.heading || m.heading
		parent.main = parent.main || m.main
		parent.form = parent.form || m.form
		parent.article = parent.article || m.article
		parent.body = parent.body || m.body
		parent.contact = parent.contact || m.contact
		parent.noticed = parent.noticed || m.noticed
		parent.answers += m.answers
		parent.pressed = parent.pressed || m.pressed
		parent.further = parent.further || m.further
	}
	if isLink(n.Data, n.Attr) {
		s.inLink--
	}
	if m.hints&suspect != 0 {
		s.suspects--
	}
	if m.hints&hintMain != 0 {
		s.mains--
	}
}

func (s *survey) text(text string) {
	s.collector.text(text)
	if mentionsCookies(text) {
		s.total.cookies++
		if s.inLink == 0 {
			s.total.told++
		}
	}
	n := s.line.add(text, s.inLink > 0)
	s.total.units += int32(n)
	if s.inLink > 0 {
		s.total.linked += int32(n)
		if s.suspects == 0 {
			s.total.plain += int32(n)
		}
	} else if s.mains > 0 {
		s.inside += int32(n)
	}
}

func (s *survey) breakText(space byte) {
	switch space {
	case '\n':
		s.endLine()
	case ' ':
		s.line.space()
	}
	if space != 0 {
		s.collector.space()
	}
}

// endLine adds up the line.
func (s *survey) endLine() {
	if s.line.units == 0 {
		s.line.reset()
		return
	}
	s.setLabel(labelOf(s.line.trimmed()))
	s.total.lines++
	if s.line.isRunning() {
		n := s.line.units
		s.total.running += int32(n)
		s.total.paragraphs++
		if s.suspects == 0 {
			s.endClear(n)
		}
	}
	s.line.reset()
}

// endClear adds up a line of running text that is in no suspect.
func (s *survey) endClear(units int) {
	s.total.clear += int32(units)
	if s.mains == 0 {
		s.outside += int32(units)
	}
	if units > s.longestUnits && len(s.open) > 0 {
		s.longest, s.longestUnits = s.open[len(s.open)-1], units
	}
}

// setLabel labels the open elements whose text begins with the line. What a heading, a cell,
// a term or an item of a list says of adverts is a subject, and no label of what is around it.
func (s *survey) setLabel(l label) {
	if l == labelNone || l == labelAd && s.line.linked > 0 {
		return
	}
	for depth := len(s.open) - 1; depth >= 0 && s.starts[depth].lines == s.total.lines; depth-- {
		e := &s.elements[s.open[depth]]
		if l == labelAd && e.subject {
			return
		}
		e.label = l
	}
}

// leastContent is the least length of running text that marks the place of a page's
// content: two or three sentences.
const leastContent = 250

// title returns the first heading, -1 if there is none.
func (s *survey) title() int32 {
	if s.heading >= 0 {
		return s.heading
	}
	return s.second
}

// content returns the innermost element around the title, or else around the longest line
// of running text, that holds at least half of the running text outside of suspects; -1 for
// a page that has hardly any, such as a list of links.
func (s *survey) content() int32 {
	least := max(leastContent, s.total.clear/2)
	i := s.title()
	if i < 0 {
		i = s.longest
	}
	for i >= 0 && s.elements[i].clear < least {
		i = s.elements[i].parent
	}
	return i
}

// isLongest reports whether an element has the longest running text of the page: more than
// all text outside of suspects.
func (s *survey) isLongest(e *measure) bool {
	return e.running >= leastContent && e.running > s.total.clear
}

// isHub reports whether there are more links around the content than there is content,
// outside of suspects: a page of links with an introduction.
func (s *survey) isHub(content int32) bool {
	return content < 0 || s.total.plain-s.elements[content].plain > s.elements[content].clear
}

// trustsMain reports whether the parts marked as main are believed to be: a page may have
// at most twice as much running text around them, outside of suspects.
func (s *survey) trustsMain() bool { return s.inside > 0 && s.outside <= 2*s.inside }

// isPage reports whether an element is most of the page, whatever its name: the tag that ends a head is
// missing, or stands elsewhere than its author thinks. Feet of the page do not count.
func (s *survey) isPage(e *measure) bool {
	const leastOwn = 150
	own, units, all := e.units-e.linked, s.total.units-s.feet.units, s.total.units-s.total.linked-(s.feet.units-s.feet.linked)
	return own >= leastOwn && 2*e.units >= units && 3*own >= 2*all
}

// hasAllText reports whether an element has nearly all running text of the page.
func (s *survey) hasAllText(e *measure) bool {
	return s.isPage(e) && e.running >= leastContent && 10*e.running >= 9*s.total.running
}

// isContact reports whether an element is a link to a mail's address or a telephone.
func isContact(n *html.Node) bool {
	if n.Data != "a" {
		return false
	}
	href := strings.TrimSpace(valueOf(n, "href"))
	return hasScheme(href, "mailto:") || hasScheme(href, "tel:") || strings.Contains(href, coveredMails)
}

// isFigure reports whether an element says how large something is: it has the sign of a share or of a currency.
func isFigure(n *html.Node) bool {
	const most = 4 * maxLabel // bytes of a text
	looked := 0
	for d := range n.Descendants() {
		if looked++; looked > mostLooked {
			break
		}
		if d.Type == html.TextNode && strings.ContainsFunc(d.Data[:min(len(d.Data), most)], func(r rune) bool { return r == '%' || r == '‰' || unicode.Is(unicode.Sc, r) }) {
			return true
		}
	}
	return false
}

// isCount reports whether an element may count something: it has a digit, and no sign of a share or of a currency.
func isCount(n *html.Node) bool {
	return strings.ContainsFunc(shortText(n), unicode.IsDigit) && !isFigure(n)
}

// isDepartment reports whether an element is no advert, though it begins with the word: it says whom to write to or to
// call about adverts.
func (e *measure) isDepartment() bool {
	return e.label == labelAd && e.contact && e.units <= maxLabelledAd
}

// isDialog reports whether an element is a window of its own, which may hide the whole page.
func isDialog(n *html.Node) bool {
	role, _ := attribute(n.Attr, "role")
	return n.Data == "dialog" || strings.Contains(strings.ToLower(role), "dialog")
}
