package source

import (
	"context"
	"errors"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/extract"
	"recrawl/internal/store"
)

// recordStates returns the states of pages that may stand, without those of requisites.
func recordStates() []crawl.PageState {
	return []crawl.PageState{crawl.Active, crawl.Failing, crawl.Stopped}
}

// Record returns a page as the store has it. It reports false if the page does not stand, has
// no version whose body is kept, is another crawl's, or does not exist.
func (s *Source) Record(ctx context.Context, page int64) (store.PageRecord, bool, error) {
	p, err := s.store.Page(ctx, page)
	if errors.Is(err, store.ErrNotFound) {
		return store.PageRecord{}, false, nil
	}
	if err != nil || p.CrawlID != s.crawl.ID {
		return store.PageRecord{}, false, err
	}
	found, err := s.kept(ctx, []store.PageRecord{p})
	if err != nil || len(found) == 0 {
		return store.PageRecord{}, false, err
	}
	return found[0], true, nil
}

// Records does what Record does, for the pages after one, in ascending order. It looks at
// up to limit pages, those with ids up to through, and says whether there may be more.
func (s *Source) Records(ctx context.Context, after int64, limit int) (found []store.PageRecord, through int64, more bool, err error) {
	pages, err := s.store.ListPages(ctx, store.PageFilter{CrawlID: s.crawl.ID, States: recordStates(), After: after, Limit: limit})
	if err != nil || len(pages) == 0 {
		return nil, after, false, err
	}
	found, err = s.kept(ctx, pages)
	return found, pages[len(pages)-1].PageID, true, err
}

// kept returns the pages that stand and have a body.
func (s *Source) kept(ctx context.Context, pages []store.PageRecord) (found []store.PageRecord, err error) {
	standing, err := s.standing(ctx, pages)
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		if p.Kind == crawl.KindPage && slices.Contains(recordStates(), p.State) && p.Last.Seq > 0 && p.Last.Digest != "" && standing[p.PageID] {
			found = append(found, p)
		}
	}
	return found, nil
}

// ReadPage reads a page's present version, by the crawl's rules. A body that cannot be
// decoded has no text. The errors are those of Body.
func (s *Source) ReadPage(ctx context.Context, p store.PageRecord) (extract.Markdown, error) {
	src, err := s.read(ctx, export.Exchange{URL: p.URL, Version: export.Version{Digest: p.Last.Digest, ContentType: p.Last.ContentType}})
	if err != nil {
		return extract.Markdown{}, err
	}
	read, err := extract.ParseMarkdown(src, s.rules, extract.ReadMain)
	if err != nil {
		return extract.Markdown{}, nil
	}
	return read, nil
}
