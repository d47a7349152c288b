package activities

import (
	"context"

	"recrawl/internal/contract"
)

// SetCrawlState pauses, resumes or stops a crawl: one row, effective at once.
func (a *Activities) SetCrawlState(ctx context.Context, in contract.SetCrawlStateIn) (contract.SetCrawlStateOut, error) {
	rec, err := a.stores.Crawls.SetCrawlState(ctx, in.Name, in.State)
	if err != nil {
		return contract.SetCrawlStateOut{}, translate(err)
	}
	return contract.SetCrawlStateOut{Generation: rec.Generation}, nil
}
