package activities

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/store"
)

const (
	// censusKept is how long a census serves the later parts of its pass. Pages that
	// ended since are found by the check for ended workflows; those that started are not
	// harmed.
	censusKept = 10 * time.Minute
	// censusChecked is the number of longest overdue pages that are looked up by id,
	// whatever the census says.
	censusChecked = 100
	// censusBatches bounds how many batches of pages one part of a pass reads.
	censusBatches = 200
)

// census lists the pages of a crawl whose workflows run, according to Temporal's list of
// workflows. Looking up each page by id costs two calls to the server per page; the list
// costs one call for a thousand pages. It holds hashes, eight bytes a page.
type census struct {
	taken   time.Time
	seed    maphash.Seed
	running map[uint64]struct{}
	// wrong: the list has many pages that do not run, so it cannot be trusted.
	wrong bool
}

func newCensus() *census {
	return &census{taken: time.Now(), seed: maphash.MakeSeed(), running: map[uint64]struct{}{}}
}

func (c *census) add(id string) { c.running[maphash.String(c.seed, id)] = struct{}{} }

// has reports whether the page's workflow runs, to the census's knowledge.
func (c *census) has(p store.PageRecord) bool {
	_, runs := c.running[maphash.String(c.seed, contract.PageID(p.Crawl, p.URL))]
	return runs && !c.wrong
}

// censuses are the last ones of this worker, by crawl.
type censuses struct {
	mu   sync.Mutex
	last map[int64]*census
}

// of returns the census of a crawl for a pass that is under way, nil if there is none.
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

// takeCensus takes the census of a crawl, or goes on with that of the pass. It checks
// Temporal's list with the longest overdue pages, since those wait in vain if the list is
// wrong: its database may be a different one from that of the workflows, and may have been
// restored to another time. With an error it still returns the census if only some of these pages
// could not be mended.
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

// restartMany is restart for more than one batch of pages: it looks up by id only those
// that Temporal's list lacks. A page that is listed but stuck is mended by the workers,
// which find out from its task.
func (a *Activities) restartMany(ctx context.Context, in contract.MaintainIn, due store.DueParams, pages, untried []store.PageRecord, out *contract.MaintainOut) error {
	c, failed := a.takeCensus(ctx, in, due, out)
	if c == nil {
		return failed
	}
	untried = slices.DeleteFunc(untried, c.has)
	missing, after, err := a.missing(ctx, c, due, pages)
	if err != nil {
		return err
	}
	// A page that fails each time is among those that wait longest: it must not keep the others.
	if _, err := a.mend(ctx, in, distinct(missing, untried), out); err != nil || failed != nil {
		return errors.Join(failed, err)
	}
	if out.After = after; after == 0 {
		c = nil
	}
	a.censuses.keep(in.CrawlID, c)
	return nil
}

// missing returns the next pages that the census lacks, and the page after which to go
// on; 0 if all have been checked. pages are the first batch.
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
