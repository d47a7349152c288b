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
