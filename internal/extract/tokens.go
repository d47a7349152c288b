package extract

import (
	"bytes"

	"golang.org/x/net/html"

	"recrawl/internal/crawl"
)

// tokens reads the tags and texts of a document. XHTML is read by the rules of XML where
// they differ (HTML standard 14.2): there "/>" ends every element, text may stand in CDATA,
// and only scripts and styles have text in which tags are not read. Their "<" would make a
// browser refuse the page, but it does no harm here.
type tokens struct {
	*html.Tokenizer
	xml bool
}

func tokensOf(decoded []byte, xml bool) tokens {
	t := tokens{html.NewTokenizer(bytes.NewReader(decoded)), xml}
	t.AllowCDATA(xml)
	return t
}

// isXML reports whether a document is XHTML.
func isXML(src Source) bool {
	return crawl.ParseMediaType(src.ContentType).Type == "application/xhtml+xml"
}

// Next reads the next token.
func (t tokens) Next() html.TokenType {
	kind := t.Tokenizer.Next()
	if t.xml && (kind == html.SelfClosingTagToken || kind == html.StartTagToken && !t.startsCode()) {
		t.NextIsNotRawText()
	}
	return kind
}

// startsCode reports whether the current tag begins a script or a style.
func (t tokens) startsCode() bool {
	tag := t.Raw()
	return hasName(tag, "<script") || hasName(tag, "<style")
}

func hasName(tag []byte, begin string) bool {
	return len(tag) >= len(begin) && bytes.EqualFold(tag[:len(begin)], []byte(begin))
}

// ends reports whether the element of a tag ends with it, whatever its name.
func (t tokens) ends(kind html.TokenType) bool { return t.xml && kind == html.SelfClosingTagToken }

// text returns the text of a text token. In CDATA there are no references.
func (t tokens) text() []byte {
	const begin, end = "<![CDATA[", "]]>"
	if raw := t.Raw(); t.xml && bytes.HasPrefix(raw, []byte(begin)) {
		return bytes.TrimSuffix(raw[len(begin):], []byte(end))
	}
	return t.Text()
}
