package extract

import (
	"cmp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/language"
)

// languages are the places where a page may state its language, the most reliable first.
type languages struct{ root, meta, named, locale string }

// element reads the language of <html>, of <meta http-equiv=content-language>, and of the names that
// programs without these use; the first of each counts.
func (l *languages) element(name string, attributes []html.Attribute) {
	switch name {
	case "html":
		for _, key := range []string{"lang", "xml:lang"} {
			if value, ok := attribute(attributes, key); ok && l.root == "" {
				l.root = value
			}
		}
	case "meta":
		equiv, _ := attribute(attributes, "http-equiv")
		name, _ := attribute(attributes, "name")
		property, _ := attribute(attributes, "property")
		content, _ := attribute(attributes, "content")
		if content = strings.TrimSpace(content); content == "" {
			return
		}
		switch is := func(said, name string) bool { return strings.EqualFold(strings.TrimSpace(said), name) }; {
		case is(equiv, "content-language"):
			l.meta = cmp.Or(l.meta, content)
		case is(name, "language"), is(name, "dc.language"), is(name, "dcterms.language"):
			l.named = cmp.Or(l.named, content)
		case is(property, "og:locale"):
			l.locale = cmp.Or(l.locale, content)
		}
	}
}

// tag returns the page's language as a BCP 47 tag in canonical form, "" if there is no
// valid one. header is the Content-Language of the response.
func (l *languages) tag(header string) string {
	for _, said := range []string{l.root, l.meta, header, l.named, l.locale} {
		if tag := canonicalLanguage(said); tag != "" {
			return tag
		}
	}
	return ""
}

// maxLanguage bounds a tag in bytes: RFC 5646 4.4.1 needs 35 for all but oddities.
const maxLanguage = 64

// canonicalLanguage reads the first of a list of tags. A list names the languages of a
// page's readers, and the first is as good a guess as any.
func canonicalLanguage(list string) string {
	first, _, _ := strings.Cut(list, ",")
	first = strings.TrimSpace(first)
	if first == "" || len(first) > maxLanguage {
		return ""
	}
	tag, err := language.Parse(first)
	for err != nil { // "de-DE-formal" of WordPress says more than there are names for
		last := strings.LastIndexAny(first, "-_")
		if last < 0 || !isTag(first) {
			return ""
		}
		first = first[:last]
		tag, err = language.Parse(first)
	}
	if tag == language.Und {
		return ""
	}
	return tag.String()
}

// isTag reports whether a text has the form of a tag: subtags of at most eight letters and digits.
func isTag(text string) bool {
	for subtag := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '-' || r == '_' }) {
		const longest = 8
		if len(subtag) > longest || strings.IndexFunc(subtag, func(r rune) bool { return !isDigit(byte(r)) && !isSmall(byte(r)|' ') || r > 0x7f }) >= 0 {
			return false
		}
	}
	return true
}
