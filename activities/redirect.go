package activities

import (
	"context"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/scope"
	"recrawl/internal/store"
)

// followRedirect makes the target of a redirect a page of its own, if the crawl
// takes it. It is as many links from a seed as the page that redirects: a redirect
// is no link. It returns what the visit's reasons are to say of it.
func (a *Activities) followRedirect(ctx context.Context, view *crawlView, page store.PageRecord, f contract.FetchOut) ([]crawl.Reason, error) {
	if f.Outcome != crawl.OutcomeRedirected || f.Location == "" {
		return nil, nil
	}
	from, err := view.url(page.URL)
	if err != nil {
		return nil, err
	}
	to, err := view.url(f.Location)
	if err != nil {
		return nil, nil // nowhere to go; the visit itself is recorded as it was
	}
	reasons, err := a.addRedirectedSeed(ctx, view, from, to)
	if err != nil {
		return nil, err
	}
	if view, err = a.crawl(ctx, page.Crawl, 0); err != nil {
		return nil, err
	}
	found, verdict := a.judgeLink(view, f.Location, scope.Link{Level: page.Level, Hops: page.Hops})
	params := store.RegisterParams{CrawlID: page.CrawlID, From: page.PageID}
	switch {
	case verdict.Undecided:
		return nil, undecided(verdict)
	case !verdict.Accept:
		r := rejections{}
		r.add(verdict, example(f.Location, newURL(found)))
		params.Rejected = r.list()
	default:
		if params.URLs, err = a.holdBack(ctx, view, []scope.Link{found}); err != nil {
			return nil, err
		}
	}
	_, err = a.store.RegisterLinks(ctx, params)
	return reasons, err
}

// redirectHost is the host of the page to which a visit redirected, if that page
// waits to be admitted, else 0. It need not be the visited page's.
func (a *Activities) redirectHost(ctx context.Context, view *crawlView, v store.VisitRecord) (int64, error) {
	if v.Outcome != crawl.OutcomeRedirected || v.Location == "" {
		return 0, nil
	}
	to, err := view.url(v.Location)
	if err != nil {
		return 0, nil
	}
	pages, err := a.store.FindPages(ctx, to.String(), view.Spec.Name)
	if err != nil || len(pages) == 0 || pages[0].State != crawl.Known {
		return 0, err
	}
	return pages[0].HostID, nil
}
