package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/language"
)

// languages are the places where a page may state its language, the most reliable first.
type languages struct{ root, meta string }

// element reads the language of <html> and <meta http-equiv=content-language>; the first of
// each counts.
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
		if content, ok := attribute(attributes, "content"); ok && l.meta == "" && strings.EqualFold(strings.TrimSpace(equiv), "content-language") {
			l.meta = content
		}
	}
}

// tag returns the page's language as a BCP 47 tag in canonical form, "" if there is no
// valid one. header is the Content-Language of the response.
func (l *languages) tag(header string) string {
	for _, said := range []string{l.root, l.meta, header} {
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
	if err != nil || tag == language.Und {
		return ""
	}
	return tag.String()
}
