package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/language"
)

// languages are where a page may say its language, the most telling first.
type languages struct{ root, meta string }

// element reads what <html> and <meta http-equiv=content-language> say; the
// first of each counts.
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

// tag is the page's language as a BCP 47 tag in canonical form, "" if nobody says
// it, or only what is none. header is the Content-Language of the response.
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

// canonicalLanguage reads the first of a list of tags. A list names the readers
// that a page is for, and its first one is as good a guess as any.
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
