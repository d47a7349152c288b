package sitemap

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// roots are the root elements of lists in small letters.
var roots = map[string]Format{
	"urlset": FormatURLs, "sitemapindex": FormatIndex, "rss": FormatRSS, "rdf": FormatRSS, "feed": FormatAtom,
}

// entries are the elements that an entry is written in. Those of sitemaps are no entries of
// feeds: nearly every RSS feed has the <url> of its picture.
var entries = map[string]bool{"url": true, "sitemap": true, "item": true, "entry": true}

// isEntryName reports whether an element of a name is an entry of the list.
func (e *elements) isEntryName(name string) bool {
	return entries[name] && (e.list.ofURLs() || name != "url" && name != "sitemap")
}

// ofURLs reports whether a list is a sitemap or an index of them.
func (l *List) ofURLs() bool { return l.Format == FormatURLs || l.Format == FormatIndex }

// xml reads sitemaps, indexes and feeds by the local names of elements: name
// spaces are often wrong, left out or misspelt. Elements of extensions such as
// image:loc have other parents. Unclosed tags are forgiven, and so is text that is not XML:
// see goOn.
func (l *lister) xml() error {
	d, e := l.newDecoder(), elements{lister: l}
	for {
		l.in.rest()
		token, err := d.RawToken() // which keeps no stack of its own
		if errors.Is(err, io.EOF) {
			return e.end()
		}
		if err != nil {
			if d, err = e.goOn(err); err != nil {
				e.flush()
				return err
			}
			continue
		}
		if err := e.take(token); err != nil {
			return err
		}
	}
}

// elements is the position of the reading in a document.
type elements struct {
	*lister
	open  []string // elements by local name in small letters, the root first
	entry *found   // the one being read, the element at of open
	at    int
	bases []nestedBase     // the innermost last
	guid  string           // of an RSS item, which may be its URL
	fit   int              // of the link that gave the entry its URL: see fitOf
	text  *strings.Builder // of the part being read, which is the innermost element
	// spoilt: a part of the entry could not be read, and was counted. broken counts these
	// places in the whole list.
	spoilt bool
	broken int
}

// nestedBase is the base of the references within an element, by its xml:base.
type nestedBase struct {
	depth int // of the element
	base  urlkey.Base
}

func (e *elements) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		return e.start(t)
	case xml.EndElement:
		e.close(strings.ToLower(t.Name.Local))
	case xml.CharData:
		// One byte more than a URL may have shows that it is too long.
		switch {
		case e.text == nil:
			e.bare(t)
		case e.text.Len() <= maxURL:
			e.text.Write(t[:min(len(t), maxURL+1-e.text.Len())])
		}
	}
	return nil
}

func (e *elements) start(t xml.StartElement) error {
	name := strings.ToLower(t.Name.Local)
	if len(e.open) == 0 {
		format, ok := roots[name]
		if !ok {
			return ErrNoList
		}
		e.list.Format = format
	}
	if len(e.open) >= maxDepth {
		e.flush()
		return errTooDeep
	}
	switch {
	case e.isEntryName(name) && !e.within():
		// An entry that was not closed ends where the next begins.
		e.flush()
		e.rebase(t)
		e.entry, e.at, e.spoilt, e.fit = &found{sitemap: name == "sitemap", base: e.inner()}, len(e.open), false, 0
		if about := attr(t, "about"); about != "" {
			e.guid = about
		}
	case e.parent() && isPart[name]:
		e.text = nil
		e.rebase(t)
		e.part(name, t)
	default:
		e.text = nil
		e.rebase(t)
	}
	e.open = append(e.open, name)
	return nil
}

// rebase heeds the xml:base of an element that begins (RFC 4287 section 2). One that is no
// URL changes nothing.
func (e *elements) rebase(t xml.StartElement) {
	for n := len(e.bases); n > 0 && e.bases[n-1].depth >= len(e.open); n-- {
		e.bases = e.bases[:n-1]
	}
	for _, a := range t.Attr {
		if a.Name.Space != "xml" || a.Name.Local != "base" {
			continue
		}
		if u, err := e.inner().Resolve(a.Value); err == nil {
			e.bases = append(e.bases, nestedBase{len(e.open), urlkey.NewBase(u)})
		}
	}
}

// inner is the base of the element that rebase was told of last.
func (e *elements) inner() urlkey.Base {
	if n := len(e.bases); n > 0 {
		return e.bases[n-1].base
	}
	return e.base
}

// isPart are the elements of an entry that are read.
var isPart = map[string]bool{
	"loc": true, "lastmod": true, "link": true, "guid": true,
	"pubdate": true, "date": true, "published": true, "issued": true, "updated": true, "modified": true,
}

