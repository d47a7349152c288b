package extract

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// Link is one link of a page. If several lead to one URL, the first in the main
// part speaks for all, or else the first.
type Link struct {
	URL string // absolute and canonical
	// Spelling is the link's spelling of path and query, empty if it is that of URL.
	Spelling string
	// Text is the link's visible text: the text of an <a> with the descriptions of its
	// pictures, the description of an <area>, or else the title; at most maxAnchor
	// characters.
	Text string
	// Rel are its relations in lower case, once each, with single spaces.
	Rel   string
	Kind  Kind
	Place Place
	Reach Reach
	// NoFollow: every link to the URL is rel=nofollow, ugc or sponsored, or acts.
	NoFollow bool
}

// Kind is the kind of element that makes a link.
type Kind string

// The kinds of links. The relations of a KindLink say where it leads: another language
// (alternate), the next page (next) and so on.
const (
	KindA       Kind = "a"
	KindArea    Kind = "area"
	KindFrame   Kind = "frame"
	KindIframe  Kind = "iframe"
	KindLink    Kind = "link"
	KindRefresh Kind = "meta-refresh" // or the header
)

// Place is the part of the page in which a link stands, by the elements and roles around
// it: <header> and <footer> of an article are in the main part.
type Place string

// The places.
const (
	PlaceMain   Place = "main"
	PlaceNav    Place = "nav"
	PlaceHeader Place = "header"
	PlaceFooter Place = "footer"
	PlaceAside  Place = "aside"
	PlaceBody   Place = "body" // none of them
)

// places are the elements and roles that begin a place.
var places = map[string]Place{
	"main": PlaceMain, "article": PlaceMain, "nav": PlaceNav, "navigation": PlaceNav, "menu": PlaceNav,
	"header": PlaceHeader, "banner": PlaceHeader, "footer": PlaceFooter, "contentinfo": PlaceFooter,
	"aside": PlaceAside, "complementary": PlaceAside,
}

// within returns the place inside an element that stands in p.
func (p Place) within(name string, attributes []html.Attribute) Place {
	inner := places[name]
	if role, ok := attribute(attributes, "role"); ok {
		first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(role)), " ")
		if place := places[first]; place != "" && first != name {
			inner = place
		}
	}
	if inner == "" || p == PlaceMain && (inner == PlaceHeader || inner == PlaceFooter) {
		return p
	}
	return inner
}

// Reach is how far away a link leads.
type Reach string

// The reaches. JoMaGic (the fifth of the papers) tells internal from external
// links by the host alone.
const (
	ReachHost     Reach = "internal" // the page's own host
	ReachSite     Reach = "site"     // another host of its registrable domain
	ReachExternal Reach = "external" // anywhere else
)

func reach(from, to urlkey.URL, site string) Reach {
	switch {
	case from.HostKey() == to.HostKey():
		return ReachHost
	case site == urlkey.RegistrableDomain(to.Host()):
		return ReachSite
	}
	return ReachExternal
}

// maxAnchor bounds the text of a link in characters.
const maxAnchor = 200

// collector gathers references as they stand, and resolves them at the end, since a <base>
// also applies to references before it.
type collector struct {
	refs      []reference
	cut       bool
	base      string
	hasBase   bool
	canonical string
	feeds     []string
	metas     []Meta
	languages languages
	// anchors are the open links whose text is gathered, as indices of refs; -1 for a link
	// without a reference.
	anchors []int
	anchor  line // the text of the outermost, up to the kept length
}

type reference struct {
	href, text, rel string
	kind            Kind
	place           Place
	noFollow        bool
	asks            bool // of the reader, before it is followed
}

