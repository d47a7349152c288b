package maintain

import (
	"context"
	"slices"

	"recrawl/internal/store"
)

// siteEvidence is the evidence that one pass has read. Its rounds follow each other within
// seconds, and in a crawl of few sites each of them examines the same ones: what they have
// in common is read once.
type siteEvidence struct {
	newest []store.EvidencePage            // the crawl's newest pages
	bySite map[string][]store.EvidencePage // the same, by site; nil before they are read
	// thisRound and lastRound are of the sites that were examined in a round and in the one
	// before. Others are dropped, for they may be many.
	thisRound, lastRound map[string]hostEvidence
}

// hostEvidence is the evidence on hosts of a site.
type hostEvidence struct {
	hosts []int64 // ascending
	pages []store.EvidencePage
}

// beginRound begins a round of the pass.
func (e *siteEvidence) beginRound() {
	e.lastRound, e.thisRound = e.thisRound, map[string]hostEvidence{}
}

// readNewest returns the crawl's newest pages of each state.
func (g Guard) readNewest(ctx context.Context, e *siteEvidence) ([]store.EvidencePage, error) {
	if e.bySite != nil {
		return e.newest, nil
	}
	newest, err := g.Store.Evidence(ctx, store.EvidenceParams{CrawlID: g.Crawl.ID, Each: newestPages})
	if err != nil {
		return nil, err
	}
	e.newest, e.bySite = newest, map[string][]store.EvidencePage{}
	for _, p := range newest {
		site := siteOf(p.URL)
		e.bySite[site] = append(e.bySite[site], p)
	}
	return newest, nil
}

// evidenceOn returns the evidence on hosts of a site, and those of the crawl's newest pages
// that are of the site.
func (g Guard) evidenceOn(ctx context.Context, e *siteEvidence, site string, hosts []int64) ([]store.EvidencePage, error) {
	if _, err := g.readNewest(ctx, e); err != nil {
		return nil, err
	}
	sorted := slices.Sorted(slices.Values(hosts))
	known, ok := e.lastRound[site]
	if !ok || !slices.Equal(known.hosts, sorted) {
		pages, err := g.Store.Evidence(ctx, store.EvidenceParams{CrawlID: g.Crawl.ID, Hosts: hosts, Each: max(evidencePages/len(hosts), 20)})
		if err != nil {
			return nil, err
		}
		known = hostEvidence{hosts: sorted, pages: pages}
	}
	e.thisRound[site] = known
	return slices.Concat(known.pages, e.bySite[site]), nil
}
