package crawl

import "strings"

// Judging is the part of a spec that decides which pages are in the scope of a crawl, what they
// are for, and to whom a robots.txt speaks. Digests of its JSON are stored: its fields keep their
// names and their order.
type Judging struct {
	Seeds      []string
	Scope      ScopeSpec
	URLs       URLSpec
	Generation int64  // 0; earlier releases had an imported crawl's here
	Purpose    []Use  `json:",omitempty"`
	Agent      string `json:",omitempty"` // "" for the default one
}

// Judging returns the part of the spec by which pages are judged.
func (s Spec) Judging() Judging {
	j := Judging{Seeds: s.Seeds, Scope: s.Scope, URLs: s.URLs, Purpose: s.Purpose}
	if agent := strings.ToLower(s.Identity.Agent); agent != strings.ToLower(DefaultSpec().Identity.Agent) {
		j.Agent = agent
	}
	return j
}
