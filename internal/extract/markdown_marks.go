package extract

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// Classes and the like that mark parts of a page for which Markdown has a form, or none.

// hasClass reports whether an element has any of some classes.
func hasClass(n *html.Node, any ...string) bool {
	if n == nil {
		return false
	}
	classes, _ := attribute(n.Attr, "class")
	if classes == "" {
		return false
	}
	for class := range strings.FieldsSeq(classes) {
		if slices.Contains(any, class) {
			return true
		}
	}
	return false
}

// isUndisplayed reports whether an element's own style hides it, or it is a closed dialog. A page that
// is hidden as a whole waits for a script to show it.
func isUndisplayed(n *html.Node) bool {
	if _, open := attribute(n.Attr, "open"); n.Data == "dialog" && !open {
		return true
	}
	style, ok := attribute(n.Attr, "style")
	return ok && n.Data != "html" && n.Data != "body" && hidesByStyle(style)
}

// isUndisplayed is isUndisplayed for an element by its number. One with nearly all text of the page waits for a
// script, too.
func (s *survey) isUndisplayed(n *html.Node, i int32) bool {
	return isUndisplayed(n) && (n.Data == "dialog" || !s.isNearlyAll(i))
}

// isNearlyAll reports whether an element has nearly all text of the page.
func (s *survey) isNearlyAll(i int32) bool { return 10*s.elements[i].units >= 9*s.total.units }

// isVerbatim reports whether the lines and spaces of an element's text stay: it is a <pre>, or a block of
// code whose lines are elements, as Doxygen writes it.
func isVerbatim(n *html.Node) bool { return n.Data == "pre" || isListing(n) }

// isListing reports whether an element is a block of code outside of a <pre>, with an element for each line.
func isListing(n *html.Node) bool {
	if n.Data != "div" || !hasClass(n, "fragment") {
		return false
	}
	first := n.FirstChild
	for first != nil && first.Type != html.ElementNode {
		first = first.NextSibling
	}
	return first != nil && first.Data == "div" && hasClass(first, "line")
}

// isTooltip reports whether an element shows only while a reader points at a word of a listing.
func isTooltip(n *html.Node) bool {
	return n.Data == "div" && hasClass(n, "ttc") && n.Parent != nil && isListing(n.Parent)
}

// lineNumbers are the classes of line numbers of code.
var lineNumbers = []string{
	"linenos", "lineno", "linenodiv", "linenumbers", "line-numbers", "line-number", "lnt", "lntd-number", "ln", "gutter", "gl", "rouge-gutter",
	"hljs-ln-numbers", "hljs-ln-n", "blob-num", "line-numbers-rows", "CodeMirror-linenumber", "react-syntax-highlighter-line-number",
}

// isLineNumber reports whether an element has only line numbers.
func isLineNumber(n *html.Node) bool {
	if n.Data != "td" && n.Data != "th" && n.Data != "span" && n.Data != "a" && n.Data != "div" && n.Data != "pre" {
		return false
	}
	return hasClass(n, lineNumbers...) && isNumbers(n) || n.Data == "td" && hasClass(n, "lntd", "code-line-numbers") && isNumbers(n)
}

// isNumbers reports whether an element's text is numbers, or nothing.
func isNumbers(n *html.Node) bool {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.Type == html.TextNode && strings.IndexFunc(child.Data, func(r rune) bool { return !unicode.IsDigit(r) && !unicode.IsSpace(r) }) >= 0 {
			return false
		}
		if child.Type == html.ElementNode && !isNumbers(child) {
			return false
		}
	}
	return true
}

// permalinks are the classes of links from a heading to itself.
var permalinks = []string{
	"headerlink", "header-anchor", "heading-anchor", "heading-link", "hash-link", "permalink", "anchorjs-link", "anchor", "anchor-link",
	"headinglink", "direct-link", "self-link", "autolink-header", "hanchor", "doc-anchor",
}

// isPermalink reports whether a link leads to the place where it stands.
func isPermalink(n *html.Node) bool {
	if n.Data != "a" {
		return false
	}
	href, ok := attribute(n.Attr, "href")
	if !ok || !strings.Contains(href, "#") {
		return false
	}
	text := shortText(n)
	wordless := strings.IndexFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0
	return hasClass(n, permalinks...) && (wordless || len(text) < 32 && isAnchorWord(text)) ||
		text == "¶" || text == "#" && href[0] == '#' || text == "§" && href[0] == '#'
}

