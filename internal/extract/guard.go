package extract

import (
	"bytes"

	"golang.org/x/net/html"
)

// The algorithm by which browsers make a tree, html.Parse, can be made to cost
// gigabytes or minutes by a hundred kilobytes: each paragraph opens again all
// formatting that the one before left open, and each <body> is compared with the
// attributes of all before it. Pages for which that adds up are read tag by tag.
const (
	// maxTokens bounds tags and texts: a node takes about 150 bytes.
	maxTokens = 500_000
	// maxReopened bounds the formatting elements that are opened again.
	maxReopened = 500_000
	// maxRootAttributes bounds the attributes of all <html> and <body> tags.
	maxRootAttributes = 2_000
)

// formatting elements stay open until they are closed, across paragraphs (HTML
// 13.2.4.3).
var formatting = set("a b big code em font i nobr s small strike strong tt u")

// tooCostly reports whether a tree of the document might take too much time or
// memory. It takes time in proportion to the document, and next to no memory.
func tooCostly(decoded []byte) bool {
	tokens := html.NewTokenizer(bytes.NewReader(decoded))
	count, open, reopened, attributes := 0, 0, 0, 0
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return false
		}
		count++
		if count > maxTokens || reopened > maxReopened || attributes > maxRootAttributes {
			return true
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken && kind != html.EndTagToken {
			continue
		}
		name, more := tokens.TagName()
		switch {
		case formatting[string(name)] && kind == html.EndTagToken:
			open = max(open-1, 0)
		case formatting[string(name)]:
			open++
		case string(name) == "html", string(name) == "body":
			for more {
				_, _, more = tokens.TagAttr()
				attributes++
			}
		case !inline[string(name)]:
			reopened += open
		}
	}
}
