package source

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/export"
	"recrawl/internal/feed"
	"recrawl/internal/feed/reader"
	"recrawl/internal/store"
)

// Changed is a Source that also knows what changed since a cursor.
type Changed struct {
	*Source
	feed reader.Store
}

var _ export.Changing = (*Changed)(nil)

// NewChanged returns a crawl for exports of its changes.
func NewChanged(s Store, changes reader.Store, files archive.Store, c store.CrawlRecord) (*Changed, error) {
	source, err := New(s, files, c)
	return &Changed{Source: source, feed: changes}, err
}

// Changes implements export.Changing.
func (s *Changed) Changes(ctx context.Context, since, through feed.Cursor) iter.Seq2[feed.Event, error] {
	return func(yield func(feed.Event, error) bool) {
		q := reader.Query{After: since, CrawlID: s.crawl.ID}
		err := reader.New(s.feed, nil).Follow(ctx, q, reader.Following{Take: func(b reader.Batch) error {
			for _, e := range b.Events {
				if e.Cursor.ID > through.ID || !yield(e, nil) {
					return errEnough
				}
			}
			if b.Through.ID >= through.ID {
				return errEnough
			}
			return nil
		}})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(feed.Event{}, err)
		}
	}
}

// errEnough ends the reading of the feed.
var errEnough = errors.New("enough")

// mark is a visit that is a change, or found another version of the same text. There is one
// in memory for each such visit of an export.
type mark struct {
	page  int64
	visit int
}

func (m mark) compare(n mark) int {
	return cmp.Or(cmp.Compare(m.page, n.page), cmp.Compare(m.visit, n.visit))
}

// Exchanges implements export.Source: with Since in the Query, only marked visits.
func (s *Changed) Exchanges(ctx context.Context, q export.Query) iter.Seq2[export.Exchange, error] {
	if q.Since == (feed.Cursor{}) {
		return s.Source.Exchanges(ctx, q)
	}
	return func(yield func(export.Exchange, error) bool) {
		marks, err := s.marks(ctx, q)
		if err != nil {
			yield(export.Exchange{}, err)
			return
		}
		for len(marks) > 0 {
			some, pages := nextPages(marks)
			marks = marks[len(some):]
			records, err := s.records(ctx, pages)
			if err != nil {
				yield(export.Exchange{}, err)
				return
			}
			if !s.marked(ctx, records, some, q, yield) {
				return
			}
		}
	}
}

// marks returns the visits for an export, in its order.
func (s *Changed) marks(ctx context.Context, q export.Query) ([]mark, error) {
	var marks []mark
	p := store.ChangesParams{After: q.Since, CrawlID: s.crawl.ID, Kinds: append(feed.Kinds(), feed.VersionOnly)}
	for {
		page, err := s.feed.Changes(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, c := range page.Changes {
			if c.ID <= q.Through.ID && c.Visit > 0 && c.PageID > q.After {
				marks = append(marks, mark{c.PageID, c.Visit})
			}
		}
		if page.Through.ID >= min(q.Through.ID, page.Newest.ID) {
			slices.SortFunc(marks, mark.compare)
			return slices.Compact(marks), nil
		}
		p.After = page.Through
	}
}

// nextPages returns the marks of the first pages, and these pages.
func nextPages(marks []mark) (some []mark, pages []int64) {
	for i, m := range marks {
		if len(pages) > 0 && pages[len(pages)-1] == m.page {
			continue
		}
		if len(pages) == pagesAtOnce {
			return marks[:i], pages
		}
		pages = append(pages, m.page)
	}
	return marks, pages
}

// records returns pages with the data for an export, without those that were forgotten.
func (s *Changed) records(ctx context.Context, pages []int64) ([]store.PageRecord, error) {
	asked := make([]feed.Change, len(pages))
	for i, id := range pages {
		asked[i] = feed.Change{Kind: feed.PageChanged, CrawlID: s.crawl.ID, PageID: id}
	}
	facts, err := s.feed.ChangeFacts(ctx, asked)
	if err != nil {
		return nil, err
	}
	records := make([]store.PageRecord, 0, len(pages))
	for i, f := range facts {
		if f.URL == "" {
			continue
		}
		var r store.PageRecord
		r.PageID, r.URL, r.Kind, r.State, r.Last, r.TextAt = pages[i], f.URL, f.Kind, f.State, f.Last, f.TextAt
		records = append(records, r)
	}
	return records, nil
}

// marked yields the marked visits of some pages and reports whether to go on.
func (s *Changed) marked(ctx context.Context, pages []store.PageRecord, marks []mark, q export.Query, yield func(export.Exchange, error) bool) bool {
	if len(pages) == 0 {
		return true
	}
	q.Until = time.UnixMicro(math.MaxInt64 / 2)
	return s.visits(ctx, pages, q, func(x export.Exchange, err error) bool {
		if err == nil {
			if _, found := slices.BinarySearchFunc(marks, mark{x.Page, x.Visit}, mark.compare); !found {
				return true
			}
		}
		return yield(x, err)
	})
}
