package extract

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"recrawl/internal/crawl"
)

// Rules are what one crawl leaves out of the text of its pages, besides what is
// no main text on any. The zero Rules leave out nothing.
type Rules struct {
	selectors []goquery.Matcher
	patterns  []*regexp.Regexp
}

// NewRules compiles a spec's rules. The error is a *crawl.SpecError that names
// the field.
func NewRules(spec crawl.ContentSpec) (Rules, error) {
	var r Rules
	for i, text := range spec.IgnoreSelectors {
		selector, err := cascadia.Compile(text)
		if err != nil {
			return Rules{}, &crawl.SpecError{Field: fmt.Sprintf("content.ignore_selectors[%d]", i), Problem: fmt.Sprintf("%q is no CSS selector such as .advert or #clock: %v", text, err)}
		}
		r.selectors = append(r.selectors, selector)
	}
	for i, text := range spec.IgnorePatterns {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return Rules{}, &crawl.SpecError{Field: fmt.Sprintf("content.ignore_patterns[%d]", i), Problem: err.Error()}
		}
		r.patterns = append(r.patterns, pattern)
	}
	return r, nil
}

// ignored are the elements of a document that the selectors match.
func (r Rules) ignored(root *html.Node) map[*html.Node]bool {
	if len(r.selectors) == 0 {
		return nil
	}
	ignored := map[*html.Node]bool{}
	doc := goquery.NewDocumentFromNode(root)
	for _, selector := range r.selectors {
		for _, n := range doc.FindMatcher(selector).Nodes {
			ignored[n] = true
		}
	}
	return ignored
}

// clean removes what the patterns match from one line of text.
func (r Rules) clean(line []byte) []byte {
	for _, pattern := range r.patterns {
		line = bytes.Join(bytes.Fields(pattern.ReplaceAllLiteral(line, []byte(" "))), []byte(" "))
	}
	return line
}