// start reads an element. It reports whether its text is that of a link, in which case end
// must be called where it ends.
func (c *collector) start(name string, attributes []html.Attribute, place Place) (isLink bool) {
	switch name {
	case "a":
		n := len(c.refs)
		c.refer(attributes, "href", KindA, place)
		if len(c.refs) == n {
			n = -1
		}
		c.anchors = append(c.anchors, n)
		c.anchor.most = utf8.UTFMax * maxAnchor
		return true
	case "area":
		c.refer(attributes, "href", KindArea, place)
	case "iframe":
		c.refer(attributes, "src", KindIframe, place)
	case "frame":
		c.refer(attributes, "src", KindFrame, place)
	case "link":
		c.link(attributes, place)
	case "base":
		if href, ok := attribute(attributes, "href"); ok && !c.hasBase {
			c.base, c.hasBase = href, true
		}
	case "meta":
		c.meta(attributes, place)
	case "img":
		alt, _ := attribute(attributes, "alt")
		c.text(" " + alt + " ")
	}
	c.languages.element(name, attributes)
	return false
}

// text adds a text to the open link.
func (c *collector) text(text string) {
	if len(c.anchors) > 0 {
		c.anchor.add(text, false)
	}
}

// space ends a word of it.
func (c *collector) space() {
	if len(c.anchors) > 0 {
		c.anchor.space()
	}
}

// end closes the innermost open link.
func (c *collector) end() {
	n := len(c.anchors) - 1
	if n < 0 {
		return
	}
	if i := c.anchors[n]; i >= 0 {
		c.refs[i].text = cmp.Or(cutText(string(c.anchor.trimmed())), c.refs[i].text)
	}
	if c.anchors = c.anchors[:n]; n == 0 {
		c.anchor.reset()
	}
}

// cutText cleans the text of a link and cuts it to its limit.
func cutText(text string) string {
	cleaned := []rune(crawl.Clean(collapse(text), utf8.UTFMax*maxAnchor))
	return strings.TrimSpace(string(cleaned[:min(len(cleaned), maxAnchor)]))
}

