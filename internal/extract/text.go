package extract

import (
	"strings"

	"golang.org/x/net/html"
)

// names is a set of element names.
type names map[string]bool

func set(list string) names {
	s := names{}
	for _, name := range strings.Fields(list) {
		s[name] = true
	}
	return s
}

var (
	// unseen elements have no text that a reader sees.
	unseen = set("head script style template noframes noembed iframe title")
	// boilerplate elements surround the main text.
	boilerplate = set("nav header footer aside")
	// inline elements do not end a word; all others do.
	inline = set("a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rb s samp small span strike strong sub sup time tt u var wbr")
)

// mainText returns the text of a tree without its boilerplate or, if nothing is
// left then, with it.
func mainText(root *html.Node) string {
	if text := visibleText(root, boilerplate); text != "" {
		return text
	}
	return visibleText(root, nil)
}

func visibleText(root *html.Node, without names) string {
	var b strings.Builder
	writeText(&b, root, without)
	return collapse(b.String())
}

// writeText writes the text below a node. Its depth is bounded by the parser's
// limit of open elements.
func writeText(b *strings.Builder, n *html.Node, without names) {
	switch n.Type {
	case html.TextNode:
		b.WriteString(n.Data)
		return
	case html.ElementNode:
		if unseen[n.Data] || without[n.Data] || isHidden(n.Attr) {
			return
		}
		if !inline[n.Data] {
			b.WriteByte(' ')
			defer b.WriteByte(' ')
		}
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		writeText(b, child, without)
	}
}

// isHidden reports whether the hidden attribute is set; "until-found" is text
// that a search within the page opens.
func isHidden(attributes []html.Attribute) bool {
	value, ok := attribute(attributes, "hidden")
	return ok && !strings.EqualFold(value, "until-found")
}
