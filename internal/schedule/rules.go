package schedule

import (
	"fmt"
	"net/url"
	"strings"

	"recrawl/internal/crawl"
)

// Rules say how the pages of a crawl are planned: by the spec of the crawl, or by one
// of the rules in it. The zero Rules is not usable; see NewRules.
type Rules struct {
	rules  []crawl.RevisitRule // of groups 1 and up
	groups []Group
}

// Group is how the pages are planned that one part of the spec applies to.
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
		rule.Prefix, rule.Host = canonicalPrefix(rule.Prefix), strings.ToLower(rule.Host)
		rules.rules = append(rules.rules, rule)
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

// canonicalPrefix writes scheme and host as canonical URLs have them, and closes the
// host: https://example.com must not match https://example.com.evil/.
func canonicalPrefix(prefix string) string {
	u, err := url.Parse(prefix)
	if prefix == "" || err != nil {
		return prefix
	}
	rest := prefix[min(len(u.Scheme)+len("://")+len(u.Host), len(prefix)):]
	if rest == "" {
		rest = "/"
	}
	return strings.ToLower(u.Scheme+"://"+u.Host) + rest
}

// Group returns the number of a page's group by the page's canonical URL: 0 for the
// crawl's own, otherwise one more than the index of the first rule that matches.
func (r Rules) Group(url string) int {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	for i, rule := range r.rules {
		if about(rule, url, host) {
			return i + 1
		}
	}
	return 0
}

// Any reports whether the spec has rules.
func (r Rules) Any() bool { return len(r.rules) > 0 }

// At returns a group by its number, which must be one that Group returns.
func (r Rules) At(group int) Group { return r.groups[group] }

func about(rule crawl.RevisitRule, url, host string) bool {
	if rule.Prefix != "" {
		return strings.HasPrefix(url, rule.Prefix)
	}
	if below, ok := strings.CutPrefix(rule.Host, "*"); ok {
		return strings.HasSuffix(host, below)
	}
	return host == rule.Host
}
