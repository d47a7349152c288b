package extract

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"

	"recrawl/internal/urlkey"
)

// parseFlat reads a document tag by tag, for pages nested too deeply for a tree.
// Boilerplate stays in the text: without a tree nobody knows where it ends.
func parseFlat(decoded []byte, base urlkey.URL) Page {
	f := flat{tokens: html.NewTokenizer(bytes.NewReader(decoded))}
	for f.next() {
	}
	page := f.collector.page(base)
	page.Title, page.Text, page.Flat = cleanTitle(f.title.String()), collapse(f.text.String()), true
	return page
}

// flat is a walk over tags.
type flat struct {
	tokens    *html.Tokenizer
	collector collector
	text      strings.Builder
	title     strings.Builder
	// raw is the element whose unparsed content comes next: "script", "title" and
	// the like.
	raw string
	// templates counts open <template> elements, whose contents are inert.
	templates int
	// titled: a title was read; the first counts.
	titled bool
}

// next reads one token and reports whether there are more.
func (f *flat) next() bool {
	switch kind := f.tokens.Next(); kind {
	case html.ErrorToken:
		return false // the end: the reader has no other error
	case html.TextToken:
		f.textToken()
	case html.StartTagToken, html.SelfClosingTagToken:
		f.startTag(f.tokens.Token())
	case html.EndTagToken:
		f.endTag(f.tokens.Token().Data)
	}
	return true
}

func (f *flat) textToken() {
	switch {
	case f.templates > 0:
	case f.raw == "title" && !f.titled:
		f.title.WriteString(f.tokens.Token().Data)
		f.titled = true
	case !unseen[f.raw]:
		f.text.WriteString(f.tokens.Token().Data)
	}
}

func (f *flat) startTag(t html.Token) {
	if t.Data == "template" {
		f.templates++
	}
	f.raw = t.Data
	if t.Data == "noscript" {
		f.tokens.NextIsNotRawText() // as without scripts
	}
	if t.Data == "head" {
		f.raw = "" // its end tag is often missing; its elements are told one by one
	}
	if f.templates > 0 {
		return
	}
	f.collector.element(t.Data, t.Attr)
	f.breakWord(t.Data)
}

func (f *flat) endTag(name string) {
	f.raw = ""
	if name == "template" && f.templates > 0 {
		f.templates--
	}
	f.breakWord(name)
}

func (f *flat) breakWord(name string) {
	if !inline[name] {
		f.text.WriteByte(' ')
	}
}
