package activities

import (
	"context"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/maintain"
	"recrawl/internal/store"
)

// replaceBatch is the number of pages that one Replace exchanges: each is a
// transaction.
const replaceBatch = 500

// Replace exchanges a batch of pages of a full collection; see maintain.Replacement.
func (a *Activities) Replace(ctx context.Context, in contract.ReplaceIn) (contract.ReplaceOut, error) {
	view, err := a.crawl(ctx, in.Name)
	if err != nil || view.Spec.Rank.Every == 0 {
		return contract.ReplaceOut{}, translate(err)
	}
	spec := view.Spec.Rank
	replacement := maintain.Replacement{
		Store: a.stores.Replacement, CrawlID: in.CrawlID,
		Options:   maintain.ReplaceOptions{Margin: spec.Margin, Tenure: spec.Every.Std(), Share: spec.MaxEvictions, Batch: replaceBatch},
		Forbidden: a.forbiddenIn(view), Outside: a.outsideOf(view), Tell: a.tellEviction,
	}
	done, err := replacement.Run(ctx)
	return contract.ReplaceOut{Evicted: done.Evicted, Admitted: done.Admitted, More: done.More}, translate(err)
}

// outsideOf reports whether a crawl's scope leaves a page out now.
func (a *Activities) outsideOf(view *crawlView) func(context.Context, store.PageRecord) (bool, error) {
	return func(ctx context.Context, page store.PageRecord) (bool, error) {
		rules, err := maintain.Outside(ctx, a.maintained(view), []store.PageRecord{page})
		return rules[page.PageID] != "", err
	}
}

// forbiddenIn is forbidden within a crawl.
func (a *Activities) forbiddenIn(view *crawlView) func(context.Context, crawl.PageRef, time.Time) (bool, error) {
	return func(ctx context.Context, page crawl.PageRef, now time.Time) (bool, error) {
		return a.forbidden(ctx, view, page, crawl.KindPage, now) // sources are not exchanged
	}
}
