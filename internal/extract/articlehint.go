package extract

import (
	"strings"

	"golang.org/x/net/html"
)

// articleHint holds an element's part in an article, by its markup. Only articles use it:
// to find changes, hint is enough.
type articleHint uint16

const (
	// hintBody: the text of an article.
	hintBody articleHint = 1 << iota
	// hintNoise: a part of the page outside the article, such as its side column.
	hintNoise
	// hintOthers: what readers or machines say on the page, such as its comments. It is no article, however long.
	hintOthers
	// hintThread: comments by their heading, which counts them: "3 comments".
	hintThread
	// hintByline: a line about the article or its pictures, such as its author and its date.
	hintByline
	// hintHidden: not shown, by a style.
	hintHidden
	// hintControl: something that a reader may press or fill in.
	hintControl
	// hintVerbatim: code, or in code, where classes stand for the colours of words.
	hintVerbatim
	// hintPart: a heading, or a part of a list or a table, which stay whole.
	hintPart
	// hintInset: an aside or a footer that is part of the text: a note, a warning, footnotes.
	hintInset
)

// articleElements are the hints of element names.
var articleElements = func() map[string]articleHint {
	hints := map[string]articleHint{}
	for h, list := range map[articleHint]string{
		hintNoise:    "nav footer aside menu noscript",
		hintControl:  "button select textarea input dialog datalist progress meter",
		hintVerbatim: "pre code samp kbd",
		hintByline:   "figcaption",
		hintPart:     "h1 h2 h3 h4 h5 h6 li dt dd thead tbody tfoot tr td th",
	} {
		for name := range strings.FieldsSeq(list) {
			hints[name] = h
		}
	}
	return hints
}()

// articleNames are the hints of words in classes and ids; see eachWord.
var articleNames = func() map[string]articleHint {
	hints := map[string]articleHint{}
	for h, list := range map[articleHint]string{
		hintOthers: `comment comments commenting commentlist commentarea commentbox commentsection disqus livefyre viafoura respond replies
			kommentare kommentarbereich kommentarer kommentit comentario comentarios commentaire commentaires commenti komentarze komentare
			yorumlar reacties otzyvy modal popup cookie cookies consent gdpr`,
		hintNoise: `related recommended recommendation recommendations recirc recirculation upsell popular trending teaser teasers
			share sharing shares social addthis sharedaddy newsletter subscribe subscription signup login
			promo promos promotion ad ads adslot advert adverts advertisement advertising sponsored taboola outbrain
			sidebar footer masthead colophon banner breadcrumb breadcrumbs menu nav navbar navigation pagination
			pager paging toolbar rating ratings votes tags taglist tagcloud
			infobox jump skip print`,
		hintByline: `byline author authors bio meta metadata date dates dateline timestamp published updated time posted
			credit credits copyright caption captions disclaimer source tag category categories kicker eyebrow reading
			views viewcount tools actions buttons follow more next prev previous`,
	} {
		for name := range strings.FieldsSeq(list) {
			hints[name] = h
		}
	}
	return hints
}()

// The names of an article's text have two words: one for the article and one for its text
// ("entry-content", "articleBody", "post__text").
var (
	bodyOwners = set("article post entry story news blog page single main field")
	bodyTexts  = set("body content text copy")
	// verses name a text of short lines by themselves.
	verses = set("lyrics lyric songtext poem")
)

// articleHintsOf reads the hints of one element.
func articleHintsOf(n *html.Node) articleHint {
	h := articleElements[n.Data]
	var named articleHint
	for _, a := range n.Attr {
		if a.Namespace != "" {
			continue
		}
		switch a.Key {
		case "id":
			// Ids of sections are made from their headings.
			if n.Data != "html" && n.Data != "body" && n.Data != "section" {
				if said := articleNamesOf(a.Val) &^ hintByline; said&(hintNoise|hintOthers) == 0 || !isSectionOf(n, a.Val) {
					named |= said
				}
			}
		case "class":
			if n.Data != "html" && n.Data != "body" { // they are about the whole page
				named |= articleNamesOf(a.Val)
			}
		case "itemprop":
			if strings.EqualFold(strings.TrimSpace(a.Val), "articleBody") {
				h |= hintBody
			}
		case "style":
			if hidesByStyle(a.Val) && !hasFormula(n, nil) { // a picture shows the formula, as in Wikipedia
				h |= hintHidden
			}
		}
	}
	if (n.Data == "aside" || n.Data == "footer") && named&(hintNoise|hintOthers) == 0 && (isAdmonition(n) || isNotes(n)) {
		h |= hintInset
	}
	if isListing(n) {
		h |= hintVerbatim
	}
	return h | named
}

// articleNamesOf reads the hints of a class or id attribute.
func articleNamesOf(value string) articleHint {
	const longest = 64 // bytes of a name; longer ones are made by machines
	var h articleHint
	for name := range strings.FieldsSeq(value) {
		if len(name) > longest {
			continue
		}
		var buffer [longest]byte
		first, files, owned, text, verse := true, false, false, false, false
		var said articleHint
		eachWord(name, func(word string, _ int) {
			lower := appendLower(buffer[:0], word)
			files = files || first && filing[string(lower)]
			first = false
			if files {
				return
			}
			said |= articleNames[string(lower)]
			owned, text = owned || bodyOwners[string(lower)], text || bodyTexts[string(lower)]
			verse = verse || verses[string(lower)]
		})
		if owned && text || verse && said == 0 {
			said |= hintBody
		}
		h |= said
	}
	return h
}

// hidesByStyle reports whether a style attribute hides its element.
func hidesByStyle(style string) bool {
	for declaration := range strings.SplitSeq(style, ";") {
		property, value, _ := strings.Cut(declaration, ":")
		property, value = strings.ToLower(strings.TrimSpace(property)), strings.ToLower(strings.TrimSpace(value))
		value, _, _ = strings.Cut(value, "!")
		switch strings.TrimSpace(value) {
		case "none":
			if property == "display" {
				return true
			}
		case "hidden":
			if property == "visibility" {
				return true
			}
		}
	}
	return false
}
