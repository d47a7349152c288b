// Package extract turns the bytes of a page into what recrawl keeps of it: its
// text, its links and its title. It parses as a browser without scripts does
// and never fails on ill-formed HTML.
package extract

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// Limits of what is kept of a page, in bytes and links.
const (
	maxTitle = 512
	maxLinks = 20000
	maxText  = 4 << 20
)

// Page is what is kept of a page.
type Page struct {
	// Title is the document's title, cleaned.
	Title string
	// Text is the visible text with white space collapsed.
	Text string
	// Links are the pages that it leads to, canonical, in document order, each once.
	Links []Link
	// Canonical is where rel=canonical says the page is, "" if it does not.
	Canonical string
	// NoFollow and NoIndex are what <meta name=robots> asks for.
	NoFollow, NoIndex bool
}

// Link is one link of a page.
type Link struct {
	URL string
	// NoFollow: every occurrence asks not to be followed (rel nofollow, ugc,
	// sponsored).
	NoFollow bool
}

// Parse reads a page. The content type is the server's, with its charset; base
// is the page's own URL. Markup that html.Parse refuses (deep nesting) is read
// by its tokens, so that its text and links are not lost.
func Parse(body []byte, contentType string, base urlkey.URL) (Page, error) {
	text, err := decode(body, contentType)
	if err != nil {
		return Page{}, fmt.Errorf("decode %s: %w", contentType, err)
	}
	root, err := html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return fromTokens(text, base), nil
	}
	return fromDocument(goquery.NewDocumentFromNode(root), base), nil
}

// decode returns the body as UTF-8. A body that nothing declares and that is
// valid UTF-8 is UTF-8: the standard's guess from the first 1024 bytes takes an
// ASCII start for windows-1252.
func decode(body []byte, contentType string) ([]byte, error) {
	encoding, _, certain := charset.DetermineEncoding(body, contentType)
	if !certain && utf8.Valid(body) {
		return body, nil
	}
	decoded, err := io.ReadAll(encoding.NewDecoder().Reader(bytes.NewReader(body)))
	if err != nil {
		return nil, err
	}
	return decoded, nil
}

func fromDocument(doc *goquery.Document, base urlkey.URL) Page {
	c := newCollector(base)
	doc.Find("template").Remove()
	doc.Find("base[href]").First().Each(func(_ int, s *goquery.Selection) { c.setBase(s.AttrOr("href", "")) })
	doc.Find("meta, link, a, area, frame, iframe").Each(func(_ int, s *goquery.Selection) {
		c.element(goquery.NodeName(s), func(name string) string { return s.AttrOr(name, "") })
	})
	c.page.Title = crawl.Clean(collapse(doc.Find("title").First().Text()), maxTitle)
	var b strings.Builder
	for _, n := range doc.Find("body").Nodes {
		visibleText(n, &b)
	}
	c.page.Text = collapse(b.String())
	return c.result()
}

