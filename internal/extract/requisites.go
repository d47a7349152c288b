package extract

import (
	"strings"

	"golang.org/x/net/html"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// Role says what a page needs a requisite for.
type Role uint8

// The roles, the most important for a page first.
const (
	RoleStyle Role = iota // a stylesheet
	RoleImage             // an image that every browser shows
	RoleIcon              // of the site
	RoleFont              // a font, or an image that a style names
	RoleOther             // an image for another size of screen
)

// Requisite is something that a page or a stylesheet needs to look as it does.
type Requisite struct {
	URL string // absolute and canonical
	// Spelling is the reference's spelling of path and query, empty if it is that of URL.
	Spelling string
	Role     Role
}

// maxRequisites bounds the references that are resolved of one body.
const maxRequisites = 2000

// Requisites lists what a page or a stylesheet needs to look as it does, each address once,
// in the order of the body. Other bodies need nothing. The error says that the body could
// not be decoded.
func Requisites(src Source) ([]Requisite, error) {
	media := crawl.ParseMediaType(src.ContentType)
	isStyle := media.Type == "text/css"
	switch {
	case isStyle, media.Type == "", media.Type == "text/html", media.Type == "application/xhtml+xml":
	default:
		return nil, nil
	}
	decoded, charset, err := decode(src.Body, media)
	if err != nil {
		return nil, err
	}
	n := needs{queries: queriesOf(charset)}
	if isStyle {
		n.style(string(decoded))
	} else {
		n.document(tokensOf(decoded, isXML(src)))
	}
	return n.resolve(src.URL), nil
}

// need is a reference as it stands in the body.
type need struct {
	href string
	role Role
}

// needs gathers references, and resolves them at the end, since a <base> also applies to
// references before it.
type needs struct {
	list    []need
	base    string
	hasBase bool
	queries queries
}

func (n *needs) add(href string, role Role) {
	href = strings.TrimSpace(href)
	// Parts of the body itself, and a picture with the page's own address, need not be
	// fetched.
	if href == "" || href[0] == '#' || len(n.list) >= maxRequisites || hasScheme(href, "data:") {
		return
	}
	n.list = append(n.list, need{href, role})
}

func hasScheme(href, scheme string) bool {
	return len(href) >= len(scheme) && strings.EqualFold(href[:len(scheme)], scheme)
}

func (n *needs) style(css string) {
	for ref := range styleRefs(css) {
		role := RoleFont
		if ref.isImport {
			role = RoleStyle
		}
		n.add(ref.url, role)
	}
}

// document reads a document tag by tag: no requisite depends on the tree.
func (n *needs) document(tokens tokens) {
	raw, templates := "", 0 // the element whose text comes next; open <template>s, which are inert
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			return // the end: the reader has no other error
		case html.TextToken:
			if raw == "style" && templates == 0 {
				n.style(string(tokens.text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			t := tokens.Token()
			raw = t.Data
			switch {
			case tokens.ends(kind):
				raw = ""
			case t.Data == "template" && (templates > 0 || !isShadow(t.Attr)):
				templates++
			case t.Data == "noscript":
				tokens.NextIsNotRawText() // as without scripts
			}
			if templates == 0 {
				n.element(t.Data, t.Attr)
			}
		case html.EndTagToken:
			name, _ := tokens.TagName()
			raw = ""
			if string(name) == "template" && templates > 0 {
				templates--
			}
		}
	}
}

func (n *needs) element(name string, attributes []html.Attribute) {
	get := func(name string) string { value, _ := attribute(attributes, name); return value }
	switch name {
	case "base":
		if href, ok := attribute(attributes, "href"); ok && !n.hasBase {
			n.base, n.hasBase = href, true
		}
	case "img":
		n.add(get("src"), RoleImage)
		n.sources(get("srcset"))
	case "source": // of a <picture>; those of sounds and films have no srcset
		n.sources(get("srcset"))
	case "input":
		if strings.EqualFold(get("type"), "image") {
			n.add(get("src"), RoleImage)
		}
	case "video":
		n.add(get("poster"), RoleImage)
	case "image": // of an <svg>
		n.add(get("href"), RoleImage)
		n.add(get("xlink:href"), RoleImage)
	case "body", "table", "td", "th":
		n.add(get("background"), RoleOther)
	case "link":
		n.link(get("rel"), get("as"), get("href"), get("imagesrcset"))
	}
	if style, ok := attribute(attributes, "style"); ok {
		n.style(style)
	}
}

// link reads a <link> that names a style, an icon, or something to load early.
func (n *needs) link(rel, as, href, sources string) {
	switch {
	case hasAny(rel, names{"stylesheet": true}):
		n.add(href, RoleStyle)
	case hasAny(rel, names{"icon": true, "apple-touch-icon": true, "apple-touch-icon-precomposed": true, "mask-icon": true}):
		n.add(href, RoleIcon)
	case hasAny(rel, names{"preload": true}):
		switch strings.ToLower(strings.TrimSpace(as)) {
		case "style":
			n.add(href, RoleStyle)
		case "font":
			n.add(href, RoleFont)
		case "image":
			n.add(href, RoleImage)
			n.sources(sources)
		}
	}
}

// sources reads a srcset: addresses, each with a description, between commas. An address
// may have commas within, but not at its end.
func (n *needs) sources(srcset string) {
	for srcset != "" && len(n.list) < maxRequisites {
		srcset = strings.TrimLeft(srcset, " \t\r\n\f,")
		end := strings.IndexAny(srcset, " \t\r\n\f")
		if end < 0 {
			end = len(srcset)
		}
		address := srcset[:end]
		srcset = srcset[end:]
		if trimmed := strings.TrimRight(address, ","); trimmed != address {
			n.add(trimmed, RoleOther) // no description
			continue
		}
		n.add(address, RoleOther)
		_, srcset, _ = cutOutside(srcset, ',')
	}
}

// cutOutside is strings.Cut at the first separator outside parentheses.
func cutOutside(s string, separator byte) (before, after string, found bool) {
	depth := 0
	for i := range len(s) {
		switch {
		case s[i] == '(':
			depth++
		case s[i] == ')' && depth > 0:
			depth--
		case s[i] == separator && depth == 0:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// resolve resolves the gathered references against the URL of the body. The body's own URL
// is left out.
func (n *needs) resolve(self urlkey.URL) []Requisite {
	at := self
	if n.hasBase {
		if u, err := urlkey.Resolve(self, n.base); err == nil {
			at = u
		}
	}
	base := urlkey.NewBase(at)
	seen := map[urlkey.URL]int{self: -1}
	var found []Requisite
	bytes := 0
	for _, need := range n.list {
		u, spelling, err := base.Spelled(n.queries.encode(need.href))
		if err != nil {
			continue
		}
		if i, known := seen[u]; known {
			if i >= 0 {
				found[i].Role = min(found[i].Role, need.role)
			}
			continue
		}
		text := u.String()
		if bytes += len(text); bytes > maxLinkBytes {
			break
		}
		seen[u] = len(found)
		found = append(found, Requisite{URL: text, Spelling: spelling, Role: need.role})
	}
	return found
}
