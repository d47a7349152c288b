package extract

import (
	"cmp"
	"strings"

	"golang.org/x/net/html"
)

// parseFlat reads a document tag by tag, for pages nested too deeply for a tree.
// Boilerplate stays in the text, and so do elements that selectors match: without a tree
// it is unknown where they end.
func parseFlat(src Source, decoded []byte, rules Rules) Page {
	f := flat{tokens: tokensOf(decoded, isXML(src)), rules: rules}
	return f.page(src)
}

// page reads all tags.
func (f *flat) page(src Source) Page {
	for f.next() {
	}
	f.collector.end() // a link that was not closed
	f.endLine()
	page := f.collector.page(src)
	page.Title, page.Text, page.Own, page.Whole, page.Flat = cmp.Or(cleanTitle(f.title.String()), f.collector.openGraphTitle()), f.text.String(), f.own.String(), true, true
	page.Main = page.Text
	return page
}

// flat is a walk over tags.
type flat struct {
	tokens    tokens
	rules     Rules
	record    *recorder // nil for visits
	collector collector
	line      line
	text      strings.Builder
	own       strings.Builder // text without the text of links
	inLink    bool
	title     strings.Builder
	// parts are the open elements that begin a place, at most maxParts.
	parts []part
	// raw names the element whose unparsed content comes next: "script", "title" and the
	// like.
	raw string
	// templates counts open <template> elements, whose contents are inert.
	templates int
	// titled: a title was read; the first counts.
	titled bool
}

// part is an element with the place that it begins.
type part struct {
	name  string
	place Place
}

// maxParts bounds the parts that are nested in one another.
const maxParts = 64

// place returns the place of the next element.
func (f *flat) place() Place {
	if len(f.parts) == 0 {
		return PlaceBody
	}
	return f.parts[len(f.parts)-1].place
}

// next reads one token and reports whether there are more.
func (f *flat) next() bool {
	switch kind := f.tokens.Next(); kind {
	case html.ErrorToken:
		return false // the end: the reader has no other error
	case html.TextToken:
		f.textToken()
	case html.StartTagToken, html.SelfClosingTagToken:
		t := f.tokens.Token()
		f.startTag(t)
		if f.tokens.ends(kind) {
			f.endTag(t.Data)
		}
	case html.EndTagToken:
		f.endTag(f.tokens.Token().Data)
	}
	return true
}

func (f *flat) textToken() {
	switch {
	case f.templates > 0:
	case f.raw == "title" && !f.titled:
		f.title.Write(f.tokens.text())
		f.titled = true
	case !unseen[f.raw]:
		text := string(f.tokens.text())
		f.collector.text(text)
		if f.record != nil {
			f.record.text(text, len(f.line.text))
		}
		f.line.add(text, f.inLink)
	}
}

func (f *flat) startTag(t html.Token) {
	f.raw = t.Data
	switch {
	case t.Data != "template":
	case f.templates == 0 && isShadow(t.Attr):
		f.raw = ""
	default:
		f.templates++
	}
	if t.Data == "noscript" {
		f.tokens.NextIsNotRawText() // as without scripts
	}
	if t.Data == "head" {
		f.raw = "" // its end tag is often missing; its elements are read one by one
	}
	if f.templates > 0 {
		return
	}
	place := f.place().within(t.Data, t.Attr)
	if place != f.place() && len(f.parts) < maxParts {
		f.parts = append(f.parts, part{t.Data, place})
	}
	if t.Data == "a" {
		f.collector.end() // as in a tree, links are not nested
		f.inLink = isLink(t.Data, t.Attr)
	}
	f.collector.start(t.Data, t.Attr, place)
	f.breakText(t.Data)
}

func (f *flat) endTag(name string) {
	f.raw = ""
	if name == "template" && f.templates > 0 {
		f.templates--
	}
	if name == "a" {
		f.collector.end()
		f.inLink = false
	}
	for i := len(f.parts) - 1; i >= 0; i-- {
		if f.parts[i].name == name {
			f.parts = f.parts[:i]
			break
		}
	}
	f.breakText(name)
}

func (f *flat) breakText(name string) {
	switch breakOf(name) {
	case '\n':
		f.endLine()
		f.collector.space()
	case ' ':
		f.line.space()
		f.collector.space()
	}
}

func (f *flat) endLine() {
	text := f.rules.clean(f.line.trimmed())
	if f.record != nil {
		f.record.endLine(f.line.trimmed(), text, f.rules)
	}
	if len(text) > 0 {
		own := f.rules.clean(f.line.withoutLinks())
		writeLine(&f.text, text)
		writeLine(&f.own, own)
	}
	f.line.reset()
}
