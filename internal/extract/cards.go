package extract

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// inCard reports whether an element is the head or foot of one of several cards: of three alike, or beside one with such
// a part too.
func (c *composer) inCard(n *html.Node, e *measure) bool {
	const most = 3 // elements up
	part := n
	for i := 0; i < most && e.parent >= 0 && n.Parent != nil; i++ {
		n, e = n.Parent, &c.elements[e.parent]
		isItem := n.Data == "div" || n.Data == "li"
		switch {
		case e.hints&suspect != 0:
			return false
		case isItem && hasTwinWith(n, part):
			return true
		case 2*e.units >= c.total.units:
			return false
		case isItem && c.cards.areItems(n):
			return true
		}
	}
	return false
}

// isOffer reports whether an element whose class says related, popular or recommended is the one of some offers that it
// recommends: it has a price and a link at most, and is not one of several alike.
func (c *composer) isOffer(n *html.Node, e *measure) bool {
	return e.links == 0 || e.links == 1 && isFigure(n) && !c.offers.areItems(n)
}

// areTeasers reports whether an element on a page of text ends with teasers of other pages: items alike, each with a link
// for its title, and with hardly more than a paragraph a link. Comments begin with links, too, but to who wrote them.
func (c *composer) areTeasers(n *html.Node, i int32) bool {
	const longest = 400 // units a link
	e := &c.elements[i]
	switch {
	case c.hub || e.main || e.heading || e.body || c.holdsContent(i) || c.isLongest(e),
		e.links < 2 || e.paragraphs > e.links || e.units > longest*e.links, articleHintsOf(n)&hintOthers != 0:
		return false
	}
	item := within(n, func(item *html.Node) bool {
		next := nextElement(item)
		return next != nil && next.Data == item.Data && firstClass(next) == firstClass(item) && isTeaser(item) && isTeaser(next)
	})
	if item == nil {
		return false
	}
	const short = 24 // bytes: "More articles"
	looked := 0
	for list := item.Parent; list != n; list = list.Parent {
		for beside := range list.Parent.ChildNodes() {
			if beside == list || beside.Type != html.ElementNode || isHeading(beside.Data) {
				continue
			}
			if looked++; looked > mostLooked || len(shortText(beside)) > short {
				return false
			}
		}
	}
	return true
}

func nextElement(n *html.Node) *html.Node {
	for n = n.NextSibling; n != nil && n.Type != html.ElementNode; n = n.NextSibling {
	}
	return n
}

// isTeaser reports whether a block begins with a link, or has a heading that is one, as long as a title.
func isTeaser(n *html.Node) bool {
	const least = 12 // units
	if n.Data == "p" || isHeading(n.Data) || breakOf(n.Data) != '\n' {
		return false
	}
	isTitle := func(text string) bool { return new(line).add(text, false) >= least }
	looked := 0
	for d := range n.Descendants() {
		if looked++; looked > mostLooked {
			break
		}
		if d.Type == html.TextNode && strings.TrimSpace(d.Data) != "" {
			if inLink(d, n) && isTitle(shortText(d.Parent)) {
				return true
			}
			break
		}
	}
	return within(n, func(d *html.Node) bool {
		isLink := func(a *html.Node) bool { return a.Data == "a" }
		return isHeading(d.Data) && isTitle(shortText(d)) && (inLink(d, n) || within(d, isLink) != nil)
	}) != nil
}

// hasTwinWith reports whether a neighbour of a card is a card of the same kind, with a part of the same
// class.
func hasTwinWith(card, part *html.Node) bool {
	const near = 4 // nodes on each side, with the white space between elements
	kind, class := firstClass(card), valueOf(part, "class")
	if class == "" || kind == "" && card.Data != "li" {
		return false
	}
	isTwin := func(n *html.Node) bool {
		return n.Data == card.Data && firstClass(n) == kind && within(n, func(d *html.Node) bool {
			return d.Data == part.Data && valueOf(d, "class") == class
		}) != nil
	}
	next, prev := card.NextSibling, card.PrevSibling
	for range near {
		if next != nil && isTwin(next) || prev != nil && isTwin(prev) {
			return true
		}
		if next != nil {
			next = next.NextSibling
		}
		if prev != nil {
			prev = prev.PrevSibling
		}
	}
	return false
}

// alike finds the items of lists without an element for them: it tells adverts from the items
// of a page of small ads.
type alike struct {
	parent *html.Node
	class  string
	items  bool
}

// areItems reports whether an element is one of several alike: at least three, and most of
// the looked-at children of the element around them.
func (a *alike) areItems(n *html.Node) bool {
	class, _ := attribute(n.Attr, "class")
	if n.Parent == nil || class == "" {
		return false
	}
	if a.parent != n.Parent || a.class != class {
		const most = 200
		same, all := 0, 0
		for sibling := n.Parent.FirstChild; sibling != nil && all < most; sibling = sibling.NextSibling {
			if sibling.Type != html.ElementNode {
				continue
			}
			all++
			if sibling.Data == n.Data && slices.ContainsFunc(sibling.Attr, func(at html.Attribute) bool { return at.Key == "class" && at.Val == class }) {
				same++
			}
		}
		*a = alike{parent: n.Parent, class: class, items: same >= 3 && 10*same >= 6*all}
	}
	return a.items
}
