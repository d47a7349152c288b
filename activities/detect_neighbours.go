package activities

import (
	"context"

	"recrawl/internal/archive"
	"recrawl/internal/change"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// ownText compares what a page itself says, where its renderings differ and the crawl wants
// lines that stand on most pages of the host left out. It reads the other pages
// from the archive: that is expensive, but only needed for a page that changed. Without
// reasons the texts still differ.
func (a *Activities) ownText(ctx context.Context, view *crawlView, page store.PageRecord, prev, now change.Rendering) ([]crawl.Reason, error) {
	if !view.Spec.Content.IgnoreShared {
		return nil, nil
	}
	neighbours, err := a.neighbours(ctx, view, page)
	if err != nil {
		return nil, err
	}
	prev, now, shared, found := change.WithoutBoilerplate(prev, now, neighbours)
	if !found {
		return nil, nil
	}
	noise, reasons := change.CompareRenderings(prev, now)
	if !noise {
		return nil, nil
	}
	return append(reasons, shared), nil
}

// neighbours returns the oldest other pages of the host that have a body, except
// large ones.
func (a *Activities) neighbours(ctx context.Context, view *crawlView, page store.PageRecord) ([]change.Neighbour, error) {
	const asked = 3 * change.Neighbours // some have no body, or are lists
	pages, err := a.stores.Pages.ListPages(ctx, store.PageFilter{
		CrawlID: page.CrawlID, Host: page.Host, States: []crawl.PageState{crawl.Active}, Limit: asked,
	})
	if err != nil {
		return nil, err
	}
	var all []change.Neighbour
	for _, p := range pages {
		if len(all) == change.Neighbours {
			break
		}
		if p.PageID == page.PageID || p.Kind != crawl.KindPage || p.Last.ID == 0 || p.Last.Digest == "" || p.Last.Bytes > comparedLeast {
			continue // the comparison's room is not meant for large bodies
		}
		body, err := a.read(ctx, p.Last.Digest)
		if archive.Lost(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		content, err := contentOf(p, contract.FetchOut{ContentType: p.Last.ContentType}, body, view.content)
		if err != nil {
			continue // it cannot be read as text
		}
		all = append(all, change.Neighbour{Older: p.PageID < page.PageID, Text: content.Text})
	}
	return all, nil
}
