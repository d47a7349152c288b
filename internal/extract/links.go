package extract

import (
	"strings"

	"golang.org/x/net/html"

	"recrawl/internal/crawl"
	"recrawl/internal/exclude"
	"recrawl/internal/urlkey"
)

// collected selects the elements that a collector reads.
const collected = "a, area, base, link, meta, iframe, frame"

var (
	// follow are the relations of <link> that lead to pages.
	follow = set("alternate amphtml author canonical help license next prev previous search shortlink")
	// noFollow are the relations that say: do not count or follow this link.
	noFollow = set("nofollow ugc sponsored")
)

// collector gathers references as they stand, and resolves them at the end: a
// <base> applies to what stands before it too.
type collector struct {
	refs       []reference
	cut        bool
	base       string
	hasBase    bool
	canonical  string
	directives map[string]exclude.Directives
}

type reference struct {
	href     string
	noFollow bool
}

// element reads one of the collected elements.
func (c *collector) element(name string, attributes []html.Attribute) {
	switch name {
	case "a", "area":
		rel, _ := attribute(attributes, "rel")
		c.refer(attributes, "href", hasAny(rel, noFollow))
	case "iframe", "frame":
		c.refer(attributes, "src", false)
	case "link":
		c.link(attributes)
	case "base":
		if href, ok := attribute(attributes, "href"); ok && !c.hasBase {
			c.base, c.hasBase = href, true
		}
	case "meta":
		c.meta(attributes)
	}
}

func (c *collector) refer(attributes []html.Attribute, name string, noFollow bool) {
	if href, ok := attribute(attributes, name); ok {
		c.add(reference{href, noFollow})
	}
}

func (c *collector) add(r reference) {
	if len(c.refs) >= maxRefs {
		c.cut = true
		return
	}
	c.refs = append(c.refs, r)
}

// link reads a <link> that leads to a page. One that declares another type than
// HTML, such as a feed, does not.
func (c *collector) link(attributes []html.Attribute) {
	rel, _ := attribute(attributes, "rel")
	kind, _ := attribute(attributes, "type")
	if !hasAny(rel, follow) || hasAny(rel, names{"stylesheet": true}) || !isPageType(kind) {
		return
	}
	if href, ok := attribute(attributes, "href"); ok && c.canonical == "" && hasAny(rel, names{"canonical": true}) {
		c.canonical = href
	}
	c.refer(attributes, "href", hasAny(rel, noFollow))
}

func isPageType(kind string) bool {
	m := crawl.ParseMediaType(kind)
	return m.Type == "" || m.Type == "text/html" || m.Type == "application/xhtml+xml"
}

func (c *collector) meta(attributes []html.Attribute) {
	content, _ := attribute(attributes, "content")
	if equiv, ok := attribute(attributes, "http-equiv"); ok && strings.EqualFold(strings.TrimSpace(equiv), "refresh") {
		if href, ok := refreshTarget(content); ok {
			c.add(reference{href: href})
		}
	}
	if name, ok := attribute(attributes, "name"); ok {
		c.directive(name, content)
	}
}

// page resolves what was gathered against the page's URL.
func (c *collector) page(self urlkey.URL) Page {
	at := self
	if c.hasBase {
		// A base that is no http(s) URL (data:, javascript:) is ignored.
		if u, err := urlkey.Resolve(self, c.base); err == nil {
			at = u
		}
	}
	base := urlkey.NewBase(at)
	page := Page{Directives: c.directives, LinksCut: c.cut}
	if c.canonical != "" {
		if u, err := base.Resolve(c.canonical); err == nil {
			page.Canonical = u.String()
		}
	}
	c.resolve(base, self, &page)
	return page
}

// resolve fills in the links: each page once, followed if any link to it is.
func (c *collector) resolve(base urlkey.Base, self urlkey.URL, page *Page) {
	seen := make(map[urlkey.URL]int, min(len(c.refs), MaxLinks))
	for _, r := range c.refs {
		u, err := base.Resolve(r.href)
		if err != nil || u == self {
			continue
		}
		i, known := seen[u]
		switch {
		case known:
			page.Links[i].NoFollow = page.Links[i].NoFollow && r.noFollow
		case len(page.Links) >= MaxLinks:
			page.LinksCut = true
		default:
			seen[u] = len(page.Links)
			page.Links = append(page.Links, Link{URL: u.String(), NoFollow: r.noFollow})
		}
	}
}

// attribute returns the attribute of a name, one without name space first: SVG
// links have an xlink:href or, newer, an href.
func attribute(attributes []html.Attribute, name string) (string, bool) {
	value, ok := "", false
	for _, a := range attributes {
		switch {
		case a.Key == name && a.Namespace == "":
			return a.Val, true
		case a.Key == name && a.Namespace == "xlink", a.Key == "xlink:"+name:
			value, ok = a.Val, true
		}
	}
	return value, ok
}

// hasAny reports whether a list of words has one of a set, whatever its case.
func hasAny(list string, words names) bool {
	for _, word := range strings.Fields(list) {
		if words[strings.ToLower(word)] {
			return true
		}
	}
	return false
}

// refreshTarget reads the URL of a <meta http-equiv=refresh> by the shared
// declarative refresh steps of the HTML standard. It reports false for one that
// only reloads, or is not readable.
func refreshTarget(content string) (string, bool) {
	const space = " \t\n\f\r"
	s := strings.TrimLeft(content, space)
	rest := strings.TrimLeft(s, "0123456789.")
	if rest == s || rest == "" {
		return "", false
	}
	after := strings.TrimLeft(rest, space)
	if after == rest && !strings.HasPrefix(after, ";") && !strings.HasPrefix(after, ",") {
		return "", false
	}
	if strings.HasPrefix(after, ";") || strings.HasPrefix(after, ",") {
		after = strings.TrimLeft(after[1:], space)
	}
	target := afterURLEquals(after)
	if target != "" && (target[0] == '\'' || target[0] == '"') {
		target, _, _ = strings.Cut(target[1:], target[:1])
	}
	return target, target != ""
}

// afterURLEquals drops "url =" from the start of s, if it is there.
func afterURLEquals(s string) string {
	const space = " \t\n\f\r"
	if len(s) < 3 || !strings.EqualFold(s[:3], "url") {
		return s
	}
	value, ok := strings.CutPrefix(strings.TrimLeft(s[3:], space), "=")
	if !ok {
		return s
	}
	return strings.TrimLeft(value, space)
}
