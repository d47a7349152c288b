package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/sitemap"
	"recrawl/internal/store"
)

// codeHinted is the code of the reason that says, in words, by whose word a visit
// was made early.
const codeHinted = "hinted"

// hint has pages visited sooner which a list says have changed since their last
// visit, as far as the list is trusted.
func (a *Activities) hint(ctx context.Context, view *crawlView, list *store.PendingLinks) error {
	if !list.Kind.IsSource() {
		return nil
	}
	dates := datesOf(view, list)
	if len(dates) == 0 {
		return a.store.SaveSkipped(ctx, list.Page.PageID, nil)
	}
	outdated, err := a.store.Outdated(ctx, view.ID, dates)
	if err != nil {
		return err
	}
	records, err := a.store.ListSources(ctx, store.SourceFilter{CrawlID: view.ID, PageID: list.Page.PageID, Limit: 1})
	if err != nil || len(records) == 0 {
		return err
	}
	now, err := a.store.Now(ctx)
	if err != nil {
		return err
	}
	known := knownPages(view, list, outdated)
	hints, skipped := sitemap.Choose(known, sitemap.Record{Hits: records[0].Hits, Misses: records[0].Misses}, len(list.Links), now)
	if err := a.store.SaveSkipped(ctx, list.Page.PageID, skipped); err != nil {
		return err
	}
	return a.follow(ctx, list.Page, known, hints, "the "+list.Kind.String()+" "+list.Page.URL+" says that it has changed")
}

func knownPages(view *crawlView, list *store.PendingLinks, outdated []store.OutdatedPage) []sitemap.Known {
	known := make([]sitemap.Known, len(outdated))
	for i, p := range outdated {
		known[i] = sitemap.Known{
			PageID: p.PageID, Visit: p.Visit, Modified: p.Modified, LastAt: p.LastAt, NextAt: p.NextAt,
			Min: view.revisit.At(view.revisit.Group(p.URL)).Parameters.Min, Moved: p.HintedBy == list.Page.PageID,
		}
	}
	return known
}

// follow moves the pages that were hinted at. Those that the list has moved before
// are told again: whoever moved them may have been cut off in between.
func (a *Activities) follow(ctx context.Context, list crawl.PageRef, known []sitemap.Known, hints []sitemap.Hint, why string) error {
	for _, k := range known {
		if !k.Moved {
			continue
		}
		page, err := a.store.Page(ctx, k.PageID)
		if err == nil {
			err = a.tellMoved(ctx, []store.PageRecord{page}, why)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	for some := range slices.Chunk(hints, restartBatch) {
		moves := make([]store.Move, len(some))
		for i, h := range some {
			moves[i] = store.Move{PageID: h.PageID, Visit: h.Visit, NextAt: h.Due, HintedBy: list.PageID}
		}
		if err := a.move(ctx, moves, why); err != nil {
			return err
		}
	}
	return nil
}

// datesOf are the dates of a list by the URLs under which the crawl keeps its pages.
func datesOf(view *crawlView, list *store.PendingLinks) []store.URLDate {
	var dates []store.URLDate
	for _, link := range list.Links {
		if link.Modified == 0 {
			continue
		}
		if u, err := view.url(link.URL); err == nil {
			dates = append(dates, store.URLDate{URL: u.String(), Modified: time.UnixMilli(link.Modified)})
		}
	}
	return dates
}

// hinted adds to the reasons of a visit by whose word it was made early.
func (a *Activities) hinted(ctx context.Context, page store.PageRecord, reasons []crawl.Reason) ([]crawl.Reason, error) {
	if page.HintedBy == 0 {
		return reasons, nil
	}
	source, err := a.store.Page(ctx, page.HintedBy)
	if errors.Is(err, store.ErrNotFound) {
		return reasons, nil // forgotten meanwhile
	}
	text := fmt.Sprintf("visited early because the %s %s said that it had changed", source.Kind, source.URL)
	return append([]crawl.Reason{{Code: codeHinted, Text: text}}, reasons...), err
}
