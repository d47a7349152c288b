package app

import (
	"context"
	"errors"
	"fmt"

	"recrawl/internal/cli"
	"recrawl/internal/report"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// deleteBatch is how many pages are deleted between two reports of progress.
const deleteBatch = 1000

// Delete implements cli.Backend. The store says first that the crawl is to be deleted,
// so that nobody starts it again; then its workflows go, then its rows, then bytes that
// no other crawl has. Whatever it is cut off at, running it again goes on.
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
	t := takedown{at: at, store: s, pages: pages, progress: func(p cli.ForgetProgress) { o.Progress(p.String()) }}
	if !o.KeepArchive {
		if at.Archive == "" {
			return done, errors.New("name the archive with --archive: the pages' bytes are to be removed too, unless --keep-archive")
		}
		if t.files, err = openArchive(ctx, at.Archive, storeWrite); err != nil {
			return done, err
		}
	}
	options := temporalkit.Options{Address: at.Temporal.Address, Namespace: at.Temporal.Namespace}
	c, err := temporalkit.Dial(ctx, options)
	if err != nil {
		return done, fmt.Errorf("the crawl's workflows are to be removed too: %w", err)
	}
	defer c.Close()
	t.eraser = &temporalkit.Eraser{Client: c, Namespace: temporalkit.Namespace(options)}
	err = t.deleteCrawl(ctx, name, o.KeepArchive)
	return cli.Deleted{Pages: t.done.Pages, Contents: t.done.Contents, Workflows: t.done.Workflows, Left: t.done.Left}, err
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

func (t *takedown) deleteCrawl(ctx context.Context, name string, keep bool) error {
	rec, err := t.store.BeginDelete(ctx, name)
	if err != nil {
		return err
	}
	if err := t.endCrawl(ctx, name); err != nil {
		return err
	}
	for done := false; !done; {
		t.show("deleting pages")
		res, err := t.store.DeleteCrawl(ctx, store.DeleteParams{CrawlID: rec.ID, Limit: deleteBatch, KeepContents: keep})
		if err != nil {
			return err
		}
		t.done.Pages += res.Pages
		done = res.Done
	}
	// What was on its way to be started while the others were ended.
	if err := t.endCrawl(ctx, name); err != nil || keep {
		return err
	}
	return t.deleteContents(ctx)
}

// endCrawl ends all workflows of the crawl.
func (t *takedown) endCrawl(ctx context.Context, name string) error {
	n, err := t.eraser.Crawl(ctx, name, func(removed int) {
		t.progress(cli.ForgetProgress{Doing: fmt.Sprintf("ending workflows (%d)", t.done.Workflows+removed), Pages: t.done.Pages, Of: t.pages})
	})
	t.done.Workflows += n
	return err
}
