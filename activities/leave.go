package activities

import (
	"context"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// LeaveLine gives up a page's place in its host's line and, when State is set,
// moves the page to it. A page that closes with its crawl lives on if the crawl was started
// again meanwhile.
func (a *Activities) LeaveLine(ctx context.Context, in contract.LeaveIn) (contract.LeaveOut, error) {
	a.crowds.wake(in.Page)
	if in.State == crawl.Evicted {
		return a.leaveEvicted(ctx, in.Page)
	}
	effects, err := a.stores.Gate.Leave(ctx, in.Page.PageID)
	if err != nil {
		return contract.LeaveOut{}, translate(err)
	}
	a.carryOut(ctx, effects)
	out := contract.LeaveOut{}
	switch {
	case in.Closing:
		out.Returned, err = a.stores.Pages.StopWithCrawl(ctx, in.Page.PageID)
	case in.State != 0:
		err = a.stores.Pages.SetPageState(ctx, in.Page.PageID, in.State)
	}
	return out, translate(err)
}

// leaveEvicted is LeaveLine for an evicted page. The store knows about the eviction
// already; if the page has come back since, its workflow goes on.
func (a *Activities) leaveEvicted(ctx context.Context, ref crawl.PageRef) (contract.LeaveOut, error) {
	page, err := a.stores.Pages.Page(ctx, ref.PageID)
	if err != nil || page.State.Lives() {
		return contract.LeaveOut{Returned: err == nil}, translate(err)
	}
	effects, err := a.stores.Gate.Leave(ctx, ref.PageID)
	if err != nil {
		return contract.LeaveOut{}, translate(err)
	}
	a.carryOut(ctx, effects)
	return contract.LeaveOut{}, nil
}
