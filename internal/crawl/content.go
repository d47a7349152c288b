package crawl

import (
	"fmt"
	"regexp"
	"strings"
)

// ContentRule defines the text of some of a crawl's pages.
type ContentRule struct {
	// Prefix is the beginning of the addresses of its pages, such as
	// https://example.com/shop/: as text, so that /shop covers /shopping too.
	Prefix string `json:"prefix,omitempty"`
	// Host is the host of its pages, with the port if there is one; *.example.com
	// are all hosts below example.com. A rule has a prefix or a host, not both.
	Host string `json:"host,omitempty"`
	// Select are CSS selectors, such as .price or table#fees, of the elements whose
	// text is compared; the rest of the page is not. A page that has no text in any
	// such element is compared as a whole.
	Select []string `json:"select,omitempty"`
	// IgnoreSelectors are ignored besides those of the crawl.
	IgnoreSelectors []string `json:"ignore_selectors,omitempty"`
	// IgnorePatterns are ignored besides those of the crawl.
	IgnorePatterns []string `json:"ignore_patterns,omitempty"`
}

// Limits of ContentSpec: every rule is tried on every element or line of every
// changed page.
const (
	maxContentRules = 100
	maxIgnored      = 100
	maxIgnoreRule   = 1000
)

func (s *Spec) validateContent(bad badField) error {
	if r := s.Content.NearDuplicate; !(r >= 0 && r <= 1) {
		return bad("content.near_duplicate", "%v is not from 0 to 1; 0.98 lists copies only", r)
	}
	c := s.Content
	if err := validateTextLists("content", nil, c.IgnoreSelectors, c.IgnorePatterns, bad); err != nil {
		return err
	}
	if len(c.Rules) > maxContentRules {
		return bad("content.rules", "has %d rules; at most %d", len(c.Rules), maxContentRules)
	}
	for i, rule := range c.Rules {
		at := fmt.Sprintf("content.rules[%d]", i)
		match := RevisitRule{Prefix: rule.Prefix, Host: rule.Host}
		if err := match.validateMatch(func(name string) string { return at + "." + name }, bad); err != nil {
			return err
		}
		if err := validateTextLists(at, rule.Select, rule.IgnoreSelectors, rule.IgnorePatterns, bad); err != nil {
			return err
		}
	}
	return nil
}

// validateTextLists checks the lists that define a text. Package extract compiles
// the selectors.
func validateTextLists(at string, selected, selectors, patterns []string, bad badField) error {
	for _, list := range []struct {
		field, example string
		rules          []string
	}{
		{at + ".select", ".price", selected},
		{at + ".ignore_selectors", ".advert", selectors},
		{at + ".ignore_patterns", `\d+ visitors`, patterns},
	} {
		if len(list.rules) > maxIgnored {
			return bad(list.field, "has %d rules; at most %d", len(list.rules), maxIgnored)
		}
		for i, rule := range list.rules {
			field := fmt.Sprintf("%s[%d]", list.field, i)
			switch {
			case strings.TrimSpace(rule) == "":
				return bad(field, "is empty: write a rule such as %s", list.example)
			case len(rule) > maxIgnoreRule:
				return bad(field, "%.40q… has more than %d bytes", rule, maxIgnoreRule)
			}
		}
	}
	for i, pattern := range patterns {
		if _, err := regexp.Compile(pattern); err != nil {
			return bad(fmt.Sprintf("%s.ignore_patterns[%d]", at, i), "%q is no regular expression (RE2 syntax): %s", pattern, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	return nil
}
