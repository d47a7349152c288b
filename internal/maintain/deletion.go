package maintain

import (
	"context"
	"fmt"

	"recrawl/internal/store"
)

// deleteBatch is how many pages are deleted between two reports of progress.
const deleteBatch = 1000

// DeletionStore is the part of a store that the deletion of a crawl uses.
type DeletionStore interface {
	store.Deletion
	Waiting(ctx context.Context) (int, error)
}

// Deletion is the removal of a whole crawl.
type Deletion struct {
	Crawl string // its name
	Store DeletionStore
	// EndWorkflows ends all workflows of the crawl, reports to progress how many are
	// removed so far, and returns how many there were.
	EndWorkflows func(ctx context.Context, crawl string, progress func(removed int)) (int, error)
	// Sweep is Takedown's; nil leaves the bytes in the archive.
	Sweep func(context.Context) (int, error)
	// Of is the number of the crawl's pages, for Progress, which is called as the deletion
	// goes on.
	Of       int
	Progress func(TakedownProgress)
}

// Run deletes the crawl. First the store marks the crawl as being deleted, so that nobody
// starts it again; then its workflows are removed, then its rows, then bytes that no other
// crawl has. If it is cut off, running it again continues it, as long as the crawl's row
// exists; any bytes and workflows without a page that remain after that end without it. It
// returns the counts of removed items even if it is cut off.
func (d Deletion) Run(ctx context.Context) (done Removed, err error) {
	rec, err := d.Store.BeginDelete(ctx, d.Crawl)
	if err != nil {
		return done, err
	}
	if err := d.endWorkflows(ctx, &done); err != nil {
		return done, err
	}
	for gone := false; !gone; {
		d.show("deleting pages", done)
		res, err := d.Store.DeleteCrawl(ctx, store.DeleteParams{CrawlID: rec.ID, Limit: deleteBatch, KeepContents: d.Sweep == nil})
		if err != nil {
			return done, err
		}
		done.Pages += res.Pages
		gone = res.Done
	}
	// Workflows that were about to be started while the others were ended.
	if err := d.endWorkflows(ctx, &done); err != nil || d.Sweep == nil {
		return done, err
	}
	err = deleteContents(ctx, d.Store.Waiting, d.Sweep, &done, func(doing string) { d.show(doing, done) })
	return done, err
}

func (d Deletion) show(doing string, done Removed) {
	d.Progress(TakedownProgress{Doing: doing, Pages: done.Pages, Of: d.Of})
}

func (d Deletion) endWorkflows(ctx context.Context, done *Removed) error {
	d.show("ending workflows", *done) // the first of them may take long
	n, err := d.EndWorkflows(ctx, d.Crawl, func(removed int) {
		d.show(fmt.Sprintf("ending workflows (%d)", done.Workflows+removed), *done)
	})
	done.Workflows += n
	return err
}
