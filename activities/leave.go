package activities

import (
	"context"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// LeaveLine gives up a page's place in its host's line and, when State is set,
// moves the page to it.
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
	if in.State != 0 {
		err = a.stores.Pages.SetPageState(ctx, in.Page.PageID, in.State)
	}
	return contract.LeaveOut{}, translate(err)
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
