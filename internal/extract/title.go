package extract

import (
	"cmp"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

// titleOf returns the page's title: that of its <title> or, if it has none, what it calls itself
// for other sites (og:title), or else its first <h1>.
func (s *survey) titleOf() string {
	said := cmp.Or(cleanTitle(title(goquery.NewDocumentFromNode(s.root))), s.collector.openGraphTitle())
	if said == "" {
		said = cleanTitle(s.firstHeading())
	}
	return said
}

// openGraphTitle returns the og:title, "" if the page has none.
func (c *collector) openGraphTitle() string {
	for _, m := range c.metas {
		if title := cleanTitle(m.Content); title != "" && strings.EqualFold(strings.TrimSpace(m.Name), "og:title") {
			return title
		}
	}
	return ""
}

// firstHeading returns the text of the first <h1> that says something, "" if there is none.
func (s *survey) firstHeading() string {
	f := headingFinder{survey: s}
	f.visit(s.root, &f)
	return string(f.line.trimmed())
}

// headingFinder reads the first <h1> with text.
type headingFinder struct {
	*survey
	open int // headings
	line line
}

func (f *headingFinder) text(n *html.Node) {
	if f.open > 0 {
		f.line.add(n.Data, false)
	}
}

func (f *headingFinder) element(n *html.Node) {
	if len(f.line.trimmed()) > 0 && f.open == 0 || isUndisplayed(n) {
		return
	}
	by := 0
	if n.Data == "h1" {
		by = 1
	}
	f.open += by
	if f.open > 0 && breakOf(n.Data) != 0 {
		f.line.space()
	}
	f.visitBelow(n, f)
	f.open -= by
}

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
