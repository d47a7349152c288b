package app

import (
	"context"
	"errors"
	"fmt"

	"recrawl/internal/cli"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// RevivePage implements cli.Backend.
func (Backend) RevivePage(ctx context.Context, at cli.Target, page store.PageRecord) (revived store.PageRecord, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	s, err := openStore(ctx, at.Store, storeWrite, "")
	if err != nil {
		return page, fmt.Errorf("cannot open the store: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	rec, err := s.Crawl(ctx, page.Crawl)
	if err != nil {
		return page, err
	}
	if rec.State == crawl.CrawlStopped {
		return page, fmt.Errorf("crawl %s is stopped: `starter crawl %s` starts it again, and its pages with it", page.Crawl, page.Crawl)
	}
	if err := s.SetPageState(ctx, page.PageID, crawl.Active); err != nil {
		return page, err
	}
	return s.Page(ctx, page.PageID)
}
