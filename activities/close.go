package activities

import (
	"context"
	"errors"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// closeBatch is the number of pages that one ClosePages asks.
const closeBatch = 200

// ClosePages asks a batch of a stopped crawl's living pages to complete. A page
// without a workflow is only marked. When all are asked, sinks deliver the rest.
func (a *Activities) ClosePages(ctx context.Context, in contract.ClosePagesIn) (contract.ClosePagesOut, error) {
	pages, err := a.stores.Pages.ListPages(ctx, store.PageFilter{CrawlID: in.CrawlID, States: crawl.LivingStates(), After: in.After, Limit: closeBatch})
	if err != nil {
		return contract.ClosePagesOut{}, translate(err)
	}
	out := contract.ClosePagesOut{}
	for _, p := range pages {
		err := a.workflows.StopPage(ctx, p.PageRef)
		if errors.Is(err, temporalkit.ErrNoWorkflow) {
			_, err = a.stores.Pages.StopWithCrawl(ctx, p.PageID)
		}
		if errors.Is(err, store.ErrNotFound) {
			continue // it was forgotten after it was listed
		}
		if err != nil {
			return out, translate(err)
		}
		out.Closed++
	}
	if len(pages) == closeBatch {
		out.After = pages[len(pages)-1].PageID
		return out, nil
	}
	return out, translate(a.finishSinks(ctx, in.Name))
}
