package activities

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

const (
	// closeBatch is the number of pages that one ClosePages asks.
	closeBatch = 200
	// closeAtOnce is how many of them it asks at a time: each waits for Temporal or the store.
	closeAtOnce = 8
)

// ClosePages asks a batch of a stopped crawl's living pages to complete. A page
// without a workflow is only marked. When all are asked, sinks deliver the rest.
func (a *Activities) ClosePages(ctx context.Context, in contract.ClosePagesIn) (contract.ClosePagesOut, error) {
	pages, err := a.stores.Pages.ListPages(ctx, store.PageFilter{CrawlID: in.CrawlID, States: crawl.LivingStates(), After: in.After, Limit: closeBatch})
	if err != nil {
		return contract.ClosePagesOut{}, translate(err)
	}
	closed := make([]bool, len(pages))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(closeAtOnce)
	for i, p := range pages {
		group.Go(func() (err error) {
			closed[i], err = a.closePage(groupCtx, p)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return contract.ClosePagesOut{}, translate(err) // it is tried again; asking a page twice does no harm
	}
	out := contract.ClosePagesOut{}
	for _, is := range closed {
		if is {
			out.Closed++
		}
	}
	if len(pages) == closeBatch {
		out.After = pages[len(pages)-1].PageID
		return out, nil
	}
	return out, translate(a.finishSinks(ctx, in.Name))
}

// closePage asks a page to complete. It reports false if the page was forgotten after it was listed.
func (a *Activities) closePage(ctx context.Context, p store.PageRecord) (bool, error) {
	err := a.workflows.StopPage(ctx, p.PageRef)
	if errors.Is(err, temporalkit.ErrNoWorkflow) {
		_, err = a.stores.Pages.StopWithCrawl(ctx, p.PageID)
	}
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
