package extract

import "strings"

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
	// Body is the Markdown; it ends with a line end unless it is empty.
	Body string
	// Headings are those in Body, in its order.
	Headings []Heading
}

// Heading is a heading in Markdown.
type Heading struct {
	Level  int    // from 1
	Text   string // without markup
	Anchor string // id of the element on the page, "" if there is none
	Offset int    // in bytes, of its line in Body
}

// ParseMarkdown reads a body as Parse does, and writes what a reader wants of it as Markdown.
func ParseMarkdown(src Source, rules Rules, reading Reading) (Markdown, error) {
	page, err := Parse(src, rules)
	if err != nil {
		return Markdown{}, err
	}
	body := strings.ReplaceAll(page.Text, "\n", "\n\n")
	if body != "" {
		body += "\n"
	}
	return Markdown{Page: page, Body: body}, nil
}
