package crawl

import (
	"fmt"
	"regexp"
	"strings"
)

// Limits of ContentSpec: every rule is tried on every element or line of every
// changed page.
const (
	maxIgnored    = 100
	maxIgnoreRule = 1000
)

func (s *Spec) validateContent(bad func(field, format string, args ...any) error) error {
	if r := s.Content.NearDuplicate; !(r >= 0 && r <= 1) {
		return bad("content.near_duplicate", "%v is not from 0 to 1; 0.98 lists copies only", r)
	}
	for _, list := range []struct {
		field, example string
		rules          []string
	}{
		{"content.ignore_selectors", ".advert", s.Content.IgnoreSelectors},
		{"content.ignore_patterns", `\d+ visitors`, s.Content.IgnorePatterns},
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
	for i, pattern := range s.Content.IgnorePatterns {
		if _, err := regexp.Compile(pattern); err != nil {
			return bad(fmt.Sprintf("content.ignore_patterns[%d]", i), "%q is no regular expression (RE2 syntax): %s", pattern, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	return nil
}
