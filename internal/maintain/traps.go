package maintain

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/trap"
	"recrawl/internal/urlkey"
)

// Sizes of the guard's look, which is a part of a maintenance pass: some hundred milliseconds
// of reading a round.
const (
	// grownPages is how many new pages are checked at a time, and lookRounds how many
	// times in one pass; a crawl that finds more takes several.
	grownPages = 5000
	lookRounds = 10
	// grownSites is how many sites, those that grew most, are examined more closely,
	// siteHosts how many hosts of each, and evidencePages how many pages of these.
	// newestPages is how many of the crawl's newest pages of each state are examined as
	// well: a site may grow by hosts of one page.
	grownSites    = 20
	siteHosts     = 50
	evidencePages = 1000
	newestPages   = 500
	// sweepPages is how many pages are read at a time for a trap that has just been
	// found, sweepRounds how many times in one pass. releaseBatch is how many pages
	// one pass releases of a trap whose release was cut off.
	sweepPages   = 2000
	sweepRounds  = 20
	releaseBatch = 5000
	openTraps    = 100
)

// TrapStore is the part of a store that a Guard uses.
type TrapStore interface {
	SetTraps(ctx context.Context, crawlID int64, traps []store.NewTrap) ([]store.TrapRecord, error)
	Traps(ctx context.Context, f store.TrapFilter) ([]store.TrapRecord, error)
	HoldPages(ctx context.Context, crawlID int64, holds []store.Hold) (int, error)
	TakeBack(ctx context.Context, crawlID int64, holds []store.Hold) (int, store.GateEffects, error)
	SweptTrap(ctx context.Context, trapID, through int64, done bool) error
	ReleaseTrap(ctx context.Context, trapID int64, limit int) (released int, more bool, err error)
	GrownPages(ctx context.Context, crawlID int64, limit int) (store.Growth, error)
	EndLook(ctx context.Context, p store.EndLookParams) ([]store.PrefixRecord, error)
	PagesAfter(ctx context.Context, p store.PagesAfterParams) ([]store.GrownPage, error)
	Evidence(ctx context.Context, p store.EvidenceParams) ([]store.EvidencePage, error)
	LinksOf(ctx context.Context, pages []int64, each int) ([]store.FoundLink, error)
	FindersOf(ctx context.Context, pages []int64) (map[int64]store.Finder, error)
	Page(ctx context.Context, pageID int64) (store.PageRecord, error)
	KnownURLs(ctx context.Context, crawlID int64, urls []string) (map[string]bool, error)
	Now(ctx context.Context) (time.Time, error)
}

// Guard watches the traps of a crawl.
type Guard struct {
	Store TrapStore
	Crawl Crawl
	// Effects carries out the consequences for others when pages have left their lines.
	Effects func(ctx context.Context, effects store.GateEffects)
	// Found is called for each trap that is found.
	Found func(trap store.NewTrap)
	// Next, unless nil, is called between two rounds of Look: it waits for as long as others
	// should have their turn, and reports whether the pass goes on. The next one does the rest.
	Next func(ctx context.Context) (bool, error)
}

// Look continues unfinished work, examines the sites that have grown since it last
// did and those with many copies, and holds what it finds.
func (g Guard) Look(ctx context.Context) error {
	var read siteEvidence
	more := g.Crawl.Spec.Traps.Guard
	for round := 0; more && round < lookRounds; round++ {
		read.beginRound()
		var err error
		if more, err = g.lookForTraps(ctx, &read); err != nil {
			return err
		}
		if more && g.Next != nil {
			if more, err = g.Next(ctx); err != nil {
				return err
			}
		}
	}
	if g.Crawl.Spec.Traps.Guard {
		read.beginRound()
		if err := g.lookAtCopies(ctx, &read); err != nil {
			return err
		}
	}
	open, err := g.Store.Traps(ctx, store.TrapFilter{CrawlID: g.Crawl.ID, Open: true, Limit: openTraps})
	if err != nil {
		return err
	}
	traps, err := newTrapSet(open)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(traps)) {
		if err := g.goOn(ctx, traps[name]); err != nil {
			return err
		}
	}
	return nil
}

// goOn continues the release or the sweep of a trap.
func (g Guard) goOn(ctx context.Context, t knownTrap) error {
	if t.State == store.TrapReleasing {
		_, _, err := g.Store.ReleaseTrap(ctx, t.ID, releaseBatch)
		return err
	}
	params := store.PagesAfterParams{CrawlID: g.Crawl.ID, Host: t.pattern.Host, After: t.Swept, Limit: sweepPages}
	if t.pattern.Kind == trap.KindHosts {
		params.Host = ""
	}
	for range sweepRounds {
		pages, err := g.Store.PagesAfter(ctx, params)
		if err != nil {
			return err
		}
		if err := g.holdKnown(ctx, pages, trapSet{t.Name: t}); err != nil {
			return err
		}
		done := len(pages) < sweepPages
		if len(pages) > 0 {
			params.After = pages[len(pages)-1].PageID
		}
		if err := g.Store.SweptTrap(ctx, t.ID, params.After, done); err != nil || done {
			return err
		}
	}
	return nil
}

