// Package extract reads pages: from bytes to text, links and metadata. It is the only
// importer of goquery.
package extract

import (
	"fmt"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

const (
	// MaxLinks bounds the distinct links that are kept of one page.
	MaxLinks = 10_000
	// maxRefs bounds the references that are examined for them: resolving half a million of
	// a hostile page would take seconds.
	maxRefs = 10 * MaxLinks
	// maxLinkBytes bounds the total bytes of their addresses: with a long <base>, a page of
	// a hundred kilobytes has eighty megabytes of links.
	maxLinkBytes = 4 << 20
	// maxResolved bounds the bytes read to resolve them, which include the base for each:
	// with a base of eight kilobytes, thirty thousand links took ten seconds.
	maxResolved = 16 << 20
	// maxFeeds bounds the feeds that are taken from one page.
	maxFeeds = 10
	// maxTitle bounds the title in bytes.
	maxTitle = 500
)

// Source is a body with what its response says about it.
type Source struct {
	Body        []byte
	ContentType string
	Language    string   // the Content-Language header, "" if there is none
	Refresh     string   // the Refresh header, "" if there is none
	Links       []string // the Link headers
	URL         urlkey.URL

	charset string // of Body, once it is known
}

// Page holds what Parse reads from a body.
type Page struct {
	// Title is that of <title>, or else og:title or the first <h1>.
	Title string
	// Language is a BCP 47 tag in canonical form, "" if the page does not say.
	Language string
	// Text is the main text, each block on a line, with single spaces: without navigation,
	// adverts and the like, and without elements that the crawl ignores; or the elements
	// that the crawl selects, if there is text in them. See mainText for what is left out.
	Text string
	// Main is the main text, whatever the crawl selects of it, for comparing pages with
	// others. It is Text if nothing is selected.
	Main string
	// Own is Main without the text of links, which names the pages to which they lead.
	Own string
	// Whole: no main text was found, and Text is all visible text.
	Whole bool
	// Looks are what a reader sees in the text and its words do not say: which cells of a row are
	// empty, which boxes are ticked, what buttons and pictures say, what is struck out, and the
	// like. There are none where the crawl's rules choose the text. They are not stored.
	Looks []Look
	// Links are the pages linked to, in the order of the document, without the page itself.
	// Links in boilerplate and in ignored elements are included.
	Links []Link
	// Refused are the links that cannot be fetched, by cause.
	Refused []Refused
	// LinksCut: there were more links than are kept.
	LinksCut bool
	// Feeds are the feeds that the page names as its own, in its order.
	Feeds []string
	// Canonical is where rel=canonical points, "" if nowhere.
	Canonical string
	// Metas are the <meta> elements that may speak to crawlers. See Robots.
	Metas []Meta
	// Charset names the encoding in which the body was read.
	Charset string
	// Flat: the page is nested too deeply for a tree and was read tag by tag.
	Flat bool
}

// Parse reads a body. HTML and XHTML (and a body without a type) are read as by browsers
// without scripts. Other text types, JSON and XML have text only, and other types have
// neither text nor links. The error says that the body could not be decoded.
func Parse(src Source, rules Rules) (Page, error) {
	media := crawl.ParseMediaType(src.ContentType)
	read := parseHTML
	switch {
	case media.Type == "", media.Type == "text/html", media.Type == "application/xhtml+xml":
	case isPlain(media.Type):
		read = parsePlain
	default:
		return Page{}, nil
	}
	decoded, charset, err := decode(src.Body, media)
	if err != nil {
		return Page{}, err
	}
	src.charset = charset
	page := read(src, decoded, rules.at(src.URL))
	page.Charset = charset
	return page, nil
}

// parseHTML reads a document by its tree or, if it has none, by its tags.
func parseHTML(src Source, decoded []byte, rules Rules) Page {
	root, err := readTree(decoded, isXML(src))
	if err != nil {
		return parseFlat(src, decoded, rules)
	}
	return parseSurveyed(src, root, surveyOf(root, rules.ignored(root)), rules, nil)
}

// parseSurveyed reads a document whose tree is measured. The recorder, if there is one,
// notes which parts of the tree are its text.
func parseSurveyed(src Source, root *html.Node, s *survey, rules Rules, r *recorder) Page {
	page := s.collector.page(src)
	page.Title = s.titleOf()
	main := mainText(root, s, rules, r)
	page.Main, page.Own, page.Whole, page.Text = main.text, main.own, main.whole, main.text
	if len(rules.patterns) == 0 {
		page.Looks = main.looks
	}
	if selected := selectedText(root, s, rules, r.other()); selected != "" {
		page.Text, page.Whole, page.Looks = selected, false, nil
		r.useOther()
	}
	return page
}

// title returns the document's title; an <svg> and a <template> may have titles
// of their own.
func title(doc *goquery.Document) string {
	return doc.Find("title").FilterFunction(func(_ int, s *goquery.Selection) bool {
		return s.Get(0).Namespace == "" && !isInTemplate(s.Get(0))
	}).First().Text()
}

// isInTemplate reports whether a node is in a <template>. A hostile page has hundreds of thousands of titles,
// each of them in hundreds of elements: matching a selector with all of these takes seconds.
func isInTemplate(n *html.Node) bool {
	for n = n.Parent; n != nil; n = n.Parent {
		if n.Data == "template" && n.Type == html.ElementNode {
			return true
		}
	}
	return false
}

func cleanTitle(s string) string { return crawl.Clean(collapse(s), maxTitle) }

// wrapDecode names the encoding that failed.
func wrapDecode(name string, err error) error {
	return fmt.Errorf("extract: decode %s: %w", name, err)
}
