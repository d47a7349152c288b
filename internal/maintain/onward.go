package maintain

import (
	"context"
	"maps"
	"slices"

	"recrawl/internal/store"
	"recrawl/internal/trap"
	"recrawl/internal/urlkey"
)

// The guard's quick look: at the pages of one host, when one of them has led to new
// ones. A part without an end would cost hundreds of requests between two passes of
// maintenance.
const (
	// watchedPages is how many of the host's newest admitted pages are looked at.
	watchedPages = 128
	// longText is the number of phrases from which a page is rare enough that the look
	// is taken at only one in longEvery of such pages.
	longText  = 300
	longEvery = 4
	// linksEach is how many links of a page count as evidence.
	linksEach = 100
)

// Watch takes a quick look at the host, or at the site, of a page whose links have been
// registered, if these lead on. A failed look is repeated when another page's links have
// been registered, and by Look.
func (g Guard) Watch(ctx context.Context, from *store.PendingLinks, links []urlkey.URL) error {
	leads, err := g.leadsOn(ctx, from, links)
	if err == nil && leads {
		err = g.lookQuickly(ctx, from)
	}
	if err != nil {
		return err
	}
	return g.watchHosts(ctx, from, links)
}

// leadsOn reports whether a page leads to others like itself, as did the page on
// which it was found. Pages that index others, and those that are indexed, do not.
func (g Guard) leadsOn(ctx context.Context, from *store.PendingLinks, links []urlkey.URL) (bool, error) {
	if from.Said.Phrases >= longText && from.Page.PageID%longEvery != 0 {
		return false, nil
	}
	u := FinderOf(from).URL
	if !slices.ContainsFunc(links, func(l urlkey.URL) bool { return trap.SameKind(l, u) && l != u }) {
		return false, nil
	}
	finders, err := g.finders(ctx, []int64{from.Page.PageID})
	return trap.SameKind(finders[from.Page.PageID].URL, u), err
}

func (g Guard) lookQuickly(ctx context.Context, from *store.PendingLinks) error {
	page, err := g.Store.Page(ctx, from.Page.PageID)
	if err != nil {
		return err
	}
	evidence, err := g.Store.Evidence(ctx, store.EvidenceParams{CrawlID: g.Crawl.ID, Hosts: []int64{page.HostID}, Each: watchedPages, Admitted: true})
	if err != nil {
		return err
	}
	pages := lookedAt(nil, evidence)
	now, err := g.Store.Now(ctx)
	if err != nil {
		return err
	}
	dates, suspects := trap.Dates(pages, now.Year()), trap.Suspects(pages)
	if len(dates)+len(suspects) == 0 {
		return nil
	}
	traps, err := g.trapsOf(ctx, keysOf(pages))
	if err != nil {
		return err
	}
	onward, err := g.onward(ctx, pages, traps)
	if err != nil {
		return err
	}
	set, err := g.setTraps(ctx, slices.Concat(dates, onward), traps)
	if err != nil {
		return err
	}
	return g.holdNow(ctx, set, nil)
}

// onward finds the traps of pages that lead only to more of their kind. Pages of a
// known trap of this kind are no evidence of another, even if it was released.
func (g Guard) onward(ctx context.Context, pages []trap.Page, traps trapSet) ([]trap.Finding, error) {
	var patterns []trap.Pattern
	for _, k := range traps {
		if k.pattern.Kind == trap.KindOnward {
			patterns = append(patterns, k.pattern)
		}
	}
	var found []trap.Finding
	for {
		pages = slices.DeleteFunc(slices.Clone(pages), func(p trap.Page) bool {
			return slices.ContainsFunc(patterns, func(t trap.Pattern) bool { return t.Covers(p.URL) })
		})
		f, ok, err := g.firstOnward(ctx, pages)
		if err != nil || !ok {
			return found, err
		}
		found, patterns = append(found, f), append(patterns, f.Pattern)
	}
}

func (g Guard) firstOnward(ctx context.Context, pages []trap.Page) (trap.Finding, bool, error) {
	for _, s := range trap.Suspects(pages) {
		found, err := g.Store.LinksOf(ctx, s.Pages, linksEach)
		if err != nil {
			return trap.Finding{}, false, err
		}
		links := make([]trap.Link, 0, len(found))
		for _, l := range found {
			if u, err := urlkey.Canonical(l.URL); err == nil {
				links = append(links, trap.Link{From: l.From, To: l.To, Finder: l.Finder, URL: u})
			}
		}
		if f, ok := s.Judge(links); ok {
			return f, true, nil
		}
	}
	return trap.Finding{}, false, nil
}

// setTraps turns findings into traps, up to the room for more of their sites, and
// returns the new ones.
func (g Guard) setTraps(ctx context.Context, findings []trap.Finding, traps trapSet) ([]knownTrap, error) {
	var set []store.NewTrap
	for _, f := range findings {
		t, err := newTrap(f, 0)
		if err != nil {
			return nil, err
		}
		if traps.has(f.Pattern) || traps.full(t.Site, set) {
			continue
		}
		g.Found(t)
		set = append(set, t)
	}
	made, err := g.Store.SetTraps(ctx, g.Crawl.ID, set)
	if err != nil {
		return nil, err
	}
	known, err := newTrapSet(made)
	if err != nil {
		return nil, err
	}
	var fresh []knownTrap
	for _, t := range made {
		fresh = append(fresh, known[t.Name])
	}
	return fresh, nil
}

// FinderOf is the page with these links as traps see it.
func FinderOf(from *store.PendingLinks) trap.Page {
	u, _ := urlkey.Canonical(from.Page.URL) // zero means no trap
	return trap.Page{URL: u, Said: from.Said}
}

// finders are the pages on which others were found.
func (g Guard) finders(ctx context.Context, pages []int64) (map[int64]trap.Page, error) {
	if len(pages) == 0 {
		return nil, nil
	}
	records, err := g.Store.FindersOf(ctx, pages)
	if err != nil {
		return nil, err
	}
	finders := make(map[int64]trap.Page, len(records))
	for id, r := range records {
		if u, err := urlkey.Canonical(r.URL); err == nil {
			finders[id] = trap.Page{URL: u, Said: r.Said}
		}
	}
	return finders, nil
}

// Trapped reports whether a page that is visited again is part of a trap without an
// end. Pages of other traps are worth their visits, or were when they were admitted.
func (g Guard) Trapped(ctx context.Context, page store.PageRecord) (bool, error) {
	if !g.Crawl.Spec.Traps.Guard || page.Visits == 0 || !page.CrawlTrapped {
		return false, nil
	}
	u, err := urlkey.Canonical(page.URL)
	if err != nil {
		return false, nil
	}
	traps, err := g.trapsOf(ctx, []urlkey.URL{u})
	if err != nil {
		return false, err
	}
	maps.DeleteFunc(traps, func(_ string, k knownTrap) bool {
		return k.pattern.Kind != trap.KindOnward && k.pattern.Kind != trap.KindDates
	})
	if !traps.covering(u) {
		return false, nil
	}
	seen, err := g.Crawl.Scope(ctx, u)
	if err != nil || seen.IsSeed(u) {
		return false, err
	}
	finders, err := g.finders(ctx, []int64{page.PageID})
	return traps.taking(u, finders[page.PageID]) != 0, err
}
