package maintain

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// copiedSites is how many sites are examined in a pass because of their copies, and leastCopied
// how many copies each must have among the crawl's newest pages.
const (
	copiedSites = 5
	leastCopied = 12
)

// lookAtCopies examines the sites that have most copies among the crawl's newest pages. Copies are
// found with what they copy and visited after it: by then a site may have stopped growing.
func (g Guard) lookAtCopies(ctx context.Context, read *siteEvidence) error {
	waiting, err := g.Store.PagesAfter(ctx, store.PagesAfterParams{CrawlID: g.Crawl.ID, Limit: 1})
	if err != nil || len(waiting) == 0 {
		return err
	}
	newest, err := g.readNewest(ctx, read)
	if err != nil {
		return err
	}
	for _, site := range copiedOf(newest) {
		var keys []urlkey.URL
		for _, p := range site.pages {
			if u, err := urlkey.Canonical(p.URL); err == nil {
				keys = append(keys, u)
			}
		}
		traps, err := g.trapsOf(ctx, keys)
		if err != nil {
			return err
		}
		if err := g.lookAt(ctx, site, read, traps); err != nil {
			return err
		}
	}
	return nil
}

// copiedOf are the sites with most copies among pages.
func copiedOf(pages []store.EvidencePage) []*grownSite {
	byName := map[string]*grownSite{}
	for _, e := range pages {
		name := siteOf(e.URL)
		if !e.Copy || name == "" {
			continue
		}
		if byName[name] == nil {
			byName[name] = &grownSite{name: name, hosts: map[int64]int{}}
		}
		byName[name].pages = append(byName[name].pages, e.GrownPage)
		byName[name].hosts[e.HostID]++
	}
	maps.DeleteFunc(byName, func(_ string, s *grownSite) bool { return len(s.pages) < leastCopied })
	sites := slices.SortedFunc(maps.Values(byName), func(a, b *grownSite) int {
		return cmp.Or(cmp.Compare(len(b.pages), len(a.pages)), cmp.Compare(a.name, b.name))
	})
	return sites[:min(len(sites), copiedSites)]
}
