package report

import (
	"context"
	"math"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// Collection is a crawl as its readers see it: its contents, and how fresh they are.
type Collection struct {
	Name  string
	State crawl.CrawlState
	// Seeds are those of its spec, which best show what it is about.
	Seeds []string
	// Copies counts the pages with a copy, and Versions the kept contents. The share of stopped
	// pages that have one is estimated, if they are many.
	Copies, Versions int
	Freshness        *Freshness // nil if no page that is visited has a copy
	Since            time.Time  // when the crawl was made
}

// CollectionsOf returns at most limit crawls by name, without the first offset ones, and
// whether there are more.
func (r Reporter) CollectionsOf(ctx context.Context, offset, limit int) (all []Collection, more bool, err error) {
	crawls, err := r.Store.ListCrawls(ctx)
	if err != nil {
		return nil, false, err
	}
	now, err := r.Store.Now(ctx)
	if err != nil {
		return nil, false, err
	}
	crawls = crawls[min(offset, len(crawls)):]
	for _, c := range crawls[:min(limit, len(crawls))] {
		one, err := r.collection(ctx, c, now)
		if err != nil {
			return nil, false, err
		}
		all = append(all, one)
	}
	return all, len(crawls) > limit, nil
}

// CollectionOf describes a crawl. Its error is store.ErrNotFound if there is none.
func (r Reporter) CollectionOf(ctx context.Context, crawlName string) (Collection, error) {
	record, now, err := r.open(ctx, crawlName)
	if err != nil {
		return Collection{}, err
	}
	return r.collection(ctx, record, now)
}

func (r Reporter) collection(ctx context.Context, c store.CrawlRecord, now time.Time) (Collection, error) {
	status, err := r.Store.Status(ctx, c.ID)
	if err != nil {
		return Collection{}, err
	}
	fresh, err := r.freshness(ctx, c, status, now)
	if err != nil {
		return Collection{}, err
	}
	one := Collection{
		Name: c.Spec.Name, State: c.State, Seeds: slices.Clone(c.Spec.Seeds), Versions: status.Versions, Freshness: fresh, Since: c.CreatedAt,
	}
	for state, pages := range status.Pages {
		if copied(state) {
			one.Copies += pages
		}
	}
	stopped, err := r.stoppedCopies(ctx, c.ID, status.Pages[crawl.Stopped])
	one.Copies += stopped
	return one, err
}

// stoppedCopies returns how many of a crawl's stopped pages have a copy.
func (r Reporter) stoppedCopies(ctx context.Context, crawlID int64, stopped int) (int, error) {
	if stopped == 0 {
		return 0, nil
	}
	pages, err := r.Store.ListPages(ctx, store.PageFilter{CrawlID: crawlID, States: []crawl.PageState{crawl.Stopped}, Sample: freshSample})
	if err != nil || len(pages) == 0 {
		return 0, err
	}
	have := 0
	for _, p := range pages {
		if p.Last.ID != 0 {
			have++
		}
	}
	if stopped <= freshSample {
		return have, nil
	}
	return int(math.Round(float64(stopped) * float64(have) / float64(len(pages)))), nil
}

// Words say how fresh the copies are, "" as long as there are none.
func (c Collection) Words() string {
	switch {
	case c.Freshness != nil:
		return c.Freshness.Words()
	case c.Copies > 0:
		return notKept
	}
	return ""
}
