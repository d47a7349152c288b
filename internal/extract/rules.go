package extract

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// Rules say what one crawl takes for the text of its pages. The zero Rules give the plain
// main text.
type Rules struct {
	selectors []goquery.Matcher // of ignored elements
	patterns  []*regexp.Regexp
	selected  []goquery.Matcher // of the elements that count; everything if there are none
	of        []pagesRules
}

// pagesRules are the rules of some pages; they hold those of the crawl, too.
type pagesRules struct {
	urlkey.Pages
	rules Rules
}

// NewRules compiles a spec's rules. The error is a *crawl.SpecError that names
// the field.
func NewRules(spec crawl.ContentSpec) (Rules, error) {
	var own Rules
	if err := own.add("content", nil, spec.IgnoreSelectors, spec.IgnorePatterns); err != nil {
		return Rules{}, err
	}
	all := own
	for i, rule := range spec.Rules {
		rules := Rules{selectors: slices.Clone(own.selectors), patterns: slices.Clone(own.patterns)}
		if err := rules.add(fmt.Sprintf("content.rules[%d]", i), rule.Select, rule.IgnoreSelectors, rule.IgnorePatterns); err != nil {
			return Rules{}, err
		}
		all.of = append(all.of, pagesRules{urlkey.PagesOf(rule.Prefix, rule.Host), rules})
	}
	return all, nil
}

// add compiles lists of a spec.
func (r *Rules) add(field string, selected, ignored, patterns []string) error {
	for _, list := range []struct {
		name  string
		texts []string
		to    *[]goquery.Matcher
	}{
		{"select", selected, &r.selected},
		{"ignore_selectors", ignored, &r.selectors},
	} {
		for i, text := range list.texts {
			selector, err := cascadia.Compile(text)
			if err != nil {
				return &crawl.SpecError{Field: fmt.Sprintf("%s.%s[%d]", field, list.name, i), Problem: fmt.Sprintf("%q is no CSS selector such as .advert or #clock: %v", text, err)}
			}
			*list.to = append(*list.to, selector)
		}
	}
	for i, text := range patterns {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return &crawl.SpecError{Field: fmt.Sprintf("%s.ignore_patterns[%d]", field, i), Problem: err.Error()}
		}
		r.patterns = append(r.patterns, pattern)
	}
	return nil
}

// at returns the rules of a page: those of the first rule of the spec that matches it.
func (r Rules) at(page urlkey.URL) Rules {
	if len(r.of) == 0 {
		return r
	}
	url := page.String()
	for _, pages := range r.of {
		if pages.Has(url) {
			return pages.rules
		}
	}
	return r
}

// ignored returns the elements of a document whose text is ignored.
func (r Rules) ignored(root *html.Node) map[*html.Node]bool { return matches(root, r.selectors) }

// matches returns the elements of a document that any of the selectors matches.
func matches(root *html.Node, selectors []goquery.Matcher) map[*html.Node]bool {
	if len(selectors) == 0 {
		return nil
	}
	found := map[*html.Node]bool{}
	doc := goquery.NewDocumentFromNode(root)
	for _, selector := range selectors {
		for _, n := range doc.FindMatcher(selector).Nodes {
			found[n] = true
		}
	}
	return found
}

// CleanTitle removes from a page's title what the crawl ignores in lines of its text.
func (r Rules) CleanTitle(page urlkey.URL, title string) string {
	return string(r.at(page).clean([]byte(title)))
}

// clean removes all matches of the patterns from one line of text.
func (r Rules) clean(line []byte) []byte {
	for _, pattern := range r.patterns {
		line = bytes.Join(bytes.Fields(pattern.ReplaceAllLiteral(line, []byte(" "))), []byte(" "))
	}
	return line
}