// holdKnown holds the unvisited pages that a trap takes.
func (g Guard) holdKnown(ctx context.Context, pages []store.GrownPage, traps trapSet) error {
	urls := map[int64]urlkey.URL{} // of those that traps may take
	for _, p := range pages {
		if p.Requisite || p.State != crawl.Known && (p.State != crawl.Active || p.Attempted) {
			continue
		}
		u, err := urlkey.Canonical(p.URL)
		if err == nil && traps.covering(u) {
			urls[p.PageID] = u
		}
	}
	seen, err := g.Crawl.Scope(ctx, slices.Collect(maps.Values(urls))...)
	if err != nil {
		return err
	}
	maps.DeleteFunc(urls, func(_ int64, u urlkey.URL) bool { return seen.IsSeed(u) })
	finders, err := g.finders(ctx, slices.Sorted(maps.Keys(urls)))
	if err != nil {
		return err
	}
	idle, err := g.idle(ctx, urls, traps)
	if err != nil {
		return err
	}
	var known, admitted []store.Hold
	for _, p := range pages {
		u, ok := urls[p.PageID]
		if !ok {
			continue
		}
		switch id := cmp.Or(traps.taking(u, finders[p.PageID]), idle[p.PageID]); {
		case id == 0:
		case p.State == crawl.Known:
			known = append(known, store.Hold{PageID: p.PageID, TrapID: id})
		default:
			admitted = append(admitted, store.Hold{PageID: p.PageID, TrapID: id})
		}
	}
	if _, err := g.Store.HoldPages(ctx, g.Crawl.ID, known); err != nil {
		return err
	}
	_, effects, err := g.Store.TakeBack(ctx, g.Crawl.ID, admitted)
	g.Effects(ctx, effects)
	return err
}

// grownSite is the growth of a site.
type grownSite struct {
	name  string
	pages []store.GrownPage
	hosts map[int64]int // pages of each
}

// lookForTraps examines the pages found since the last look, and reports whether
// there are more.
func (g Guard) lookForTraps(ctx context.Context, read *siteEvidence) (more bool, err error) {
	growth, err := g.Store.GrownPages(ctx, g.Crawl.ID, grownPages)
	if err != nil || len(growth.Pages) == 0 {
		return false, err
	}
	found := len(growth.Pages)
	growth.Pages = slices.DeleteFunc(growth.Pages, func(p store.GrownPage) bool { return p.Requisite })
	if err := g.lookAtGrowth(ctx, growth, read); err != nil {
		return false, err
	}
	return found == grownPages, g.endLook(ctx, growth)
}

func (g Guard) lookAtGrowth(ctx context.Context, growth store.Growth, read *siteEvidence) error {
	sites, keys := sitesOf(growth.Pages)
	traps, err := g.trapsOf(ctx, keys)
	if err != nil {
		return err
	}
	// Pages that were registered by a process that did not know of a trap yet.
	if err := g.holdKnown(ctx, growth.Pages, traps); err != nil {
		return err
	}
	for _, site := range sites[:min(len(sites), grownSites)] {
		if err := g.lookAt(ctx, site, read, traps); err != nil {
			return err
		}
	}
	return nil
}

// sitesOf groups pages by site, those with most pages first, and returns their URLs.
func sitesOf(pages []store.GrownPage) ([]*grownSite, []urlkey.URL) {
	byName := map[string]*grownSite{}
	var keys []urlkey.URL
	for _, p := range pages {
		u, err := urlkey.Canonical(p.URL)
		if err != nil {
			continue
		}
		keys = append(keys, u)
		name := urlkey.RegistrableDomain(u.Host())
		if byName[name] == nil {
			byName[name] = &grownSite{name: name, hosts: map[int64]int{}}
		}
		byName[name].pages = append(byName[name].pages, p)
		byName[name].hosts[p.HostID]++
	}
	sites := slices.SortedFunc(maps.Values(byName), func(a, b *grownSite) int {
		return cmp.Or(cmp.Compare(len(b.pages), len(a.pages)), cmp.Compare(a.name, b.name))
	})
	return sites, keys
}

// lookAt examines a site. Sweeps hold the pages of the traps that it finds; only those of
// traps of hosts that wait in line are held at once.
func (g Guard) lookAt(ctx context.Context, site *grownSite, read *siteEvidence, traps trapSet) error {
	hosts := slices.SortedFunc(maps.Keys(site.hosts), func(x, y int64) int {
		return cmp.Or(cmp.Compare(site.hosts[y], site.hosts[x]), cmp.Compare(x, y))
	})
	hosts = hosts[:min(len(hosts), siteHosts)]
	evidence, err := g.evidenceOn(ctx, read, site.name, hosts)
	if err != nil {
		return err
	}
	now, err := g.Store.Now(ctx)
	if err != nil {
		return err
	}
	pages := lookedAt(site.pages, evidence)
	onward, err := g.onward(ctx, pages, traps)
	if err != nil {
		return err
	}
	seen, err := g.Crawl.Scope(ctx, keysOf(pages)...)
	if err != nil {
		return err
	}
	set, err := g.setTraps(ctx, slices.Concat(trap.Look(pages, now.Year(), seen.IsSeedHost), onward), traps)
	if err != nil {
		return err
	}
	return g.holdHosts(ctx, set, evidence)
}

