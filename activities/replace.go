package activities

import (
	"context"
	"errors"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/maintain"
	"recrawl/internal/rank"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

const (
	// replaceBatch is how many pages one Replace exchanges: each is a transaction.
	replaceBatch = 500
	// toldBatch is how many evictions are noted as told at once.
	toldBatch = 50
)

// Replace exchanges a batch of pages of a full collection for better ones, brings
// evicted pages back where there is room, and evicts what is over max_pages. The store
// knows first; evictions that workflows may not have heard of are told them again.
func (a *Activities) Replace(ctx context.Context, in contract.ReplaceIn) (contract.ReplaceOut, error) {
	view, err := a.crawl(ctx, in.Name, 0)
	if err != nil || view.Spec.Rank.Every == 0 {
		return contract.ReplaceOut{}, translate(err)
	}
	untold, err := a.store.Evictions(ctx, in.CrawlID, true, replaceBatch)
	if err != nil {
		return contract.ReplaceOut{}, translate(err)
	}
	teller := teller{activities: a, crawlID: in.CrawlID}
	for _, e := range untold {
		if err := teller.tell(ctx, e); err != nil {
			return contract.ReplaceOut{}, translate(err)
		}
	}
	spec := view.Spec.Rank
	swaps, err := maintain.Replacements(ctx, a.store, in.CrawlID, maintain.ReplaceOptions{
		Margin: spec.Margin, Tenure: spec.Every.Std(), Share: spec.MaxEvictions, Batch: replaceBatch,
	})
	if err != nil {
		return contract.ReplaceOut{}, translate(err)
	}
	var out contract.ReplaceOut
	for _, swap := range swaps {
		if err := a.swap(ctx, view, swap, &teller, &out); err != nil {
			return out, translate(err)
		}
	}
	// A batch in which nothing was possible would come again and again.
	out.More = len(swaps) == replaceBatch && out.Evicted+out.Admitted > 0
	return out, translate(teller.note(ctx))
}

// swap carries out one swap, unless a cached robots.txt forbids the page that would
// come in.
func (a *Activities) swap(ctx context.Context, view *crawlView, swap rank.Swap, t *teller, out *contract.ReplaceOut) error {
	if swap.In != 0 {
		now, err := a.store.Now(ctx)
		if err != nil {
			return err
		}
		page, err := a.store.Page(ctx, swap.In)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if forbidden, err := a.forbidden(ctx, view, page.PageRef, now); err != nil || forbidden {
			return err
		}
	}
	eviction, done, err := a.store.Swap(ctx, store.SwapParams{CrawlID: t.crawlID, Swap: swap})
	if err != nil || !done {
		return err
	}
	if swap.Out != 0 {
		out.Evicted++
	}
	if swap.In != 0 {
		out.Admitted++
	}
	return t.tell(ctx, eviction)
}

// teller tells workflows of evictions, and notes that it did.
type teller struct {
	activities *Activities
	crawlID    int64
	told       []int64
}

// tell ends the workflow of an evicted page and starts that of the page that took its
// place, unless things have moved on: a page may be back already.
func (t *teller) tell(ctx context.Context, e store.Eviction) error {
	if e.Page.State == crawl.Evicted {
		err := t.activities.workflows.EvictPage(ctx, e.Page.PageRef)
		if err != nil && !errors.Is(err, temporalkit.ErrNoWorkflow) {
			return err
		}
	}
	if e.By.State.Lives() {
		if err := t.activities.workflows.StartPage(ctx, NewPageIn(e.By)); err != nil {
			return err
		}
	}
	if e.Page.PageID == 0 {
		return nil // nothing to note; a page that is not started is found as untried
	}
	if t.told = append(t.told, e.Page.PageID); len(t.told) < toldBatch {
		return nil
	}
	return t.note(ctx)
}

func (t *teller) note(ctx context.Context) error {
	if len(t.told) == 0 {
		return nil
	}
	err := t.activities.store.SetTold(ctx, t.crawlID, t.told)
	t.told = t.told[:0]
	return err
}

// leaveEvicted is LeaveLine for a page that was evicted. The store has it as such
// already; if it has come back since, its workflow goes on.
func (a *Activities) leaveEvicted(ctx context.Context, ref crawl.PageRef) (contract.LeaveOut, error) {
	page, err := a.store.Page(ctx, ref.PageID)
	if err != nil || page.State.Lives() {
		return contract.LeaveOut{Returned: err == nil}, translate(err)
	}
	effects, err := a.store.Leave(ctx, ref.PageID)
	if err != nil {
		return contract.LeaveOut{}, translate(err)
	}
	a.carryOut(ctx, effects)
	return contract.LeaveOut{}, nil
}
