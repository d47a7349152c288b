package app

import (
	"context"
	"errors"
	"fmt"

	"recrawl/internal/cli"
	"recrawl/internal/maintain"
	"recrawl/internal/report"
)

// Delete implements cli.Backend.
func (Backend) Delete(ctx context.Context, at cli.Target, name string, o cli.DeleteOptions) (done cli.Deleted, err error) {
	s, err := openStore(ctx, at.Store, storeWrite, "")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	rec, err := s.Crawl(ctx, name)
	if err != nil {
		return done, err
	}
	pages, err := pagesOf(ctx, s, rec.ID)
	if err != nil || o.Dry {
		return cli.Deleted{Pages: pages}, err
	}
	d := maintain.Deletion{
		Crawl: name, Store: s, Of: pages,
		Progress: func(p maintain.TakedownProgress) { o.Progress(cli.ForgetProgress(p)) },
	}
	if !o.KeepArchive {
		if at.Archive == "" {
			return done, errors.New("name the archive with --archive: the pages' bytes are to be removed too, unless --keep-archive")
		}
		files, err := openArchiveOf(ctx, s, at.Archive)
		if err != nil {
			return done, err
		}
		d.Sweep = sweeper(s, files)
	}
	eraser, hangUp, err := dialEraser(ctx, s, at)
	if err != nil {
		return done, fmt.Errorf("the crawl's workflows are to be removed too: %w", err)
	}
	defer hangUp()
	d.EndWorkflows, d.DropIndex = eraser.Crawl, searchIndex{at.Store, s.ID()}.drop
	removed, err := d.Run(ctx)
	return cli.Deleted(removed), err
}

// pagesOf counts the pages of a crawl.
func pagesOf(ctx context.Context, s report.Store, id int64) (int, error) {
	status, err := s.Status(ctx, id)
	n := 0
	for _, pages := range status.Pages {
		n += pages
	}
	return n, err
}
