package source

import (
	"context"
	"errors"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/store"
)

// standingStates are those of pages that stand. A page that fails keeps its last version:
// nobody knows yet that it is gone.
var standingStates = []crawl.PageState{crawl.Active, crawl.Failing}

// stands decides export.Exchange's Stands.
func stands(p store.PageRecord) bool {
	return !p.Kind.IsSource() && (p.State == crawl.Active || p.State == crawl.Failing)
}

// Document returns the version that a page has now, as the visit that found it. It reports
// false if the page does not stand, has no version, or is of another crawl or none.
func (s *Source) Document(ctx context.Context, page int64) (export.Exchange, bool, error) {
	p, err := s.store.Page(ctx, page)
	if errors.Is(err, store.ErrNotFound) {
		return export.Exchange{}, false, nil
	}
	if err != nil || p.CrawlID != s.crawl.ID {
		return export.Exchange{}, false, err
	}
	x, ok := documentOf(p)
	return x, ok, nil
}

// Documents returns what Document does of the pages after one, in ascending order. It looks
// at up to limit pages, those with ids up to through, and says whether there are more.
func (s *Source) Documents(ctx context.Context, after int64, limit int) (found []export.Exchange, through int64, more bool, err error) {
	pages, err := s.store.ListPages(ctx, store.PageFilter{CrawlID: s.crawl.ID, States: standingStates, After: after, Limit: limit})
	if err != nil || len(pages) == 0 {
		return nil, after, false, err
	}
	for _, p := range pages {
		if x, ok := documentOf(p); ok {
			found = append(found, x)
		}
	}
	return found, pages[len(pages)-1].PageID, true, nil
}

func documentOf(p store.PageRecord) (export.Exchange, bool) {
	w := p.Last
	if w.Seq == 0 || !stands(p) {
		return export.Exchange{}, false
	}
	return export.Exchange{
		Page: p.PageID, URL: p.URL, Visit: w.Visit, At: w.At, Digest: w.Digest, Stands: true,
		Version: export.Version{
			Seq: w.Seq, Visit: w.Visit, At: w.At, Digest: w.Digest, Bytes: w.Bytes, ContentType: w.ContentType, Title: w.Title, Canonical: w.Canonical,
		},
	}, true
}
