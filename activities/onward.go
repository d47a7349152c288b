package activities

import (
	"context"
	"maps"
	"slices"

	"recrawl/internal/change"
	"recrawl/internal/extract"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/trap"
	"recrawl/internal/urlkey"
)

// The guard's quick look: at the pages of one host, when one of them has led to new
// ones. A part without an end would cost hundreds of requests between two turns of
// maintenance.
const (
	// watchedPages is how many of the host's newest admitted pages are looked at.
	watchedPages = 128
	// longText is from how many phrases on a page is a rare case for the look, which is
	// then taken at one in longEvery of such pages.
	longText  = 300
	longEvery = 4
	// linksEach is how many links of a page are evidence.
	linksEach = 100
)

// saidBy is what a page says of its own.
func saidBy(page store.PageRecord, content extract.Page) change.Wording {
	u, err := urlkey.Canonical(page.URL)
	if err != nil || content.Charset == "" { // not a text
		return change.Wording{}
	}
	links := make([]string, len(content.Links))
	for i, l := range content.Links {
		links[i] = l.URL
	}
	return trap.Says(content.Own, u, links)
}

// watch takes a quick look at the host of a page whose links have been registered, if
// these lead on. What fails is looked at again when another page's have been, and by
// maintenance.
func (a *Activities) watch(ctx context.Context, view *crawlView, from *store.PendingLinks, links []scope.Link) {
	leads, err := a.leadsOn(ctx, from, links)
	if err == nil && leads {
		err = a.lookQuickly(ctx, view, from)
	}
	if err != nil {
		a.log.Warn("the guard could not look at a host", "crawl", view.Spec.Name, "host", from.Page.Host, "error", err)
	}
}

// leadsOn reports whether a page leads to others like itself, as the one did on which
// it was found. Pages that index others, and those that are indexed, do not.
func (a *Activities) leadsOn(ctx context.Context, from *store.PendingLinks, links []scope.Link) (bool, error) {
	if from.Said.Phrases >= longText && from.Page.PageID%longEvery != 0 {
		return false, nil
	}
	u := finderOf(from).URL
	if !slices.ContainsFunc(links, func(l scope.Link) bool { return trap.SameKind(l.URL, u) && l.URL != u }) {
		return false, nil
	}
	finders, err := a.finders(ctx, []int64{from.Page.PageID})
	return trap.SameKind(finders[from.Page.PageID].URL, u), err
}

func (a *Activities) lookQuickly(ctx context.Context, view *crawlView, from *store.PendingLinks) error {
	page, err := a.store.Page(ctx, from.Page.PageID)
	if err != nil {
		return err
	}
	evidence, err := a.store.Evidence(ctx, store.EvidenceParams{CrawlID: view.ID, Hosts: []int64{page.HostID}, Each: watchedPages, Admitted: true})
	if err != nil {
		return err
	}
	pages := lookedAt(nil, evidence)
	keys := make([]urlkey.URL, len(pages))
	for i, p := range pages {
		keys[i] = p.URL
	}
	now, err := a.store.Now(ctx)
	if err != nil {
		return err
	}
	dates, suspects := trap.Dates(pages, now.Year()), trap.Suspects(pages)
	if len(dates)+len(suspects) == 0 {
		return nil
	}
	traps, err := a.trapsOf(ctx, view.ID, keys)
	if err != nil {
		return err
	}
	onward, err := a.onward(ctx, pages, traps)
	if err != nil {
		return err
	}
	set, err := a.setTraps(ctx, view, slices.Concat(dates, onward), traps)
	if err != nil {
		return err
	}
	for _, t := range set {
		if err := a.goOn(ctx, view, t); err != nil {
			return err
		}
	}
	return nil
}

// onward finds the traps of pages that lead only to more of their kind. Pages of such
// a trap that is known are no evidence of another, be it released.
func (a *Activities) onward(ctx context.Context, pages []trap.Page, traps trapSet) ([]trap.Finding, error) {
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
		f, ok, err := a.firstOnward(ctx, pages)
		if err != nil || !ok {
			return found, err
		}
		found, patterns = append(found, f), append(patterns, f.Pattern)
	}
}

func (a *Activities) firstOnward(ctx context.Context, pages []trap.Page) (trap.Finding, bool, error) {
	for _, s := range trap.Suspects(pages) {
		found, err := a.store.LinksOf(ctx, s.Pages, linksEach)
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

// setTraps makes findings traps, as far as there is room for more of their sites, and
// returns those that are new.
func (a *Activities) setTraps(ctx context.Context, view *crawlView, findings []trap.Finding, traps trapSet) ([]knownTrap, error) {
	var set []store.NewTrap
	for _, f := range findings {
		t, err := newTrap(f, 0)
		if err != nil {
			return nil, err
		}
		if _, known := traps[t.Name]; known || len(traps)+len(set) >= maxSiteTraps {
			continue
		}
		a.log.Info("a trap was found", "crawl", view.Spec.Name, "trap", t.Name, "reason", t.Reason, "detail", t.Detail)
		set = append(set, t)
	}
	made, err := a.store.SetTraps(ctx, view.ID, set)
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

// finderOf is the page with these links as traps see it.
func finderOf(from *store.PendingLinks) trap.Page {
	u, _ := urlkey.Canonical(from.Page.URL) // zero is no trap's
	return trap.Page{URL: u, Said: from.Said}
}

// finders are the pages on which others were found.
func (a *Activities) finders(ctx context.Context, pages []int64) (map[int64]trap.Page, error) {
	if len(pages) == 0 {
		return nil, nil
	}
	records, err := a.store.FindersOf(ctx, pages)
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

// isTrapped reports whether a page that is visited again is part of a trap without an
// end. Pages of other traps are worth their visits, or were when they were admitted.
func (a *Activities) isTrapped(ctx context.Context, view *crawlView, page store.PageRecord) (bool, error) {
	if !view.Spec.Traps.Guard || page.Visits == 0 {
		return false, nil
	}
	u, err := urlkey.Canonical(page.URL)
	if err != nil {
		return false, nil
	}
	traps, err := a.trapsOf(ctx, view.ID, []urlkey.URL{u})
	if err != nil {
		return false, err
	}
	maps.DeleteFunc(traps, func(_ string, k knownTrap) bool {
		return k.pattern.Kind != trap.KindOnward && k.pattern.Kind != trap.KindDates
	})
	if !traps.covering(u) {
		return false, nil
	}
	if view, err = a.seeing(ctx, view, u); err != nil || view.scope.IsSeed(u) {
		return false, err
	}
	finders, err := a.finders(ctx, []int64{page.PageID})
	return traps.taking(u, finders[page.PageID]) != 0, err
}
