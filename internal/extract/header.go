package extract

import (
	"strings"

	"golang.org/x/net/html"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// headers reads what a response says as its page could in elements: Refresh, and Link.
func (c *collector) headers(src Source) {
	if href, ok := refreshTarget(src.Refresh); ok {
		c.add(reference{href: href, kind: KindRefresh, place: PlaceBody})
	}
	for _, value := range src.Links {
		for value != "" && !c.cut {
			var attributes []html.Attribute
			if attributes, value = nextLink(value); attributes == nil {
				continue
			}
			if _, elsewhere := attribute(attributes, "anchor"); elsewhere { // it speaks of another page
				continue
			}
			// It stands outside the document, so <base> does not apply to it.
			if u, err := urlkey.Resolve(src.URL, attributes[0].Val); err == nil {
				attributes[0].Val = u.String()
			}
			c.link(attributes, PlaceBody)
		}
	}
}

const headerSpace = " \t"

// nextLink reads the first link of a Link header (RFC 8288 section 3) as the attributes of
// a <link>, the address first, and returns the rest of the header. There are no attributes
// if the rest begins with something else.
func nextLink(value string) (attributes []html.Attribute, rest string) {
	value = strings.TrimLeft(value, headerSpace+",")
	href, rest, closed := strings.Cut(value, ">")
	href, opened := strings.CutPrefix(href, "<")
	if !opened || !closed {
		_, rest, _ = strings.Cut(value, ",")
		return nil, rest
	}
	attributes = []html.Attribute{{Key: "href", Val: href}}
	for {
		rest = strings.TrimLeft(rest, headerSpace)
		parameter, isParameter := strings.CutPrefix(rest, ";")
		if !isParameter {
			_, rest, _ = strings.Cut(rest, ",")
			return attributes, rest
		}
		var a html.Attribute
		if a, rest = nextParameter(parameter); a.Key != "" && len(attributes) < maxParameters {
			attributes = append(attributes, a)
		}
	}
}

// maxParameters bounds what is kept of one link in a header.
const maxParameters = 20

// nextParameter reads a parameter of a link, up to what separates it from the next.
func nextParameter(rest string) (a html.Attribute, after string) {
	end := strings.IndexAny(rest, "=;,")
	if end < 0 {
		end = len(rest)
	}
	a.Key = strings.ToLower(strings.Trim(rest[:end], headerSpace))
	rest = rest[end:]
	said, ok := strings.CutPrefix(rest, "=")
	if !ok {
		return a, rest
	}
	said = strings.TrimLeft(said, headerSpace)
	if quoted, ok := strings.CutPrefix(said, `"`); ok {
		a.Val, rest = crawl.Unquote(quoted)
		return a, rest
	}
	if end = strings.IndexAny(said, ";,"); end < 0 {
		end = len(said)
	}
	a.Val = strings.TrimRight(said[:end], headerSpace)
	return a, said[end:]
}
