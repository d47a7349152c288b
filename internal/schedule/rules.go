package schedule

import (
	"fmt"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// Rules say how the pages of a crawl are planned: by the spec of the crawl, or by one
// of the rules in it. The zero Rules is not usable; see NewRules.
type Rules struct {
	pages  []urlkey.Pages // of groups 1 and up
	groups []Group
}

// Group says how to plan the pages to which one part of the spec applies.
type Group struct {
	Policy Policy
	// Parameters are those of the spec. Weight is the rule's, 0 if it has none.
	Parameters Parameters
}

// NewRules reads a valid spec. An error names the field that is wrong.
func NewRules(r crawl.RevisitSpec) (Rules, error) {
	own, err := newGroup(r, 0)
	if err != nil {
		return Rules{}, err
	}
	rules := Rules{groups: []Group{own}}
	for i, rule := range r.Rules {
		group, err := newGroup(r.With(rule), rule.Weight)
		if err != nil {
			return Rules{}, fmt.Errorf("revisit.rules[%d]: %w", i, err)
		}
		rules.pages = append(rules.pages, urlkey.PagesOf(rule.Prefix, rule.Host))
		rules.groups = append(rules.groups, group)
	}
	return rules, nil
}

func newGroup(r crawl.RevisitSpec, weight float64) (Group, error) {
	policy, err := ByName(r.Policy)
	if err != nil {
		return Group{}, err
	}
	p := ParametersOf(r)
	p.Weight = weight
	return Group{policy, p}, nil
}

// Group returns the number of a page's group by the page's canonical URL: 0 for the
// crawl itself, otherwise one more than the index of the first rule that matches.
func (r Rules) Group(url string) int {
	for i, pages := range r.pages {
		if pages.Has(url) {
			return i + 1
		}
	}
	return 0
}

// Any reports whether the spec has rules.
func (r Rules) Any() bool { return len(r.pages) > 0 }

// At returns a group by its number, which must be one that Group returns.
func (r Rules) At(group int) Group { return r.groups[group] }
