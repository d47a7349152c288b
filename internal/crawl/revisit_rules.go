package crawl

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// RevisitRule plans some of a crawl's pages differently from the rest. Settings
// that it leaves out are those of the spec's revisit.
type RevisitRule struct {
	// Prefix is the beginning of the addresses of its pages, such as
	// https://example.com/news/: as text, so that /news covers /newsletter too.
	Prefix string `json:"prefix,omitempty"`
	// Host is the host of its pages, with the port if there is one; *.example.com
	// are all hosts below example.com. A rule has a prefix or a host, not both.
	Host string `json:"host,omitempty"`
	// Policy is one of frmax, deltat and fixed, or the crawl's own. Pages that share a
	// budget share a policy.
	Policy string `json:"policy,omitempty"`
	// DefaultInterval is that of revisit, for its pages.
	DefaultInterval Duration `json:"default_interval,omitempty"`
	// MinInterval is that of revisit, for its pages.
	MinInterval Duration `json:"min_interval,omitempty"`
	// MaxInterval is that of revisit, for its pages.
	MaxInterval Duration `json:"max_interval,omitempty"`
	// Weight is the importance of its pages to a budgeted policy, 0.001 to 1000 times
	// that of other pages; 0 is 1.
	Weight float64 `json:"weight,omitempty"`
}

// maxRevisitRules is how many rules a spec may have: every page is matched against
// them, and maintenance counts the pages of each.
const maxRevisitRules = 100

// LongestInterval is the most that MaxInterval may be.
const LongestInterval = Duration(3650 * 24 * time.Hour)

// With returns the revisit spec of the rule's pages.
func (r RevisitSpec) With(rule RevisitRule) RevisitSpec {
	if rule.Policy != "" {
		r.Policy = rule.Policy
	}
	for _, f := range []struct {
		to   *Duration
		from Duration
	}{
		{&r.DefaultInterval, rule.DefaultInterval},
		{&r.MinInterval, rule.MinInterval},
		{&r.MaxInterval, rule.MaxInterval},
	} {
		if f.from != 0 {
			*f.to = f.from
		}
	}
	return r
}

func (s *Spec) validateRevisitRules(bad badField) error {
	if len(s.Revisit.Rules) > maxRevisitRules {
		return bad("revisit.rules", "has %d rules; at most %d", len(s.Revisit.Rules), maxRevisitRules)
	}
	for i, rule := range s.Revisit.Rules {
		field := func(name string) string { return fmt.Sprintf("revisit.rules[%d].%s", i, name) }
		if err := rule.validateMatch(field, bad); err != nil {
			return err
		}
		if policy := rule.Policy; policy != "" && policy != s.Revisit.Policy && !slices.Contains(RulePolicies(), policy) {
			if !slices.Contains(Policies(), policy) {
				return bad(field("policy"), "%q: use one of %s", policy, strings.Join(Policies(), ", "))
			}
			return bad(field("policy"), "%q: pages that share a budget share a policy, here %s; use that or one of %s, or make a crawl of these pages",
				policy, s.Revisit.Policy, strings.Join(RulePolicies(), ", "))
		}
		if !(rule.Weight == 0 || rule.Weight >= 0.001 && rule.Weight <= 1000) {
			return bad(field("weight"), "is %v; use 0.001 to 1000", rule.Weight)
		}
		if err := s.Revisit.With(rule).validateIntervals(field, bad); err != nil {
			return err
		}
	}
	return nil
}

func (rule RevisitRule) validateMatch(field func(string) string, bad badField) error {
	switch {
	case rule.Prefix == "" && rule.Host == "":
		return bad(field("prefix"), "is missing; say by prefix or host which pages the rule is about")
	case rule.Prefix != "" && rule.Host != "":
		return bad(field("host"), "stands beside a prefix; give one of them")
	case rule.Host != "":
		if strings.ContainsAny(strings.TrimPrefix(rule.Host, "*."), "/*@ ?#") {
			return bad(field("host"), "%q: use a host such as www.example.com, or *.example.com for all below it", rule.Host)
		}
		return nil
	}
	if u, err := url.Parse(rule.Prefix); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return bad(field("prefix"), "%q: use the beginning of an address, such as https://example.com/news/", rule.Prefix)
	}
	return nil
}

// validateIntervals checks the settings that a rule and the whole spec share.
func (r RevisitSpec) validateIntervals(field func(string) string, bad badField) error {
	switch {
	case r.DefaultInterval <= 0:
		return bad(field("default_interval"), "is %s; it must be positive", r.DefaultInterval)
	case r.MinInterval <= 0:
		return bad(field("min_interval"), "is %s; it must be positive", r.MinInterval)
	case r.MaxInterval < r.MinInterval:
		return bad(field("max_interval"), "is %s, below min_interval %s", r.MaxInterval, r.MinInterval)
	case r.MaxInterval > LongestInterval:
		return bad(field("max_interval"), "is %s; at most %s", r.MaxInterval, LongestInterval)
	}
	return nil
}
