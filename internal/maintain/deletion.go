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
	// DropIndex removes the crawl from the search index.
	DropIndex func(ctx context.Context, crawlID int64) error
	// Of is the number of the crawl's pages, for Progress, which is called as the deletion
	// goes on.
	Of       int
	Progress func(TakedownProgress)
}

// Run deletes the crawl. First the store marks the crawl as being deleted, so that nobody
// starts it again; then its workflows are removed, then its rows, then bytes that no other
// crawl has, and its part of the search index. The crawl's own row comes last: wherever it is cut
// off, running it again goes on. It returns the counts of removed items even if it is cut off.
func (d Deletion) Run(ctx context.Context) (done Removed, err error) {
	rec, err := d.Store.BeginDelete(ctx, d.Crawl)
	if err != nil {
		return done, err
	}
	if err := d.endWorkflows(ctx, &done); err != nil {
		return done, err
	}
	if err := d.deleteRows(ctx, rec.ID, true, &done); err != nil {
		return done, err
	}
	// Workflows that were about to be started while the others were ended.
	if err := d.endWorkflows(ctx, &done); err != nil {
		return done, err
	}
	if d.Sweep != nil {
		if err := deleteContents(ctx, d.Store.Waiting, d.Sweep, &done, func(doing string) { d.show(doing, done) }); err != nil {
			return done, err
		}
	}
	if err := d.DropIndex(ctx, rec.ID); err != nil {
		return done, err
	}
	return done, d.deleteRows(ctx, rec.ID, false, &done)
}

// deleteRows deletes the rows of the crawl, its own only if that is not to be kept.
func (d Deletion) deleteRows(ctx context.Context, id int64, keepRow bool, done *Removed) error {
	for gone := false; !gone; {
		d.show("deleting pages", *done)
		res, err := d.Store.DeleteCrawl(ctx, store.DeleteParams{CrawlID: id, Limit: deleteBatch, KeepContents: d.Sweep == nil, KeepRow: keepRow})
		if err != nil {
			return err
		}
		done.Pages += res.Pages
		gone = res.Done
	}
	return nil
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