// fromTokens reads text and links without building a tree.
func fromTokens(text []byte, base urlkey.URL) Page {
	c := newCollector(base)
	z := html.NewTokenizer(bytes.NewReader(text))
	var b, title strings.Builder
	hidden, inTitle := "", false
	for {
		switch z.Next() {
		case html.ErrorToken:
			c.page.Title, c.page.Text = crawl.Clean(collapse(title.String()), maxTitle), collapse(b.String())
			return c.result()
		case html.TextToken:
			switch {
			case inTitle:
				title.Write(z.Text())
			case hidden == "" && b.Len() < maxText:
				b.Write(z.Text())
				b.WriteByte(' ')
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			switch {
			case token.Data == "title":
				inTitle = true
			case hidden == "" && isHidden(token.Data):
				hidden = token.Data
			}
			c.token(token)
		case html.EndTagToken:
			name, _ := z.TagName()
			if string(name) == hidden {
				hidden = ""
			}
			inTitle = inTitle && string(name) != "title"
		}
	}
}

// collector gathers links and what the head says.
type collector struct {
	page    Page
	own     urlkey.URL
	base    urlkey.Base
	hasBase bool
	index   map[string]int
}

func newCollector(base urlkey.URL) *collector {
	return &collector{own: base, base: urlkey.NewBase(base), index: map[string]int{}}
}

// setBase takes the first base with an href; one that is no http(s) URL is
// ignored.
func (c *collector) setBase(href string) {
	if c.hasBase || href == "" {
		return
	}
	c.hasBase = true
	if u, err := urlkey.Resolve(c.own, href); err == nil {
		c.base = urlkey.NewBase(u)
	}
}

func (c *collector) token(t html.Token) {
	attr := func(name string) string {
		for _, a := range t.Attr {
			if a.Key == name {
				return a.Val
			}
		}
		return ""
	}
	if t.Data == "base" {
		c.setBase(attr("href"))
		return
	}
	c.element(t.Data, attr)
}

// element takes what one element says; see the HTML Standard's index of
// attributes for which of them lead to pages.
func (c *collector) element(name string, attr func(string) string) {
	switch name {
	case "a", "area":
		c.link(attr("href"), hasWord(attr("rel"), "nofollow", "ugc", "sponsored"))
	case "frame", "iframe":
		c.link(attr("src"), false)
	case "link":
		rel := attr("rel")
		if hasWord(rel, "canonical") {
			if u, err := c.base.Resolve(attr("href")); err == nil && c.page.Canonical == "" {
				c.page.Canonical = u.String()
			}
		}
		if hasWord(rel, "alternate", "next", "prev", "help", "author", "license", "canonical") && !hasWord(rel, "stylesheet") {
			c.link(attr("href"), false)
		}
	case "meta":
		c.meta(attr)
	}
}

func (c *collector) meta(attr func(string) string) {
	content := attr("content")
	switch {
	case strings.EqualFold(attr("name"), "robots"):
		c.page.NoFollow = c.page.NoFollow || hasWord(content, "nofollow", "none")
		c.page.NoIndex = c.page.NoIndex || hasWord(content, "noindex", "none")
	case strings.EqualFold(attr("http-equiv"), "refresh"):
		c.link(refreshTarget(content), false)
	}
}

func (c *collector) link(href string, nofollow bool) {
	if strings.TrimSpace(href) == "" || len(c.page.Links) >= maxLinks {
		return
	}
	u, err := c.base.Resolve(href)
	if err != nil {
		return
	}
	url := u.String()
	if i, seen := c.index[url]; seen {
		c.page.Links[i].NoFollow = c.page.Links[i].NoFollow && nofollow
		return
	}
	c.index[url] = len(c.page.Links)
	c.page.Links = append(c.page.Links, Link{URL: url, NoFollow: nofollow})
}

func (c *collector) result() Page { return c.page }

// refreshTarget returns the URL of a refresh ("5; url=next.html"), "" if it only
// reloads the page.
func refreshTarget(content string) string {
	_, rest, ok := strings.Cut(strings.ReplaceAll(content, ",", ";"), ";")
	if !ok {
		return ""
	}
	rest = strings.TrimSpace(rest)
	if len(rest) >= 3 && strings.EqualFold(rest[:3], "url") {
		after, found := strings.CutPrefix(strings.TrimSpace(rest[3:]), "=")
		if found {
			rest = strings.TrimSpace(after)
		}
	}
	return strings.Trim(rest, `"'`)
}

// visibleText writes the text of a tree, iteratively: trees can be deep.
func visibleText(root *html.Node, b *strings.Builder) {
	for n := range root.Descendants() {
		if n.Type == html.TextNode && b.Len() < maxText && !underHidden(n, root) {
			b.WriteString(n.Data)
			b.WriteByte(' ')
		}
	}
}

func underHidden(n, root *html.Node) bool {
	p := n.Parent
	return p != nil && p != root && isHidden(p.Data)
}

// isHidden: elements whose text nobody reads.
func isHidden(element string) bool {
	switch element {
	case "script", "style", "template", "noembed", "iframe", "noframes", "textarea", "select":
		return true
	}
	return false
}

// collapse makes every run of white space one space and drops what cannot be
// stored.
func collapse(s string) string {
	return strings.Join(strings.Fields(crawl.Clean(s, maxText)), " ")
}

// hasWord reports whether a list of words, separated by white space or commas,
// has one of the words, whatever its case.
func hasWord(list string, words ...string) bool {
	for _, f := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f' }) {
		for _, w := range words {
			if strings.EqualFold(f, w) {
				return true
			}
		}
	}
	return false
}
