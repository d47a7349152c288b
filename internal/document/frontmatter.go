package document

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// File returns the document as a file: its front matter, in YAML, and its Markdown.
func (d Document) File() string {
	return d.FrontMatter() + "\n" + d.Markdown
}

// FrontMatter returns the document's metadata, in YAML between two lines of three hyphens.
// Unknown fields are left out, and text of a site or a person is in double quotes.
func (m Meta) FrontMatter() string {
	var b strings.Builder
	b.WriteString("---\n")
	line := func(key, value string) { fmt.Fprintf(&b, "%s: %s\n", key, value) }
	known := func(key, value string) {
		if value != "" {
			line(key, quoted(value))
		}
	}
	line("url", quoted(m.URL))
	line("title", quoted(m.Title))
	line("crawl", quoted(m.Crawl))
	line("page", strconv.FormatInt(m.Page, 10))
	line("version", strconv.Itoa(m.Version))
	line("fetched", stamp(m.Fetched))
	line("changed", stamp(m.Changed))
	known("language", m.Language)
	known("canonical", m.Canonical)
	known("content_type", m.ContentType)
	line("text_sha256", quoted(m.TextSHA256))
	if len(m.Reserved) > 0 {
		b.WriteString("reserved:\n")
	}
	for _, r := range m.Reserved {
		fmt.Fprintf(&b, "  - use: %s\n    allowed: %t\n    source: %s\n", quoted(string(r.Use)), r.Allowed, quoted(r.Source))
	}
	b.WriteString("---\n")
	return b.String()
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// quoted writes a text as a double-quoted scalar of YAML (7.3.1), on one line. Invisible
// characters are escaped, so that they neither end the front matter nor reverse its text.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(text, string(utf8.RuneError)) {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
