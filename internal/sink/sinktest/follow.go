package sinktest

import (
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// Follow hands on what a real store's feed has of a crawl after a cursor, as events, and
// returns the cursor behind them.
func Follow(t testing.TB, s store.Store, of store.CrawlRecord, after feed.Cursor, take func(feed.Event)) feed.Cursor {
	t.Helper()
	for {
		page, err := s.Changes(t.Context(), store.ChangesParams{After: after, CrawlID: of.ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Changes {
			e := feed.Event{Kind: c.Kind, At: c.At, Crawl: of.Spec.Name}
			if c.Kind.OfPage() {
				e.Page = &feed.EventPage{ID: c.PageID}
			}
			take(e)
		}
		if after = page.Through; after.ID >= page.Newest.ID {
			return after
		}
	}
}

// Fruitless makes a visit one that brings no version, in one of four ways: the page is gone,
// leads elsewhere, is excluded, or fails.
func Fruitless(v store.VisitRecord, way int) store.VisitRecord {
	switch way {
	case 0:
		v.Outcome, v.State, v.Status = crawl.OutcomeGone, crawl.Gone, 404
	case 1:
		v.Outcome, v.State, v.Location = crawl.OutcomeRedirected, crawl.Redirect, "https://elsewhere.test/"
	case 2:
		v.Outcome, v.State = crawl.OutcomeExcluded, crawl.Excluded
	default:
		v.Outcome, v.State, v.Problem = crawl.OutcomeFailed, crawl.Failing, "timeout"
	}
	return v
}