// lookedAt merges new pages and evidence, in the order of ids.
func lookedAt(grown []store.GrownPage, evidence []store.EvidencePage) []trap.Page {
	byID := map[int64]store.EvidencePage{}
	for _, p := range grown {
		byID[p.PageID] = store.EvidencePage{GrownPage: p}
	}
	for _, e := range evidence {
		byID[e.PageID] = e
	}
	pages := make([]trap.Page, 0, len(byID))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		if p, ok := trapPage(byID[id]); ok {
			pages = append(pages, p)
		}
	}
	return pages
}

func keysOf(pages []trap.Page) []urlkey.URL {
	keys := make([]urlkey.URL, len(pages))
	for i, p := range pages {
		keys[i] = p.URL
	}
	return keys
}

// trapPage is a page as package trap sees it.
func trapPage(e store.EvidencePage) (trap.Page, bool) {
	u, err := urlkey.Canonical(e.URL)
	if err != nil || e.Requisite {
		return trap.Page{}, false
	}
	p := trap.Page{URL: u, Waits: e.State == crawl.Known, Content: e.Content, Copy: e.Copy, Of: e.Of, Compared: e.Compared, ID: e.PageID, Finder: e.Finder}
	switch {
	case e.Pending: // it is not known yet where it leads
	case e.State == crawl.Redirect:
		p.Said = change.Wording{Known: true} // a redirect says nothing
	case e.Content:
		p.Said = e.Said
	}
	return p, true
}

// grownPart is the growth of a prefix: of one host or, where the store groups them, of all hosts
// of a domain.
type grownPart struct {
	pages []store.GrownPage // by id
	hosts map[string]bool   // their keys
}

// endLook counts the growth by prefix, and holds pages beyond a budget.
func (g Guard) endLook(ctx context.Context, growth store.Growth) error {
	found := map[store.PrefixRecord]*grownPart{}
	for _, p := range growth.Pages {
		u, err := urlkey.Canonical(p.URL)
		if err != nil {
			continue
		}
		for _, prefix := range trap.Prefixes(u) {
			at := store.PrefixRecord{HostID: p.HostID, Prefix: prefix}
			if found[at] == nil {
				found[at] = &grownPart{hosts: map[string]bool{}}
			}
			found[at].pages = append(found[at].pages, p)
			found[at].hosts[u.HostKey()] = true
		}
	}
	params := store.EndLookParams{CrawlID: g.Crawl.ID, From: growth.From, Through: growth.Through}
	for _, p := range growth.Pages {
		params.Pages = append(params.Pages, p.PageID)
	}
	for at, part := range found {
		params.Found = append(params.Found, store.PrefixRecord{HostID: at.HostID, Prefix: at.Prefix, Pages: len(part.pages)})
	}
	counts, err := g.Store.EndLook(ctx, params)
	if errors.Is(err, store.ErrConflict) {
		return nil // another pass has counted them, or one was forgotten meanwhile and the next counts the rest
	}
	if err != nil {
		return err
	}
	return g.holdBeyondBudget(ctx, found, counts)
}

// holdBeyondBudget makes traps of hosts and prefixes that have more pages than the
// crawl allows. Those found first stay.
func (g Guard) holdBeyondBudget(ctx context.Context, found map[store.PrefixRecord]*grownPart, counts []store.PrefixRecord) error {
	total := map[store.PrefixRecord]int{}
	for _, c := range counts {
		total[store.PrefixRecord{HostID: c.HostID, Prefix: c.Prefix}] = c.Pages
	}
	var set []store.NewTrap
	for at, part := range found {
		limit, after, over := beyond(g.Crawl.Spec.Traps, at.Prefix, part.pages, total[at])
		if !over {
			continue
		}
		for host := range part.hosts {
			t, err := newTrap(trap.Budget(host, at.Prefix, limit), after)
			if err != nil {
				return err
			}
			set = append(set, t)
		}
	}
	_, err := g.Store.SetTraps(ctx, g.Crawl.ID, set)
	return err
}

// beyond returns the limit of a prefix that has total pages, the last of them given, and the id
// after which its pages are too many.
func beyond(spec crawl.TrapSpec, prefix string, pages []store.GrownPage, total int) (limit int, after int64, over bool) {
	limit = spec.MaxPrefixPages
	if prefix == "" {
		limit = spec.MaxHostPages
	}
	if limit == 0 || total <= limit {
		return limit, 0, false
	}
	first := max(limit-(total-len(pages)), 0) // of those given, the first that is too many
	return limit, pages[min(first, len(pages)-1)].PageID - 1, true
}