// within reports whether the place is inside an extension of an entry, where an
// element such as media:item is no entry.
func (e *elements) within() bool {
	return e.entry != nil && !e.parent() && !isPart[e.open[len(e.open)-1]]
}

// parent reports whether the entry is the innermost open element.
func (e *elements) parent() bool { return e.entry != nil && len(e.open) == e.at+1 }

// part begins a part of the entry.
func (e *elements) part(name string, t xml.StartElement) {
	switch name {
	case "loc":
		// Of an extension whose element could not be read.
		if space := strings.ToLower(t.Name.Space); space == "image" || space == "video" {
			return
		}
		if e.entry.href != "" {
			// Entries without anything between them: the next has the dates that follow.
			e.list.add(e.entry.base, *e.entry, e.most)
			e.entry = &found{sitemap: e.entry.sitemap}
		}
		e.entry.base = e.inner()
	case "link":
		if href := attr(t, "href"); href != "" {
			e.link(href, t)
			return
		}
		if e.entry.href == "" {
			e.entry.base = e.inner()
		}
	case "guid":
		if strings.EqualFold(attr(t, "ispermalink"), "false") {
			return
		}
	}
	e.text = &strings.Builder{}
}

// link takes the URL of an entry from a link. An entry may have several, one for each type in
// which it is served (RFC 4287 section 4.1.2): a page to read comes first, then one that does
// not say, and of the same kind the first.
func (e *elements) link(href string, t xml.StartElement) {
	fit := fitOf(attr(t, "type"))
	isBetter := e.entry.href == "" || e.fit > 0 && fit > e.fit // without a fit, another element gave the URL
	if isBetter && e.isEntry(attr(t, "rel")) {
		e.entry.href, e.entry.base, e.fit = href, e.inner(), fit
	}
}

// fitOf says how well a link of a type serves as the URL of an entry; more is better, and 0 is
// no link at all.
func fitOf(kind string) int {
	switch crawl.ParseMediaType(kind).Type {
	case "text/html", "application/xhtml+xml":
		return 3
	case "":
		return 2
	}
	return 1
}

// relations begins the full names of relations of links (RFC 4287 section 4.2.7.2).
const relations = "http://www.iana.org/assignments/relation/"

// isEntry reports whether a link of a relation leads to the entry itself. In a sitemap it leads
// to the page in another language.
func (e *elements) isEntry(rel string) bool {
	return !e.list.ofURLs() && (rel == "" || strings.EqualFold(strings.TrimPrefix(rel, relations), "alternate"))
}

// close ends the innermost element of a name; an end without a start is ignored.
func (e *elements) close(name string) {
	at := len(e.open) - 1
	for at >= 0 && e.open[at] != name {
		at--
	}
	if at < 0 {
		return
	}
	e.endText()
	e.open = e.open[:at]
	if e.entry != nil && at <= e.at {
		e.flush()
	}
}

// endText ends the part that is being read, if one is.
func (e *elements) endText() {
	if e.text != nil {
		e.ended(e.open[len(e.open)-1], e.text.String())
	}
	e.text = nil
}

// ended records the text of a part. Of two dates the later counts.
func (e *elements) ended(name, text string) {
	text = strings.TrimSpace(text)
	switch name {
	case "loc", "link":
		if e.entry.href == "" {
			e.entry.href = text
		}
	case "guid":
		e.guid = text
	default:
		was, _ := ParseDate(e.entry.date)
		if is, _ := ParseDate(text); e.entry.date == "" || is.After(was) {
			e.entry.date = text
		}
	}
}

// flush adds the entry that was read, closed or not.
func (e *elements) flush() {
	if e.entry == nil {
		return
	}
	e.endText()
	if strings.TrimSpace(e.entry.href) == "" && strings.HasPrefix(e.guid, "http") {
		e.entry.href = e.guid
	}
	if e.entry.href == "" {
		e.entry.href = e.entry.bare
	}
	if e.entry.href != "" || !e.spoilt { // else it is counted
		e.list.add(e.entry.base, *e.entry, e.most)
	}
	e.open = e.open[:min(len(e.open), e.at)]
	e.entry, e.guid = nil, ""
}

// end is the end of the document.
func (e *elements) end() error {
	e.flush()
	switch {
	case e.list.Format == "":
		return ErrNoList
	case len(e.open) > 0:
		return io.ErrUnexpectedEOF
	}
	return nil
}

// attr is an attribute by its local name, whatever its case.
func attr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if strings.EqualFold(a.Name.Local, name) {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}
