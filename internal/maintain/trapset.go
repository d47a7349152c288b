package maintain

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"recrawl/internal/store"
	"recrawl/internal/trap"
	"recrawl/internal/urlkey"
)

// maxSiteTraps is the most traps of a site that are loaded; a site that has more is
// held by those.
const maxSiteTraps = 500

// trapSet is the traps of some sites, by name.
type trapSet map[string]knownTrap

type knownTrap struct {
	store.TrapRecord
	pattern trap.Pattern
}

// trapsOf returns the traps of the sites of URLs.
func (g Guard) trapsOf(ctx context.Context, urls []urlkey.URL) (trapSet, error) {
	sites := map[string]bool{}
	filter := store.TrapFilter{CrawlID: g.Crawl.ID, Limit: maxSiteTraps}
	for _, u := range urls {
		if site := urlkey.RegistrableDomain(u.Host()); !sites[site] {
			sites[site] = true
			filter.Sites = append(filter.Sites, site)
		}
	}
	if len(filter.Sites) == 0 {
		return nil, nil
	}
	filter.Limit *= len(filter.Sites)
	records, err := g.Store.Traps(ctx, filter)
	if err != nil {
		return nil, err
	}
	return newTrapSet(records)
}

func newTrapSet(records []store.TrapRecord) (trapSet, error) {
	traps := trapSet{}
	for _, r := range records {
		k := knownTrap{TrapRecord: r}
		if err := json.Unmarshal(r.Pattern, &k.pattern); err != nil {
			return nil, fmt.Errorf("decode the pattern of trap %d: %w", r.ID, err)
		}
		traps[r.Name] = k
	}
	return traps, nil
}

// full reports whether a site has as many traps as are loaded, together with those that are to
// be set. The set has other sites', too.
func (s trapSet) full(site string, set []store.NewTrap) bool {
	n := 0
	for _, k := range s {
		if k.Site == site {
			n++
		}
	}
	for _, t := range set {
		if t.Site == site {
			n++
		}
	}
	return n >= maxSiteTraps
}

// has reports whether there is a trap of the pattern, or of its part of the site, even if
// it was released.
func (s trapSet) has(p trap.Pattern) bool {
	for _, k := range s {
		if k.Name == p.String() || p.SamePart(k.pattern) {
			return true
		}
	}
	return false
}

// taking returns a trap that holds the URL that was found on a page, or 0.
func (s trapSet) taking(u urlkey.URL, on trap.Page) int64 {
	for _, k := range s {
		if k.State.Holds() && k.pattern.Takes(u, on) {
			return k.ID
		}
	}
	return 0
}

// covering reports whether a trap may hold the URL.
func (s trapSet) covering(u urlkey.URL) bool {
	for _, k := range s {
		if k.State.Holds() && k.pattern.Covers(u) {
			return true
		}
	}
	return false
}

// without returns a URL without the idle parameters of the traps, and the trap of one of them; 0
// if it has none.
func (s trapSet) without(u urlkey.URL) (base urlkey.URL, id int64) {
	var patterns []trap.Pattern
	var ids []int64
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if k := s[name]; k.pattern.Kind == trap.KindIdle && k.State.Holds() {
			patterns, ids = append(patterns, k.pattern), append(ids, k.ID)
		}
	}
	base, first := trap.Without(u, patterns)
	if first < 0 {
		return u, 0
	}
	return base, ids[first]
}

// bare returns a URL without what chooses no page.
func (s trapSet) bare(u urlkey.URL) (base urlkey.URL, ok bool) {
	if base, id := s.without(u); id != 0 {
		return base, true
	}
	base, _, ok = trap.Session(u)
	return base, ok
}

