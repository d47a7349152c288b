// Package scope decides which URLs belong to a crawl, and says why: hard limits
// first, then the seeds, then the crawl's rules in their order, then its type.
package scope

import (
	"fmt"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// Reasons of a verdict. They are stored and counted; never change them. A rule's
// reason is "rule " and its name, or its filter in words.
const (
	// ReasonSeed accepts a seed, however it was found.
	ReasonSeed = "seed"
	// ReasonInside accepts URLs that the scope's type covers.
	ReasonInside = "in scope"

	// ReasonScheme rejects URLs that are neither http nor https.
	ReasonScheme = "scheme"
	// ReasonPort rejects ports that belong to other protocols; see crawl.BadPort.
	ReasonPort = "bad port"
	// ReasonDepth rejects URLs that are more links away from a seed than max_depth.
	ReasonDepth = "depth"
	// ReasonHops rejects URLs that are more links beyond the seeds' hosts than
	// max_hops_off_host.
	ReasonHops = "hops off host"
	// ReasonNotSeed, ReasonPrefix, ReasonHost and ReasonDomain reject URLs that the
	// scope types page, prefix, host and domain do not cover.
	ReasonNotSeed = "not a seed"
	ReasonPrefix  = "prefix"
	ReasonHost    = "host"
	ReasonDomain  = "domain"

	// reasonRule is the start of a rule's reason.
	reasonRule = "rule "
)

// Link is a URL as it was found.
type Link struct {
	URL urlkey.URL
	// Level is the number of links from a seed.
	Level int
	// Hops is the number of links since the seeds' hosts were left; see Scope.Hops.
	Hops int
	// Language is that of the page on which the link stands, as BCP 47 writes it; ""
	// if it is not known or there is none.
	Language string
	// Spelling is how the link spells path and query, empty if it spells them as URL
	// does. It means the same as URL, so nothing is decided by it.
	Spelling string
}

// Verdict says whether a URL belongs to a crawl.
type Verdict struct {
	Accept bool
	// Undecided: a deciding filter program did not answer. The link must be judged
	// again, and neither taken nor left out until then. Accept is false.
	Undecided bool
	// Reason is one of the Reason constants, or a rule's.
	Reason string
	// Detail is a filter program's explanation, or why it did not answer.
	Detail string
}

// Answer is a filter program's answer about a URL.
type Answer struct {
	Accept bool
	// Unknown: it did not answer; Reason says why.
	Unknown bool
	Reason  string
}

// Programs asks the operator's filter programs.
type Programs interface {
	// Ask asks a program about a URL. It always returns, within a bounded time.
	Ask(program string, url urlkey.URL) Answer
}

// Scope decides for one crawl, on URLs that its URL rules have been applied to.
// It is a value without state and may be used from
// any goroutine.
type Scope struct {
	kind     string
	maxDepth int
	maxHops  int
	rules    []rule
	programs Programs
	seeds    map[urlkey.URL]bool
	hosts    map[string]bool     // host keys of the seeds
	domains  map[string]bool     // registrable ones of the seeds, if the type is domain
	prefixes map[string][]string // by host key, paths that end in a slash

	// imported are keys of seeds that are no part of the spec: see Knowing.
	imported map[crawl.SeedKey]bool
}

// New builds the scope of a crawl. The error is a *crawl.SpecError that names
// the field. Programs are asked by filters that name one; nil answers nothing.
func New(spec crawl.Spec, programs Programs) (Scope, error) {
	s := Scope{
		kind: spec.Scope.Type, maxDepth: spec.Scope.MaxDepth, maxHops: spec.Scope.MaxHopsOffHost, programs: programs,
		seeds: map[urlkey.URL]bool{}, hosts: map[string]bool{}, domains: map[string]bool{}, prefixes: map[string][]string{},
	}
	if _, known := rejections[s.kind]; !known {
		return Scope{}, &crawl.SpecError{Field: "scope.type", Problem: fmt.Sprintf("%q: use one of %s", s.kind, strings.Join(crawl.ScopeTypes(), ", "))}
	}
	for i, text := range spec.Scope.Rules {
		r, err := newRule(text, fmt.Sprintf("scope.rules[%d]", i))
		if err != nil {
			return Scope{}, err
		}
		s.rules = append(s.rules, r)
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
	s.hosts[seed.HostKey()] = true
	switch s.kind {
	case "domain":
		s.domains[urlkey.RegistrableDomain(seed.Hostname())] = true
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

// IsSeed reports whether the URL is a seed.
func (s Scope) IsSeed(url urlkey.URL) bool {
	return s.seeds[url] || s.imported[crawl.SeedKey{Kind: crawl.SeedURL, Text: url.String()}]
}

// IsSeedHost reports whether a seed has this host key.
func (s Scope) IsSeedHost(host string) bool {
	return s.hosts[host] || s.imported[crawl.SeedKey{Kind: crawl.SeedHost, Text: host}]
}

// Programs names the filter programs that the rules ask, each once.
func (s Scope) Programs() []string {
	var names []string
	for _, r := range s.rules {
		names = r.filter.programs(names)
	}
	return names
}

// Hops returns the hops of a URL to which a page with the given hops links: 0 on
// the host of a seed, else one more than the page's.
func (s Scope) Hops(url urlkey.URL, from int) int {
	if url.IsZero() || s.IsSeedHost(url.HostKey()) {
		return 0
	}
	return from + 1
}

// HopsBefore returns the hops of a page that links to one with the given hops. What a
// page redirects to, and the feeds and sitemaps that it names, are judged as links of such a
// page: they are no link further than the page itself.
func HopsBefore(hops int) int { return max(hops-1, 0) }

// Check decides on a link. A seed is no link away from the seeds, whatever links to
// it, so no limit keeps it out. Host and prefix compare host keys, so http and
// https are one and ports are not; domain ignores ports.
func (s Scope) Check(l Link) Verdict {
	if v, decided := s.limits(l); decided {
		return v
	}
	for _, r := range s.rules {
		if v, decided := r.decide(s, l); decided {
			return v
		}
	}
	return s.byType(l.URL)
}

// limits are the seeds, and the checks that no rule overrides.
func (s Scope) limits(l Link) (v Verdict, decided bool) {
	switch {
	case l.URL.IsZero():
		return Verdict{Reason: ReasonScheme}, true
	case l.URL.BadPort():
		return Verdict{Reason: ReasonPort}, true
	case s.IsSeed(l.URL):
		return Verdict{Accept: true, Reason: ReasonSeed}, true
	case s.maxDepth > 0 && l.Level > s.maxDepth:
		return Verdict{Reason: ReasonDepth}, true
	case s.maxHops > 0 && l.Hops > s.maxHops:
		return Verdict{Reason: ReasonHops}, true
	}
	return Verdict{}, false
}

func (s Scope) byType(url urlkey.URL) Verdict {
	if !s.covers(url) {
		return Verdict{Reason: rejections[s.kind]}
	}
	return Verdict{Accept: true, Reason: ReasonInside}
}

// covers reports whether the type alone covers the URL.
func (s Scope) covers(url urlkey.URL) bool {
	switch s.kind {
	case "any":
		return true
	case "host":
		return s.IsSeedHost(url.HostKey())
	case "domain":
		return s.domains[urlkey.RegistrableDomain(url.Hostname())] || s.imported[domainKey(url)]
	case "prefix":
		if s.importedAbove(url) {
			return true
		}
		for _, prefix := range s.prefixes[url.HostKey()] {
			if strings.HasPrefix(url.Path(), prefix) {
				return true
			}
		}
	}
	return s.IsSeed(url)
}

// ask asks a filter program.
func (s Scope) ask(program string, url urlkey.URL) Answer {
	if s.programs == nil {
		return Answer{Unknown: true, Reason: "there are no filter programs here"}
	}
	return s.programs.Ask(program, url)
}
