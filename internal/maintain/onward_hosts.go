package maintain

import (
	"context"
	"slices"

	"recrawl/internal/store"
	"recrawl/internal/trap"
	"recrawl/internal/urlkey"
)

// The guard's quick look at the hosts of a site. A domain that answers to every name has a
// new host for each link, and each of them may be asked at once: between two passes of
// maintenance it would cost as many requests as the crawl can make.
//
// The look is taken at only one in hostsEvery of the pages that cause it.
const hostsEvery = 4

// watchHosts looks at the hosts of a site when a page on one of them has led to new ones,
// as did the page on which it was found, and says what that page says.
func (g Guard) watchHosts(ctx context.Context, from *store.PendingLinks, links []urlkey.URL) error {
	u := FinderOf(from).URL
	if from.Page.PageID%hostsEvery != 0 || !slices.ContainsFunc(links, func(l urlkey.URL) bool { return besideHost(l, u) }) {
		return nil
	}
	finders, err := g.finders(ctx, []int64{from.Page.PageID})
	if err != nil {
		return err
	}
	if by := finders[from.Page.PageID]; !besideHost(by.URL, u) || !FinderOf(from).Repeats(by) {
		return nil
	}
	found, err := g.hostsFound(ctx, from.Page.PageID, u)
	if err != nil || len(found) == 0 {
		return err
	}
	return g.lookAtHosts(ctx, urlkey.RegistrableDomain(u.Host()), found)
}

// besideHost reports whether two URLs are on different hosts of one site.
func besideHost(a, b urlkey.URL) bool {
	return a != urlkey.URL{} && a.HostKey() != b.HostKey() && urlkey.RegistrableDomain(a.Host()) == urlkey.RegistrableDomain(b.Host())
}

// hostsFound returns the pages that were found on this one, on other hosts of its site.
func (g Guard) hostsFound(ctx context.Context, pageID int64, on urlkey.URL) ([]trap.Page, error) {
	found, err := g.Store.LinksOf(ctx, []int64{pageID}, linksEach)
	if err != nil {
		return nil, err
	}
	var pages []trap.Page
	for _, l := range found {
		if u, err := urlkey.Canonical(l.URL); err == nil && l.Finder == pageID && besideHost(u, on) {
			pages = append(pages, trap.Page{URL: u, ID: l.To, Finder: pageID, Waits: true})
		}
	}
	return pages, nil
}

// lookAtHosts examines the hosts of a site among the crawl's newest pages, and those of
// the pages that have just been found.
func (g Guard) lookAtHosts(ctx context.Context, site string, found []trap.Page) error {
	var read siteEvidence
	if _, err := g.readNewest(ctx, &read); err != nil {
		return err
	}
	newest := read.bySite[site]
	pages := slices.Concat(lookedAt(nil, newest), found)
	keys := keysOf(pages)
	seen, err := g.Crawl.Scope(ctx, keys...)
	if err != nil {
		return err
	}
	findings := trap.Hosts(pages, seen.IsSeedHost)
	if len(findings) == 0 {
		return nil
	}
	traps, err := g.trapsOf(ctx, keys)
	if err != nil {
		return err
	}
	set, err := g.setTraps(ctx, findings, traps)
	if err != nil {
		return err
	}
	return g.holdNow(ctx, set, newest)
}

// holdNow holds the pages of new traps.
func (g Guard) holdNow(ctx context.Context, set []knownTrap, evidence []store.EvidencePage) error {
	if err := g.holdHosts(ctx, set, evidence); err != nil {
		return err
	}
	for _, t := range set {
		if err := g.goOn(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// holdHosts holds those of the evidence that new traps of hosts take. A sweep holds all
// pages of a host, also those that wait in its line, but of many hosts only those that are
// not admitted yet.
func (g Guard) holdHosts(ctx context.Context, set []knownTrap, evidence []store.EvidencePage) error {
	traps := trapSet{}
	for _, t := range set {
		if t.pattern.Kind == trap.KindHosts {
			traps[t.Name] = t
		}
	}
	if len(traps) == 0 {
		return nil
	}
	pages := make([]store.GrownPage, len(evidence))
	for i, e := range evidence {
		pages[i] = e.GrownPage
	}
	return g.holdKnown(ctx, pages, traps)
}

// siteOf is the registrable domain of a URL, "" if it is none.
func siteOf(url string) string {
	u, err := urlkey.Canonical(url)
	if err != nil {
		return ""
	}
	return urlkey.RegistrableDomain(u.Host())
}