// idle returns the traps of those of the URLs that have idle parameters, and are known pages
// without them.
func (g Guard) idle(ctx context.Context, urls map[int64]urlkey.URL, traps trapSet) (map[int64]int64, error) {
	bases, holds := map[int64]string{}, map[int64]int64{}
	for page, u := range urls {
		if base, id := traps.without(u); id != 0 {
			bases[page], holds[page] = base.String(), id
		}
	}
	if len(bases) == 0 {
		return nil, nil
	}
	known, err := g.Store.KnownURLs(ctx, g.Crawl.ID, slices.Sorted(maps.Values(bases)))
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(holds, func(page, _ int64) bool { return !known[bases[page]] })
	return holds, nil
}

// newTrap is a finding in the form for the store. After is as in store.NewTrap.
func newTrap(f trap.Finding, after int64) (store.NewTrap, error) {
	pattern, err := json.Marshal(f.Pattern)
	if err != nil {
		return store.NewTrap{}, fmt.Errorf("encode pattern: %w", err)
	}
	return store.NewTrap{
		Site: f.Pattern.Site(), Host: f.Pattern.Host, Name: f.Pattern.String(), Pattern: pattern, Reason: f.Reason, Detail: f.Detail, After: after,
	}, nil
}

// Caught is the fate of a link that is to be registered: the trap that holds it, 0 for
// none, and, for a link with a session or idle parameters, the URL without them. See
// store.NewURL.
type Caught struct {
	Trap    int64
	Variant string
}

// HoldBack returns, for each of the accepted links of a page, the trap that holds it: a
// known trap, or a new one for links that look like a trap.
func (g Guard) HoldBack(ctx context.Context, on trap.Page, links []urlkey.URL) ([]Caught, error) {
	caught := make([]Caught, len(links))
	if !g.Crawl.Spec.Traps.Guard {
		return caught, nil
	}
	traps, err := g.trapsOf(ctx, links)
	if err != nil {
		return nil, err
	}
	seen, err := g.Crawl.Scope(ctx, links...)
	if err != nil {
		return nil, err
	}
	var findings []store.NewTrap
	owner := make([]string, len(links)) // the name of the trap that should hold each
	chosen := trap.Chosen(links, traps.bare)
	for i, u := range links {
		if seen.IsSeed(u) {
			continue
		}
		if caught[i].Trap = traps.taking(u, on); caught[i].Trap != 0 {
			continue
		}
		if base, id := traps.without(u); id != 0 {
			if !chosen[base] {
				caught[i] = Caught{Trap: id, Variant: base.String()}
			}
			continue
		}
		found, base, ok := looksTrapped(u)
		if !ok || chosen[base] {
			continue
		}
		made, err := newTrap(found, -1)
		if err != nil {
			return nil, err
		}
		owner[i], caught[i].Variant = made.Name, base.String()
		if _, known := traps[made.Name]; !known && !traps.full(made.Site, nil) {
			findings = append(findings, made)
		}
	}
	return caught, g.own(ctx, traps, findings, owner, caught)
}

// own creates new traps and gives the links the ids of their owners.
func (g Guard) own(ctx context.Context, traps trapSet, findings []store.NewTrap, owner []string, caught []Caught) error {
	made, err := g.Store.SetTraps(ctx, g.Crawl.ID, findings)
	if err != nil {
		return err
	}
	ids := map[string]int64{}
	for _, t := range made {
		ids[t.Name] = t.ID
	}
	for i, name := range owner {
		if name == "" {
			continue
		}
		caught[i].Trap = ids[name]
		if k, known := traps[name]; known && k.State.Holds() {
			caught[i].Trap = k.ID
		}
		if caught[i].Trap == 0 {
			caught[i].Variant = ""
		}
	}
	return nil
}

// looksTrapped judges a URL by its look alone, and returns, for a session's, the URL
// without the session.
func looksTrapped(u urlkey.URL) (found trap.Finding, base urlkey.URL, ok bool) {
	if found, ok := trap.Shaped(u); ok {
		return found, urlkey.URL{}, true
	}
	base, found, ok = trap.Session(u)
	return found, base, ok
}
