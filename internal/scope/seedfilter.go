package scope

import (
	"fmt"
	"slices"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// addSeeds adds the condition that a URL belongs to one of some seeds.
func (f *filter) addSeeds(texts []string, field string) error {
	if len(texts) == 0 {
		return nil
	}
	seeds := make([]urlkey.URL, len(texts))
	for i, text := range texts {
		seed, err := urlkey.Canonical(text)
		if err != nil {
			if len(texts) > 1 {
				field = fmt.Sprintf("%s[%d]", field, i)
			}
			return &crawl.SpecError{Field: field, Problem: fmt.Sprintf("%q: name a seed by its whole URL (%v)", text, err)}
		}
		seeds[i] = seed
	}
	*f = append(*f, condition{words: "seed " + strings.Join(texts, ", "), holds: func(h *hearing) truth {
		return truthOf(slices.ContainsFunc(seeds, func(seed urlkey.URL) bool { return h.scope.of(seed, h.link.URL) }))
	}})
	return nil
}

// of reports whether a URL belongs to a seed: whether the scope's type covers it because of
// that seed. The types page and any cover no part of the web because of a seed; with them
// it is the seed's host.
func (s Scope) of(seed, url urlkey.URL) bool {
	switch s.kind {
	case "domain":
		return urlkey.RegistrableDomain(seed.Hostname()) == urlkey.RegistrableDomain(url.Hostname())
	case "prefix":
		return seed.HostKey() == url.HostKey() && strings.HasPrefix(url.Path(), folder(seed.Path()))
	}
	return seed.HostKey() == url.HostKey()
}
