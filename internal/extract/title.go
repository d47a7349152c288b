package extract

import (
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

// titleElements may be titles by their class, as Doxygen writes a page's.
var titleElements = set("div p span td strong b")

// titleOfHeader returns the page's title in a header that has no <h1>: the element of the class
// "title" that says what <title> says, or a part of that, and is no link to the site's front; nil if
// there is none. In Doxygen's own header it need not: its users change the <title>.
func (s *survey) titleOfHeader(header *html.Node) *html.Node {
	if within(header, func(n *html.Node) bool { return n.Data == "h1" }) != nil {
		return nil
	}
	found := within(header, func(n *html.Node) bool {
		return titleElements[n.Data] && hasClass(n, "title", "page-title", "pagetitle")
	})
	switch {
	case found == nil || inLink(found, header):
		return nil
	case hasClass(found.Parent, "headertitle"):
		return found
	}
	const least = 3 // letters
	said := ownLine(found)
	if s.pageTitle == "" { // a space if there is none
		s.pageTitle = cleanTitle(title(goquery.NewDocumentFromNode(s.root))) + " "
	}
	if len(said) < least || !strings.Contains(s.pageTitle, said) {
		return nil
	}
	return found
}

// ownLine returns the text of an element up to the first block or link in it.
func ownLine(n *html.Node) string {
	var b strings.Builder
	looked := 0
	for d := range n.Descendants() {
		if looked++; looked > mostLooked || d.Type == html.ElementNode && (breakOf(d.Data) == '\n' || isLink(d.Data, d.Attr)) {
			break
		}
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return collapse(b.String())
}

// isHeadline reports whether an element is a heading of the first level, by its name or as the
// page's title.
func (s *survey) isHeadline(n *html.Node) bool { return n.Data == "h1" || n == s.titled && n != nil }
