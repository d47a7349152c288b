package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// isWithinWords reports whether text stands directly before and after an element.
func isWithinWords(n *html.Node) bool {
	isWords := func(n *html.Node) bool {
		return n != nil && n.Type == html.TextNode && strings.ContainsFunc(n.Data, unicode.IsLetter)
	}
	return isWords(n.PrevSibling) && isWords(n.NextSibling)
}

// isSentence reports whether a block of links is a sentence with some words of its own, as "See the rules and
// the fees." with two links.
func isSentence(n *html.Node) bool {
	const leastLetters = 3
	letters, ends, looked := 0, false, 0
	n = onlyParagraph(n)
	for d := range n.Descendants() {
		if looked++; looked > mostLooked || d.Type == html.ElementNode && breakOf(d.Data) == '\n' {
			return false
		}
		text := strings.TrimSpace(d.Data)
		if d.Type != html.TextNode || text == "" {
			continue
		}
		if ends = !inLink(d, n); ends {
			for _, r := range text {
				if unicode.IsLetter(r) {
					letters++
				}
			}
			last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, `)"'”’»`))
			ends = strings.ContainsRune(".!?。！？", last)
		}
	}
	return ends && letters >= leastLetters
}

// inLink reports whether a node is in a link within a block.
func inLink(n, block *html.Node) bool {
	for n = n.Parent; n != nil && n != block; n = n.Parent {
		if n.Data == "a" {
			return true
		}
	}
	return false
}

// onlyParagraph returns the paragraph that is all of an item, or the item.
func onlyParagraph(n *html.Node) *html.Node {
	var only *html.Node
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch {
		case child.Type == html.TextNode && strings.TrimSpace(child.Data) == "":
		case child.Type == html.ElementNode && child.Data == "p" && only == nil:
			only = child
		default:
			return n
		}
	}
	if only == nil {
		return n
	}
	return only
}

// hasSentences reports whether half of the items of a list are sentences.
func hasSentences(list *html.Node) bool {
	if !textElements[list.Data] {
		return false
	}
	items, sentences := 0, 0
	for item := list.FirstChild; item != nil && items < mostLooked; item = item.NextSibling {
		if item.Data == "li" || item.Data == "dd" {
			items++
			if isSentence(item) {
				sentences++
			}
		}
	}
	return items > 0 && 2*sentences >= items
}