func (c *collector) refer(attributes []html.Attribute, name string, kind Kind, place Place) {
	href, ok := attribute(attributes, name)
	if !ok {
		return
	}
	rel, _ := attribute(attributes, "rel")
	alt, _ := attribute(attributes, "alt")
	title, _ := attribute(attributes, "title")
	sends, asks := acts(attributes)
	c.add(reference{href: href, text: cutText(cmp.Or(alt, title)), rel: rel, kind: kind, place: place, noFollow: sends || forbids(rel), asks: asks})
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
func (c *collector) link(attributes []html.Attribute, place Place) {
	rel, _ := attribute(attributes, "rel")
	kind, _ := attribute(attributes, "type")
	if hasAny(rel, names{"alternate": true}) && isFeedType(kind) {
		c.feed(attributes)
		return
	}
	if !hasAny(rel, follow) || hasAny(rel, names{"stylesheet": true}) || !isPageType(kind) {
		return
	}
	if href, ok := attribute(attributes, "href"); ok && c.canonical == "" && hasAny(rel, names{"canonical": true}) {
		c.canonical = href
	}
	c.refer(attributes, "href", KindLink, place)
}

// feed reads a <link> that leads to a feed of the page.
func (c *collector) feed(attributes []html.Attribute) {
	if href, ok := attribute(attributes, "href"); ok && len(c.feeds) < maxFeeds {
		c.feeds = append(c.feeds, href)
	}
}

// isFeedType reports whether a type is one of those that make a <link> a feed's.
func isFeedType(kind string) bool {
	switch crawl.ParseMediaType(kind).Type {
	case "application/rss+xml", "application/atom+xml", "application/feed+json":
		return true
	}
	return false
}

func isPageType(kind string) bool {
	m := crawl.ParseMediaType(kind)
	return m.Type == "" || m.Type == "text/html" || m.Type == "application/xhtml+xml"
}

func (c *collector) meta(attributes []html.Attribute, place Place) {
	content, _ := attribute(attributes, "content")
	if equiv, ok := attribute(attributes, "http-equiv"); ok && strings.EqualFold(strings.TrimSpace(equiv), "refresh") {
		if href, ok := refreshTarget(content); ok {
			c.add(reference{href: href, kind: KindRefresh, place: place})
		}
	}
	c.directives(attributes, content)
}

// page resolves the gathered references against the page's URL.
func (c *collector) page(src Source) Page {
	c.headers(src)
	self, encoded := src.URL, queriesOf(src.charset)
	at := self
	if c.hasBase {
		// A base that is no http(s) URL (data:, javascript:) is ignored.
		if u, err := urlkey.Resolve(self, c.base); err == nil {
			at = u
		}
	}
	base := urlkey.NewBase(at)
	page := Page{Metas: c.metas, LinksCut: c.cut, Language: c.languages.tag(src.Language)}
	if c.canonical != "" {
		if u, err := base.Resolve(encoded.encode(c.canonical)); err == nil {
			page.Canonical = u.String()
		}
	}
	for _, href := range c.feeds {
		if u, err := base.Resolve(encoded.encode(href)); err == nil && u != self && !slices.Contains(page.Feeds, u.String()) {
			page.Feeds = append(page.Feeds, u.String())
		}
	}
	c.resolve(base, len(at.String()), encoded, self, &page)
	return page
}

// resolve fills in the links: each page once, followed if any link to it is. length is the
// base's length in bytes.
func (c *collector) resolve(base urlkey.Base, length int, encoded queries, self urlkey.URL, page *Page) {
	seen := make(map[urlkey.URL]int, min(len(c.refs), MaxLinks))
	site := urlkey.RegistrableDomain(self.Host())
	bytes, read := 0, 0
	var refused refusals
	defer func() { page.Refused = refused.all }()
	for _, r := range c.refs {
		if read += length + len(r.href); read > maxResolved {
			page.LinksCut = true
			break
		}
		u, spelling, err := base.Spelled(encoded.encode(r.href))
		if err != nil {
			refused.add(r.href, err)
			continue
		}
		if u == self {
			continue
		}
		i, known := seen[u]
		switch {
		case known:
			page.Links[i].merge(r.link(u, reach(self, u, site)))
		case len(page.Links) >= MaxLinks || bytes+len(u.String()) > maxLinkBytes:
			page.LinksCut = true
		default:
			seen[u] = len(page.Links)
			bytes += len(u.String())
			link := r.link(u, reach(self, u, site))
			link.Spelling = spelling
			page.Links = append(page.Links, link)
		}
	}
}

// link makes the link of a reference to u. A question before a link to another site only says
// that the reader leaves.
func (r reference) link(u urlkey.URL, reach Reach) Link {
	noFollow := r.noFollow || r.asks && reach != ReachExternal
	return Link{URL: u.String(), Text: r.text, Rel: relations(r.rel), Kind: r.kind, Place: r.place, Reach: reach, NoFollow: noFollow}
}

// merge takes in another link to the same URL.
func (l *Link) merge(other Link) {
	other.Spelling = l.Spelling
	noFollow, text := l.NoFollow && other.NoFollow, l.Text
	if l.Place != PlaceMain && other.Place == PlaceMain {
		*l = other
	}
	l.NoFollow = noFollow
	l.Text = cmp.Or(l.Text, other.Text, text)
}

// isLink reports whether an element's text is that of a link. An anchor that only names a place,
// as pages had them before every element could have an id, is none (HTML standard, the a
// element), unless a script may follow it.
func isLink(name string, attributes []html.Attribute) bool {
	if name != "a" {
		return false
	}
	if _, ok := attribute(attributes, "href"); ok {
		return true
	}
	named := false
	for _, a := range attributes {
		switch a.Key {
		case "name", "id":
			named = true
		case "role", "tabindex", "onclick":
			return true
		}
	}
	return !named
}

// attribute returns the attribute of a name, preferring one without name space: SVG links
// have an xlink:href or, newer, an href.
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
