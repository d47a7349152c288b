package extract

import (
	"slices"

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
