// Package extract reads pages: from bytes to text, links and what the page says
// about itself. It is the only importer of goquery.
package extract

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"recrawl/internal/crawl"
	"recrawl/internal/exclude"
	"recrawl/internal/urlkey"
)

const (
	// MaxLinks is the number of distinct links that are kept of one page.
	MaxLinks = 10_000
	// maxRefs bounds the references that are looked at for them: resolving half a
	// million of a hostile page would take seconds.
	maxRefs = 10 * MaxLinks
	// maxTitle bounds the title in bytes.
	maxTitle = 500
)

// Page is what one body says.
type Page struct {
	Title string
	// Text is the visible main text with single spaces. Navigation, headers,
	// footers and asides are left out unless there is nothing else.
	Text string
	// Links are the pages linked to, in the order of the document, without the page
	// itself.
	Links []Link
	// LinksCut: there were more than MaxLinks links.
	LinksCut bool
	// Canonical is where rel=canonical points, "" if nowhere.
	Canonical string
	// Directives are the robots directives of <meta> elements by their names in lower
	// case: "robots" for everybody, or a product token. See Robots.
	Directives map[string]exclude.Directives
	// Charset is the name of the encoding that the body was read in.
	Charset string
	// Flat: the page is nested too deeply for a tree and was read tag by tag.
	Flat bool
}

// Link is one link of a page: absolute and canonical.
type Link struct {
	URL string
	// NoFollow: every link to the URL is rel=nofollow, ugc or sponsored.
	NoFollow bool
}

// Parse reads a body. HTML and XHTML (and a body of no type) are read as
// browsers without scripts do; other text types have text only, and what is no
// text has neither. base is the page's URL. The error says that the body could
// not be decoded.
func Parse(body []byte, contentType string, base urlkey.URL) (Page, error) {
	media := crawl.ParseMediaType(contentType)
	switch {
	case media.Type == "", media.Type == "text/html", media.Type == "application/xhtml+xml":
	case strings.HasPrefix(media.Type, "text/"):
		return parsePlain(body, media)
	default:
		return Page{}, nil
	}
	decoded, charset, err := decode(body, media)
	if err != nil {
		return Page{}, err
	}
	page := parseHTML(decoded, base)
	page.Charset = charset
	return page, nil
}

func parsePlain(body []byte, media crawl.MediaType) (Page, error) {
	decoded, charset, err := decode(body, media)
	if err != nil {
		return Page{}, err
	}
	return Page{Text: collapse(string(decoded)), Charset: charset}, nil
}

// parseHTML reads a document by its tree or, if it has none, by its tags.
func parseHTML(decoded []byte, base urlkey.URL) Page {
	// Without scripting the contents of <noscript> are elements, links included.
	root, err := html.ParseWithOptions(bytes.NewReader(decoded), html.ParseOptionEnableScripting(false))
	if err != nil {
		// The one error of a reader that cannot fail: more than 512 open elements.
		return parseFlat(decoded, base)
	}
	doc := goquery.NewDocumentFromNode(root)
	doc.Find("template").Remove() // inert: not part of the document
	var c collector
	doc.Find(collected).Each(func(_ int, s *goquery.Selection) {
		c.element(s.Get(0).Data, s.Get(0).Attr)
	})
	page := c.page(base)
	page.Title = cleanTitle(title(doc))
	page.Text = mainText(root)
	return page
}

// title returns the document's title; an <svg> may have titles of its own.
func title(doc *goquery.Document) string {
	return doc.Find("title").FilterFunction(func(_ int, s *goquery.Selection) bool {
		return s.Get(0).Namespace == ""
	}).First().Text()
}

func cleanTitle(s string) string { return crawl.Clean(collapse(s), maxTitle) }

// collapse makes each run of white space one space.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// wrapDecode names the encoding that failed.
func wrapDecode(name string, err error) error {
	return fmt.Errorf("extract: decode %s: %w", name, err)
}
