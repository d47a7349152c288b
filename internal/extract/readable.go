package extract

import (
	"strings"

	"golang.org/x/net/html"

	"recrawl/internal/crawl"
)

// Readable returns a body's visible text for people who read or compare it: a
// line for each paragraph, heading ("# "), list item ("- ") and row of a table
// ("a | b"), with navigation and the like, but without scripts. Text that is not HTML keeps
// its lines. For a body that is no text it returns "". The error says that the body could
// not be decoded.
func Readable(body []byte, contentType string) (string, error) {
	media := crawl.ParseMediaType(contentType)
	plain := false
	switch {
	case media.Type == "", media.Type == "text/html", media.Type == "application/xhtml+xml":
	case isPlain(media.Type):
		plain = true
	default:
		return "", nil
	}
	decoded, _, err := decode(body, media)
	if err != nil {
		return "", err
	}
	if plain {
		return cleanLines(string(decoded)), nil
	}
	var w lineWriter
	xml := media.Type == "application/xhtml+xml"
	if root, err := readTree(decoded, xml); err == nil {
		w.node(root)
	} else {
		w.tokens(tokensOf(decoded, xml))
	}
	return cleanLines(w.b.String()), nil
}

// Comparison is what of a body is compared, for people, in lines without control characters.
type Comparison struct {
	Text  string // a block a line
	Looks string // see Page.Looks: "[button] Buy"
}

// Compared returns the text of a body in which changes are found, and its looks, by the rules of
// its crawl. There is nothing in a body that is no text.
func Compared(src Source, rules Rules) (Comparison, error) {
	page, err := Parse(src, rules)
	if err != nil {
		return Comparison{}, err
	}
	var text, looks strings.Builder
	for line := range strings.Lines(page.Text) {
		writeClean(&text, line)
	}
	for _, l := range page.Looks {
		writeClean(&looks, "["+l.Kind+"] "+l.Text)
	}
	return Comparison{text.String(), looks.String()}, nil
}

func writeClean(b *strings.Builder, line string) {
	if line = crawl.Clean(line, 3*len(line)); line != "" {
		b.WriteString(line)
		b.WriteByte('\n')
	}
}

// cleanLines makes lines fit for a terminal: single spaces, no control
// characters, no empty lines.
func cleanLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		// Each cell ends with a bar, the last one too.
		line = strings.TrimRight(collapse(crawl.Clean(line, 3*len(line))), "| ")
		if line == "" || line == "-" || line == "#" {
			continue
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// lineWriter collects text; elements decide where lines begin.
type lineWriter struct {
	b strings.Builder
	// verbatim counts open <pre>, whose line ends are the author's.
	verbatim int
}

// openings are the beginnings of lines of some elements.
var openings = map[string]string{
	"li": "- ", "h1": "# ", "h2": "# ", "h3": "# ", "h4": "# ", "h5": "# ", "h6": "# ", "dd": "- ",
}

func (w *lineWriter) open(name string) {
	switch {
	case name == "td", name == "th", breakOf(name) == 0:
	case breakOf(name) == ' ':
		w.b.WriteByte(' ')
	default:
		w.b.WriteString("\n" + openings[name])
	}
}

func (w *lineWriter) close(name string) {
	switch {
	case name == "td", name == "th":
		w.b.WriteString(" | ")
	case breakOf(name) == 0:
	case breakOf(name) == ' ':
		w.b.WriteByte(' ')
	default:
		w.b.WriteByte('\n')
	}
}

func (w *lineWriter) text(s string) {
	if w.verbatim == 0 {
		s = strings.Map(func(r rune) rune {
			if r == '\n' || r == '\r' {
				return ' '
			}
			return r
		}, s)
	}
	w.b.WriteString(s)
}

// node writes the text below a node. Its depth is bounded by the parser's limit
// of open elements.
func (w *lineWriter) node(n *html.Node) {
	if n.Type == html.TextNode {
		w.text(n.Data)
		return
	}
	if n.Type == html.ElementNode {
		if isUnseen(n) || isHidden(n) || isFormulaAgain(n, nil) {
			return
		}
		if n.Data == "pre" {
			w.verbatim++
			defer func() { w.verbatim-- }()
		}
		w.open(n.Data)
		defer w.close(n.Data)
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		w.node(child)
	}
}

// tokens writes the text of a document tag by tag.
func (w *lineWriter) tokens(tokens tokens) {
	raw := ""
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			return
		case html.TextToken:
			if !unseen[raw] || raw == "head" {
				w.text(string(tokens.text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			raw = tokens.Token().Data
			w.open(raw)
			if tokens.ends(kind) {
				w.close(raw)
				raw = ""
			}
		case html.EndTagToken:
			raw = ""
			w.close(tokens.Token().Data)
		}
	}
}
