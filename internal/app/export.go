package app

import (
	"context"
	"errors"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/cli"
	"recrawl/internal/config"
	"recrawl/internal/export"
	"recrawl/internal/export/source"
	"recrawl/internal/feed"
	"recrawl/internal/maintain/duplicates"
	"recrawl/internal/store"
)

// Export implements cli.Backend.
func (Backend) Export(ctx context.Context, at cli.Target, out string, o export.Options) (done export.Result, err error) {
	err = withContents(ctx, at, storeRead, func(s store.Store, files archive.Store) error {
		record, err := s.Crawl(ctx, o.Crawl)
		if err != nil {
			return err
		}
		source, err := source.NewChanged(s, s, files, record)
		if err != nil {
			return err
		}
		if o.Article {
			source.Source = source.WithArticles()
		}
		o.Software = "recrawl/" + config.VersionText()
		if o.Now, err = s.Now(ctx); err != nil {
			return err
		}
		if o.Cursor, err = exportCursor(ctx, s, o); err == nil {
			done, err = export.Export(ctx, source, out, o)
		}
		return err
	})
	return done, err
}

// exportCursor is where the changes missing from an export begin in the feed; zero if that
// is no longer kept.
func exportCursor(ctx context.Context, s store.Feed, o export.Options) (feed.Cursor, error) {
	ends, err := s.FeedEnds(ctx)
	if errors.Is(err, store.ErrStandby) && o.Since == (feed.Cursor{}) {
		return feed.Cursor{}, nil
	}
	if err != nil {
		return feed.Cursor{}, err
	}
	if o.Since != (feed.Cursor{}) {
		_, err := s.Changes(ctx, store.ChangesParams{After: o.Since, Limit: 1})
		return ends.Newest, err
	}
	// The export leaves out visits after the time, and visits committed while it is
	// written; the former are recognised by their times, the latter by their order.
	at := o.At
	if at.IsZero() {
		at = o.Now.Truncate(time.Second)
	}
	before, err := s.ChangeBefore(ctx, at)
	switch {
	case errors.Is(err, feed.ErrTrimmed):
		return feed.Cursor{}, nil
	case err != nil || before.ID < ends.Newest.ID:
		return before, err
	}
	return ends.Newest, nil
}

// FindDuplicates implements cli.Backend.
func (Backend) FindDuplicates(ctx context.Context, at cli.Target, crawl string) (found cli.FoundDuplicates, err error) {
	s, err := openStore(ctx, at.Store, storeWrite, "")
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	record, err := s.Crawl(ctx, crawl)
	if err != nil {
		return found, err
	}
	result, err := duplicates.Find(ctx, s, record.ID, duplicates.Options{Threshold: record.Spec.Content.NearDuplicate})
	return cli.FoundDuplicates{Pages: result.Pages, Duplicates: result.Duplicates, Mirrors: result.Mirrors}, err
}