// isAnchorWord reports whether a text says that a link is a permalink.
func isAnchorWord(text string) bool {
	text = strings.ToLower(text)
	return strings.HasPrefix(text, "permalink") || strings.HasPrefix(text, "link to") || strings.HasPrefix(text, "anchor") || text == "link" || strings.HasPrefix(text, "direct link")
}

// isCopyButton reports whether a button copies code.
func isCopyButton(n *html.Node) bool {
	if n.Data != "button" && n.Data != "clipboard-copy" {
		return false
	}
	if inCode(n) {
		return true
	}
	classes, _ := attribute(n.Attr, "class")
	classes = strings.ToLower(classes)
	return n.Data == "clipboard-copy" || strings.Contains(classes, "copy") || strings.Contains(classes, "clipboard")
}

// isNoteMark reports whether an element only repeats the mark of a note.
func isNoteMark(n *html.Node) bool {
	return n.Data == "span" && hasClass(n, "label", "fn-bracket", "backrefs", "mw-cite-backlink") && len(shortText(n)) < 32
}

// admonitions are the classes of boxes that stand out of the text; kindsOfAdmonition need
// no other.
var admonitions = []string{
	"admonition", "admonitionblock", "callout", "alert", "markdown-alert", "theme-admonition", "custom-block", "bs-callout", "notecard",
	"starlight-aside", "note", "warning", "tip", "caution", "danger", "important", "attention", "seealso", "hint", "deprecated", "versionadded", "versionchanged",
}

// isAdmonition reports whether an element is a note, a warning or the like.
func isAdmonition(n *html.Node) bool {
	role, _ := attribute(n.Attr, "role")
	return role == "note" || hasClass(n, admonitions...)
}

// isNotes reports whether an element is a note of a text, or has all of them.
func isNotes(n *html.Node) bool {
	role, _ := attribute(n.Attr, "role")
	return role == "doc-footnote" || role == "doc-endnotes" || hasClass(n, "footnote", "footnotes", "footnote-list")
}

// isAdmonitionTitle reports whether an element is the title of one.
func isAdmonitionTitle(n *html.Node) bool {
	return hasClass(n, "admonition-title", "callout-title", "alert-heading", "alert-title", "markdown-alert-title", "custom-block-title", "admonition-heading", "starlight-aside__title")
}

// languageOf returns the programming language of a <pre>, by its classes and those of the
// elements around it.
func languageOf(n *html.Node) string {
	for depth := 0; n != nil && depth < 7; n, depth = n.Parent, depth+1 {
		if language := languageOfClass(n); language != "" {
			return language
		}
	}
	return ""
}

// languageOfClass reads the language that an element names.
func languageOfClass(n *html.Node) string {
	if language, _ := attribute(n.Attr, "data-lang"); isLanguage(language) {
		return strings.ToLower(language)
	}
	if language, _ := attribute(n.Attr, "data-language"); isLanguage(language) {
		return strings.ToLower(language)
	}
	classes, _ := attribute(n.Attr, "class")
	for class := range strings.FieldsSeq(classes) {
		for _, prefix := range [...]string{"language-", "lang-", "highlight-source-", "highlight-text-", "highlight-", "brush:"} {
			if language, ok := strings.CutPrefix(class, prefix); ok && isLanguage(language) {
				return strings.ToLower(language)
			}
		}
	}
	return ""
}

// isLanguage reports whether a text may name a language: not one of the words that
// highlighters use for none.
func isLanguage(text string) bool {
	const most = 20
	switch text {
	case "", "none", "default", "plain", "plaintext", "nohighlight", "no-highlight", "wrapper", "container", "body", "block", "line", "lines", "source":
		return false
	}
	return len(text) <= most && strings.IndexFunc(text, func(r rune) bool {
		return r > 0x7f || !isSmall(byte(r)|' ') && !isDigit(byte(r)) && !strings.ContainsRune("+#-_.", r)
	}) < 0
}
