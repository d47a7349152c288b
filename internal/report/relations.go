package report

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recrawl/internal/store"
)

// Relations reads pages by number, and their relations to others; every store.Store is one.
type Relations interface {
	Page(ctx context.Context, pageID int64) (store.PageRecord, error)
	Duplicate(ctx context.Context, pageID int64) (store.DuplicateRecord, error)
	Backlinks(ctx context.Context, pageID, after int64, limit int) ([]store.PageRecord, error)
}

// PageOf returns a page of a crawl by its number.
func (r Reporter) PageOf(ctx context.Context, crawlName string, pageID int64) (store.PageRecord, error) {
	page, err := r.Relations.Page(ctx, pageID)
	if err == nil && page.Crawl != crawlName {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.PageRecord{}, fmt.Errorf("page %d of crawl %s: %w", pageID, crawlName, err)
	}
	return page, nil
}

// Now is the store's clock.
func (r Reporter) Now(ctx context.Context) (time.Time, error) { return r.Store.Now(ctx) }

// BacklinkLine is a page that links to another, or has done so.
type BacklinkLine struct {
	URL   string `json:"url"`
	Page  int64  `json:"page"`
	Host  string `json:"host"`
	State string `json:"state"`
	Title string `json:"title"`
}

// BacklinksOf returns at most limit pages that link to a page, in the order in which they
// were found, after the page numbered after; see store.Backlinks.
func (r Reporter) BacklinksOf(ctx context.Context, page store.PageRecord, after int64, limit int) ([]BacklinkLine, error) {
	found, err := r.Relations.Backlinks(ctx, page.PageID, after, limit)
	if err != nil {
		return nil, err
	}
	lines := make([]BacklinkLine, 0, len(found))
	for _, p := range found {
		lines = append(lines, BacklinkLine{URL: p.URL, Page: p.PageID, Host: p.Host, State: p.State.String(), Title: p.Last.Title})
	}
	return lines, nil
}

// CopyLine is a duplicate as `starter duplicates` has it, with the numbers of its page and of
// the original.
type CopyLine struct {
	URL         string  `json:"url"`
	Of          string  `json:"of"`
	Exact       bool    `json:"exact"`
	Resemblance float64 `json:"resemblance"`
	At          stamp   `json:"at"`
	Holds       bool    `json:"holds"` // both still have the contents that were compared
	Page        int64   `json:"page"`
	OfPage      int64   `json:"of_page"`
	// Likeness says how alike the two are.
	Likeness string `json:"-"`
}

func copyOf(d store.DuplicateRecord) CopyLine {
	return CopyLine{
		URL: d.Page.URL, Of: d.Of.URL, Exact: d.Exact, Resemblance: d.Resemblance, At: stamp(d.At), Holds: d.Holds,
		Page: d.Page.PageID, OfPage: d.Of.PageID, Likeness: likeness(d),
	}
}

// OriginalOf returns the original of a page, if it is a duplicate.
func (r Reporter) OriginalOf(ctx context.Context, page store.PageRecord) (CopyLine, bool, error) {
	d, err := r.Relations.Duplicate(ctx, page.PageID)
	if errors.Is(err, store.ErrNotFound) {
		return CopyLine{}, false, nil
	}
	return copyOf(d), err == nil, err
}

// CopiesOf returns at most limit duplicates of a page, in the order in which they were
// found, after the page numbered after.
func (r Reporter) CopiesOf(ctx context.Context, page store.PageRecord, after int64, limit int) ([]CopyLine, error) {
	found, err := r.Store.ListDuplicates(ctx, store.DuplicateFilter{CrawlID: page.CrawlID, Of: page.PageID, After: after, Limit: limit})
	if err != nil {
		return nil, err
	}
	lines := make([]CopyLine, 0, len(found))
	for _, d := range found {
		lines = append(lines, copyOf(d))
	}
	return lines, nil
}
