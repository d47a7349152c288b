package extract

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// spellQuote puts quotation marks into a <q> that has none, and reports whether it did. Its author
// may have written them, where a style takes away those of the browser.
func spellQuote(q *html.Node, outer int) bool {
	const marks = "\"'`“”„‟‘’‚«»‹›「」『』〝〞〟＂"
	first, last := edgeText(q, false), edgeText(q, true)
	before, after := q.PrevSibling, q.NextSibling
	begins, _ := utf8.DecodeRuneInString(strings.TrimSpace(first))
	switch {
	case strings.TrimSpace(first) == "" || strings.TrimSpace(last) == "", strings.ContainsRune(marks, begins):
		return false
	case before != nil && before.Type == html.TextNode && strings.HasSuffix(before.Data, `"`), after != nil && after.Type == html.TextNode && strings.HasPrefix(after.Data, `"`):
		return false
	}
	mark := `"`
	if outer%2 == 1 {
		mark = "'"
	}
	q.InsertBefore(&html.Node{Type: html.TextNode, Data: mark}, q.FirstChild)
	q.AppendChild(&html.Node{Type: html.TextNode, Data: mark})
	return true
}

// edgeText returns the first or the last text in an element, if it is near.
func edgeText(n *html.Node, last bool) string {
	const most = 8 // nodes on the way
	for range most {
		child := n.FirstChild
		if last {
			child = n.LastChild
		}
		switch {
		case child == nil:
			return ""
		case child.Type == html.TextNode:
			return child.Data
		}
		n = child
	}
	return ""
}
