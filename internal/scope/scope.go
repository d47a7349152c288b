// Package scope decides which URLs belong to a crawl, and says why.
package scope

import (
	"fmt"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// Reasons of a verdict. They are stored and counted; never change them.
const (
	// ReasonSeed accepts a seed, however it was found.
	ReasonSeed = "seed"
	// ReasonInside accepts what the scope's type covers.
	ReasonInside = "in scope"

	// ReasonScheme rejects what is no http or https URL.
	ReasonScheme = "scheme"
	// ReasonDepth rejects what is more links away from a seed than max_depth.
	ReasonDepth = "depth"
	// ReasonNotSeed, ReasonPrefix, ReasonHost and ReasonDomain reject what the
	// scope types page, prefix, host and domain do not cover.
	ReasonNotSeed = "not a seed"
	ReasonPrefix  = "prefix"
	ReasonHost    = "host"
	ReasonDomain  = "domain"
)

// Verdict says whether a URL belongs to a crawl. Reason is one of the Reason
// constants.
type Verdict struct {
	Accept bool
	Reason string
}

// Scope decides for one crawl, on URLs that its URL rules have been applied to.
// It is a value without state and may be used from
// any goroutine.
type Scope struct {
	kind     string
	maxDepth int
	seeds    map[urlkey.URL]bool
	inside   map[string]bool     // host keys or registrable domains
	prefixes map[string][]string // by host key, paths that end in a slash
}

// New builds the scope of a crawl. The error is a *crawl.SpecError that names
// the field.
func New(spec crawl.Spec) (Scope, error) {
	s := Scope{
		kind: spec.Scope.Type, maxDepth: spec.Scope.MaxDepth,
		seeds: map[urlkey.URL]bool{}, inside: map[string]bool{}, prefixes: map[string][]string{},
	}
	if len(spec.Scope.Rules) > 0 {
		return Scope{}, &crawl.SpecError{Field: "scope.rules", Problem: "rules are not supported by this version; leave the list empty"}
	}
	if _, known := rejections[s.kind]; !known {
		return Scope{}, &crawl.SpecError{Field: "scope.type", Problem: fmt.Sprintf("%q: use one of %s", s.kind, strings.Join(crawl.ScopeTypes(), ", "))}
	}
	rules := urlkey.NewRules(spec.URLs)
	for i, text := range spec.Seeds {
		seed, err := urlkey.Canonical(text)
		if err != nil {
			return Scope{}, &crawl.SpecError{Field: fmt.Sprintf("seeds[%d]", i), Problem: err.Error()}
		}
		seed, _ = rules.Apply(seed)
		s.add(seed)
	}
	return s, nil
}

func (s Scope) add(seed urlkey.URL) {
	s.seeds[seed] = true
	switch s.kind {
	case "host":
		s.inside[seed.HostKey()] = true
	case "domain":
		s.inside[urlkey.RegistrableDomain(seed.Hostname())] = true
	case "prefix":
		s.prefixes[seed.HostKey()] = append(s.prefixes[seed.HostKey()], folder(seed.Path()))
	}
}

// folder returns the path up to its last slash, as `wget --no-parent` reads a
// start page: a seed /docs/index.html covers /docs/.
func folder(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// rejections says, for each type, why it rejects.
var rejections = map[string]string{
	"page": ReasonNotSeed, "prefix": ReasonPrefix, "host": ReasonHost, "domain": ReasonDomain, "any": "",
}

// Check decides on a URL that is level links away from a seed. Seeds belong to
// the crawl at any level. Host and prefix compare host keys, so http and https
// are one and ports are not; domain ignores ports.
func (s Scope) Check(url urlkey.URL, level int) Verdict {
	switch {
	case url.IsZero():
		return Verdict{Reason: ReasonScheme}
	case s.seeds[url]:
		return Verdict{Accept: true, Reason: ReasonSeed}
	case !s.covers(url):
		return Verdict{Reason: rejections[s.kind]}
	case s.maxDepth > 0 && level > s.maxDepth:
		return Verdict{Reason: ReasonDepth}
	}
	return Verdict{Accept: true, Reason: ReasonInside}
}

// covers reports whether the type alone, without depth, covers the URL.
func (s Scope) covers(url urlkey.URL) bool {
	switch s.kind {
	case "any":
		return true
	case "host":
		return s.inside[url.HostKey()]
	case "domain":
		return s.inside[urlkey.RegistrableDomain(url.Hostname())]
	case "prefix":
		for _, prefix := range s.prefixes[url.HostKey()] {
			if strings.HasPrefix(url.Path(), prefix) {
				return true
			}
		}
	}
	return false
}
