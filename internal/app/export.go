package app

import (
	"context"
	"errors"

	"recrawl/internal/archive"
	"recrawl/internal/cli"
	"recrawl/internal/config"
	"recrawl/internal/export"
	"recrawl/internal/export/source"
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
		source, err := source.New(s, files, record)
		if err != nil {
			return err
		}
		now, err := s.Now(ctx)
		o.Now, o.Software = now, "recrawl/"+config.VersionText()
		if err == nil {
			done, err = export.Export(ctx, source, out, o)
		}
		return err
	})
	return done, err
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
