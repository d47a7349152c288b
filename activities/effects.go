package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/maintain"
	"recrawl/internal/maintain/duplicates"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// carryOut signals the workflows that a gate transaction named. A turn that
// cannot be delivered is not lost: the waiter comes by itself at the time that it
// was promised, and a waiter without a workflow gets one.
func (a *Activities) carryOut(ctx context.Context, effects store.GateEffects) {
	for _, turn := range effects.Turns {
		if a.kept.keep(turn, time.Now()) {
			continue
		}
		if err := a.turn(ctx, turn); err != nil {
			a.log.Warn("a waiting page could not be told of its turn", "page", turn.Page.URL, "error", err)
		}
	}
}

func (a *Activities) turn(ctx context.Context, turn store.Turn) error {
	err := a.workflows.Turn(ctx, turn.Page, turn.In)
	if !errors.Is(err, temporalkit.ErrNoWorkflow) {
		return err
	}
	page, err := a.stores.Pages.Page(ctx, turn.Page.PageID)
	if err != nil || !page.State.Lives() {
		return err // a late turn: the page was stopped, or waits to be admitted again
	}
	return a.workflows.StartPage(ctx, NewPageIn(page))
}

// move moves pages, and tells their workflows.
func (a *Activities) move(ctx context.Context, moves maintain.Moves) error {
	for _, id := range moves.Earlier {
		page, err := a.stores.Pages.Page(ctx, id)
		if err == nil {
			err = a.tellMoved(ctx, []store.PageRecord{page}, moves.Why)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	for some := range slices.Chunk(moves.Pages, restartBatch) {
		pages, err := a.stores.Pages.Reschedule(ctx, some)
		if err != nil {
			return err
		}
		if err := a.tellMoved(ctx, pages, moves.Why); err != nil {
			return err
		}
	}
	return nil
}

// tellMoved tells the workflows of pages their times in the store.
func (a *Activities) tellMoved(ctx context.Context, pages []store.PageRecord, why string) error {
	for _, p := range pages {
		arg := contract.RescheduleArg{Due: p.NextAt, Why: why, Visit: p.Visits}
		err := a.workflows.Reschedule(ctx, p.PageRef, arg)
		if err != nil && !errors.Is(err, temporalkit.ErrNoWorkflow) {
			return fmt.Errorf("%s: %w", pageLabel(p.PageRef), err)
		}
	}
	return nil
}

// wakeRescoped tells the workflows of pages whose place in the scope has changed that
// they are due; a page without a workflow gets one.
func (a *Activities) wakeRescoped(ctx context.Context, pages []store.PageRecord) error {
	for _, p := range pages {
		err := a.workflows.Reschedule(ctx, p.PageRef, contract.RescheduleArg{Due: p.NextAt, Why: "the crawl's scope has changed", Visit: p.Visits})
		if errors.Is(err, temporalkit.ErrNoWorkflow) {
			err = a.workflows.StartPage(ctx, NewPageIn(p))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", pageLabel(p.PageRef), err)
		}
	}
	return nil
}

// tellEviction ends the workflow of an evicted page and starts the workflow of the page
// that took its place, unless the store has moved on: a page may be back already.
func (a *Activities) tellEviction(ctx context.Context, e store.Eviction) error {
	if e.Page.State == crawl.Evicted {
		err := a.workflows.EvictPage(ctx, e.Page.PageRef)
		if err != nil && !errors.Is(err, temporalkit.ErrNoWorkflow) {
			return err
		}
	}
	if !e.By.State.Lives() {
		return nil
	}
	return a.workflows.StartPage(ctx, NewPageIn(e.By))
}

// wakeDuplicates lets the duplicates of a page be visited if that page has changed
// or is gone: they may stand for themselves now.
func (a *Activities) wakeDuplicates(ctx context.Context, page crawl.PageRef, outcome crawl.Outcome) error {
	freed, err := duplicates.Freed(ctx, a.stores.Duplicates, page, outcome)
	if err != nil {
		return err
	}
	for _, p := range freed {
		err := a.workflows.Reschedule(ctx, p, contract.RescheduleArg{Due: time.Now(), Why: "the page that has its content, " + page.URL + ", is another now"})
		if err != nil && !errors.Is(err, temporalkit.ErrNoWorkflow) {
			// The visit is recorded; the duplicate finds out at its next one.
			a.log.Warn("a duplicate could not be told that its other page changed", "page", p.URL, "error", err)
		}
	}
	return nil
}
