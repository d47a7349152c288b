package extract

import (
	"strings"

	"recrawl/internal/crawl"
)

// Reading says how much of a page is read.
type Reading int

const (
	// ReadMain is the main text, in which changes are found.
	ReadMain Reading = iota
	// ReadArticle is the article alone, for reading.
	ReadArticle
	// ReadAll is all that a reader sees.
	ReadAll
)

// Markdown is a page as GitHub Flavored Markdown.
type Markdown struct {
	Page
	// Displayed is Text without elements that are not displayed, for readers who search:
	// changes are found in all of Text, and a page may hide words from people there.
	Displayed string
	// Body is the Markdown; it ends with a line end unless it is empty.
	Body string
	// Headings are the headings of Body outside of lists and quotes.
	Headings []Heading
}

// Heading is a heading of a Markdown body.
type Heading struct {
	Level  int    // from 1 to 6
	Text   string // without marks
	Anchor string // the id of the element at it, "" if there is none
	Offset int    // of its line in the body, in bytes
}

// ParseMarkdown reads a body as Parse does, and writes a reading of it as Markdown, in time
// and memory proportional to the body. The Markdown takes at most twice the bytes of the
// decoded body plus 64 KiB. Its only HTML is <br> in cells of tables, and its links have
// the schemes http, https and mailto.
func ParseMarkdown(src Source, rules Rules, reading Reading) (Markdown, error) {
	return parseMarkdown(src, rules, reading, nil)
}

// parseMarkdown also passes to left, unless nil, the text that stays but has no place in
// Markdown, such as the numbers of lines of code.
func parseMarkdown(src Source, rules Rules, reading Reading, left func(string)) (Markdown, error) {
	media := crawl.ParseMediaType(src.ContentType)
	isHTML := media.Type == "" || media.Type == "text/html" || media.Type == "application/xhtml+xml"
	if !isHTML && !isPlain(media.Type) {
		return Markdown{}, nil
	}
	decoded, charset, err := decode(src.Body, media)
	if err != nil {
		return Markdown{}, err
	}
	src.charset = charset
	var m Markdown
	if isHTML {
		m = markdownOfHTML(src, decoded, rules.at(src.URL), reading, left)
	} else {
		m = markdownOfPlain(src, decoded, rules.at(src.URL), reading)
	}
	m.Charset = charset
	return m, nil
}

// allowance is the size of Markdown allowed beyond twice the bytes of its source.
const allowance = 64 << 10

// markdownOfHTML reads a document by its tree or, if it has none, by its tags.
func markdownOfHTML(src Source, decoded []byte, rules Rules, reading Reading, left func(string)) Markdown {
	root, err := readTree(decoded, isXML(src))
	if err != nil {
		return markdownOfFlat(src, decoded, rules, reading)
	}
	s := surveyOf(root, rules.ignored(root))
	var r recorder
	page := parseSurveyed(src, root, s, rules, &r)
	displayed := displayedText(root, s, r.choice, page.Text)
	if reading == ReadAll && len(rules.selectors) > 0 {
		s = surveyOf(root, nil)
	}
	kept := s.keep(root, reading, rules, &r)
	plan := planOf(root, s, kept)
	w := newMarkdownWriter(addressesOf(src, &s.collector), 2*len(decoded)+allowance, decorations(len(decoded), plan.bytes, len(s.elements)))
	k := markdownWalk{survey: s, choice: kept, plan: plan, w: w, left: left}
	k.visit(root, &k)
	m := w.finish(page)
	m.Displayed = displayed
	return m
}

// decorations returns the bytes that Markdown of a document may have besides the text: what
// is sure to be left even if each character is escaped and each element begins a block.
func decorations(size, text, elements int) int {
	const block = 4 // bytes around one
	return max(0, allowance/2+2*size-2*text-block*elements)
}

// finish ends the Markdown of a page.
func (w *markdownWriter) finish(page Page) Markdown {
	w.endBlock()
	return Markdown{Page: page, Displayed: page.Text, Body: string(w.out), Headings: w.headings}
}

// markdownOfPlain writes the lines of a text that is no HTML unchanged.
func markdownOfPlain(src Source, decoded []byte, rules Rules, reading Reading) Markdown {
	page := parsePlain(src, decoded, rules)
	if reading == ReadAll {
		rules = Rules{}
	}
	w := newMarkdownWriter(addressesOf(src, &collector{}), 2*len(decoded)+allowance, allowance/2)
	for text := range strings.Lines(string(decoded)) {
		text = strings.TrimSpace(text)
		if text == "" {
			w.endBlock()
			continue
		}
		w.breakLine()
		w.add(string(rules.clean([]byte(collapse(text)))))
	}
	return w.finish(page)
}
