package maintain

import (
	"context"
	"fmt"

	"recrawl/internal/store"
)

// deleteBatch is how many pages are deleted between two reports of progress.
const deleteBatch = 1000

// DeletionStore is what the deletion of a crawl needs of a store.
type DeletionStore interface {
	store.Deletion
	Waiting(ctx context.Context) (int, error)
}

// Deletion is the removal of a whole crawl.
type Deletion struct {
	Crawl string // its name
	Store DeletionStore
	// EndWorkflows ends all workflows of the crawl, tells progress how many are removed so
	// far, and returns how many there were.
	EndWorkflows func(ctx context.Context, crawl string, progress func(removed int)) (int, error)
	// Sweep is Takedown's; nil leaves the bytes in the archive.
	Sweep func(context.Context) (int, error)
	// Of is how many pages the crawl has, for Progress, which is called as it goes on.
	Of       int
	Progress func(TakedownProgress)
}

// Run deletes the crawl. The store says first that the crawl is to be deleted, so that
// nobody starts it again; then its workflows go, then its rows, then bytes that no other
// crawl has. Cut off, it goes on when it is run again, as long as the crawl's row is there;
// what is left after that, bytes and workflows without a page, ends without it. It returns
// what it has removed also when it is cut off.
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
	// What was on its way to be started while the others were ended.
	if err := d.endWorkflows(ctx, &done); err != nil || d.Sweep == nil {
		return done, err
	}
	d.show("deleting contents", done)
	err = deleteContents(ctx, d.Store.Waiting, d.Sweep, &done)
	return done, err
}

func (d Deletion) show(doing string, done Removed) {
	d.Progress(TakedownProgress{Doing: doing, Pages: done.Pages, Of: d.Of})
}

func (d Deletion) endWorkflows(ctx context.Context, done *Removed) error {
	n, err := d.EndWorkflows(ctx, d.Crawl, func(removed int) {
		d.show(fmt.Sprintf("ending workflows (%d)", done.Workflows+removed), *done)
	})
	done.Workflows += n
	return err
}
