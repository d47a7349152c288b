package maintain

import (
	"context"
	"maps"
	"time"

	"recrawl/internal/sitemap"
	"recrawl/internal/store"
)

// HintStore is the part of a store that hints use.
type HintStore interface {
	Outdated(ctx context.Context, crawlID int64, dates []store.URLDate) ([]store.OutdatedPage, error)
	ListSources(ctx context.Context, f store.SourceFilter) ([]store.SourceRecord, error)
	SaveSkipped(ctx context.Context, pageID int64, skipped map[string]int) error
	Now(ctx context.Context) (time.Time, error)
}

// Hints returns the pages that should be visited sooner because a list says that they
// have changed since their last visit, to the extent that the list is trusted. The
// list's other statements are counted in the store, beside the lists that are left out (by reason).
func Hints(ctx context.Context, s HintStore, c Crawl, list *store.PendingLinks, left map[string]int) (Moves, error) {
	if !list.Kind.IsSource() {
		return Moves{}, nil
	}
	dates := datesOf(c, list)
	if len(dates) == 0 {
		return Moves{}, s.SaveSkipped(ctx, list.Page.PageID, left)
	}
	outdated, err := s.Outdated(ctx, c.ID, dates)
	if err != nil {
		return Moves{}, err
	}
	records, err := s.ListSources(ctx, store.SourceFilter{CrawlID: c.ID, PageID: list.Page.PageID, Limit: 1})
	if err != nil || len(records) == 0 {
		return Moves{}, err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return Moves{}, err
	}
	known := knownPages(c, list, outdated)
	hints, skipped := sitemap.Choose(known, sitemap.Record{Hits: records[0].Hits, Misses: records[0].Misses}, len(list.Links), now)
	maps.Copy(skipped, left)
	if err := s.SaveSkipped(ctx, list.Page.PageID, skipped); err != nil {
		return Moves{}, err
	}
	moves := Moves{Why: "the " + list.Kind.String() + " " + list.Page.URL + " says that it has changed"}
	for _, k := range known {
		if k.Moved {
			moves.Earlier = append(moves.Earlier, k.PageID)
		}
	}
	for _, h := range hints {
		moves.Pages = append(moves.Pages, store.Move{PageID: h.PageID, Visit: h.Visit, NextAt: h.Due, HintedBy: list.Page.PageID})
	}
	return moves, nil
}

func knownPages(c Crawl, list *store.PendingLinks, outdated []store.OutdatedPage) []sitemap.Known {
	known := make([]sitemap.Known, len(outdated))
	for i, p := range outdated {
		known[i] = sitemap.Known{
			PageID: p.PageID, Visit: p.Visit, Modified: p.Modified, LastAt: p.LastAt, NextAt: p.NextAt,
			Min: c.Revisit.At(c.Revisit.Group(p.URL)).Parameters.Min, Moved: p.HintedBy == list.Page.PageID,
		}
	}
	return known
}

// datesOf returns the dates of a list by the URLs under which the crawl keeps its
// pages.
func datesOf(c Crawl, list *store.PendingLinks) []store.URLDate {
	var dates []store.URLDate
	for _, link := range list.Links {
		if link.Modified == 0 {
			continue
		}
		if u, err := c.URL(link.URL); err == nil {
			dates = append(dates, store.URLDate{URL: u.String(), Modified: time.UnixMilli(link.Modified)})
		}
	}
	return dates
}
