package activities

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/store"
)

const (
	// censusKept is for how long a census serves the later parts of its pass. Pages that
	// ended since are found by who looks after ends; those that started are not harmed.
	censusKept = 10 * time.Minute
	// censusChecked is how many of the pages that are overdue longest are looked at by id,
	// whatever the census says.
	censusChecked = 100
	// censusBatches bounds how many batches of pages one part of a pass reads.
	censusBatches = 200
)

// census is which pages of a crawl have a workflow that runs, as Temporal's list of
// workflows has it. To look at each page by id costs two calls of the server a page, and
// the list one call for a thousand. It holds hashes, eight bytes a page.
type census struct {
	taken   time.Time
	seed    maphash.Seed
	running map[uint64]struct{}
	// wrong: the list has many pages that do not run, so that it says nothing.
	wrong bool
}

func newCensus() *census {
	return &census{taken: time.Now(), seed: maphash.MakeSeed(), running: map[uint64]struct{}{}}
}

func (c *census) add(id string) { c.running[maphash.String(c.seed, id)] = struct{}{} }

// has reports whether the page's workflow runs for all that is known.
func (c *census) has(p store.PageRecord) bool {
	_, runs := c.running[maphash.String(c.seed, contract.PageID(p.Crawl, p.URL))]
	return runs && !c.wrong
}

// censuses are the last ones of this worker, by crawl.
type censuses struct {
	mu   sync.Mutex
	last map[int64]*census
}

// of is the census of a crawl for a pass that is under way, nil if there is none.
func (c *censuses) of(crawlID int64) *census {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last := c.last[crawlID]; last != nil && time.Since(last.taken) < censusKept {
		return last
	}
	return nil
}

// keep keeps the census for the pass's next part; nil ends the pass.
func (c *censuses) keep(crawlID int64, is *census) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if is == nil {
		delete(c.last, crawlID)
		return
	}
	if c.last == nil {
		c.last = map[int64]*census{}
	}
	c.last[crawlID] = is
}

// takeCensus takes the census of a crawl, or goes on with that of the pass. What Temporal's
// list says is checked with the pages that are overdue longest, which are those that wait
// in vain if it is wrong: its database may be another than that of the workflows, and may
// have been restored to another time.
func (a *Activities) takeCensus(ctx context.Context, in contract.MaintainIn, due store.DueParams, out *contract.MaintainOut) (*census, error) {
	if in.After > 0 {
		if c := a.censuses.of(in.CrawlID); c != nil {
			return c, nil
		}
	}
	c := newCensus()
	if err := a.settings.Running(ctx, in.Name, c.add); err != nil {
		return nil, err
	}
	due.After, due.Limit, due.Longest = 0, censusChecked, true
	pages, err := a.stores.Pages.DuePages(ctx, due)
	if err != nil {
		return nil, err
	}
	var listed []store.PageRecord
	for _, p := range pages {
		if c.has(p) {
			listed = append(listed, p)
		}
	}
	gone, err := a.mend(ctx, in, listed, out)
	c.wrong = gone > len(listed)/10 // some may have ended this very moment
	return c, err
}

// restartMany is restart for more pages than one batch: only those are looked at by id that
// Temporal's list lacks. A page that is listed and stuck is mended by the workers, who hear
// of it with its task.
func (a *Activities) restartMany(ctx context.Context, in contract.MaintainIn, due store.DueParams, pages, untried []store.PageRecord, out *contract.MaintainOut) error {
	c, err := a.takeCensus(ctx, in, due, out)
	if err != nil {
		return err
	}
	untried = slices.DeleteFunc(untried, c.has)
	missing, after, err := a.missing(ctx, c, due, pages)
	if err != nil {
		return err
	}
	if _, err := a.mend(ctx, in, distinct(missing, untried), out); err != nil {
		return err
	}
	if out.After = after; after == 0 {
		c = nil
	}
	a.censuses.keep(in.CrawlID, c)
	return nil
}

// missing are the next pages that the census lacks, and the page after which to go on; 0
// if all have been looked at. pages are the first batch.
func (a *Activities) missing(ctx context.Context, c *census, due store.DueParams, pages []store.PageRecord) (missing []store.PageRecord, after int64, err error) {
	for range censusBatches {
		for _, p := range pages {
			if c.has(p) {
				continue
			}
			if missing = append(missing, p); len(missing) == restartBatch {
				return missing, p.PageID, nil
			}
		}
		if len(pages) < restartBatch {
			return missing, 0, nil
		}
		due.After = pages[len(pages)-1].PageID
		if pages, err = a.stores.Pages.DuePages(ctx, due); err != nil {
			return nil, 0, err
		}
	}
	return missing, due.After, nil
}
