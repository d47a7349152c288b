package activities

import (
	"context"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/store"
)

const (
	// linksLimit is how long a pass registers links itself, with its rests.
	linksLimit = time.Minute
	// linksBatch is how many versions' links it registers between two rests, and linksListed how
	// many it lists at a time.
	linksBatch  = 10
	linksListed = 500
	// mostRefused is how many versions in a row may fail before the rest is left to the next
	// pass: then a filter program, or the store, does not answer.
	mostRefused = 5
)

// unfinished finds the links that no Discover has registered. The oldest get a Discover, which has
// time and attempts. If there are more, as after a day in which a filter program did not
// answer, the pass registers them itself: a Crawl runs few Discovers at a time, and a batch a
// pass would be 300 an hour.
func (a *Activities) unfinished(ctx context.Context, in contract.MaintainIn, out *contract.MaintainOut) error {
	unfinished, err := a.stores.Frontier.UnfinishedLinks(ctx, in.CrawlID, a.unfinishedAge(in.Repair), unfinishedBatch)
	if err != nil {
		return err
	}
	left := map[int64]bool{}
	for _, p := range unfinished {
		if _, err := a.workflows.EndStuckDiscover(ctx, p.Page, p.Visit); err != nil {
			return err
		}
		left[p.Version] = true
		out.Unfinished = append(out.Unfinished, contract.DiscoverIn{Store: p.Page.Store, CrawlID: in.CrawlID, Crawl: in.Name, Page: p.Page, Visit: p.Visit, Register: true})
	}
	if len(unfinished) < unfinishedBatch {
		return nil
	}
	return a.registerLeft(ctx, in, left)
}

// registerLeft registers the links of unfinished versions, except some that are left to others,
// until there are none or its time is over.
func (a *Activities) registerLeft(ctx context.Context, in contract.MaintainIn, left map[int64]bool) error {
	pace, refused := newPace(aFifth, linksLimit), 0
	for {
		found, err := a.stores.Frontier.UnfinishedLinks(ctx, in.CrawlID, a.unfinishedAge(in.Repair), len(left)+linksListed)
		if err != nil {
			return err
		}
		found = slices.DeleteFunc(found, func(p store.PendingLinks) bool { return left[p.Version] })
		if len(found) == 0 {
			return nil
		}
		for batch := range slices.Chunk(found, linksBatch) {
			for _, p := range batch {
				left[p.Version] = true // whatever comes of it, once a pass is enough
				if err := a.registerUnfinished(ctx, p); err == nil {
					refused = 0
				} else if refused++; refused == mostRefused || ctx.Err() != nil {
					return fmt.Errorf("links of %d versions in a row could not be registered: %w", refused, err)
				}
			}
			if more, err := pace.next(ctx); err != nil || !more {
				return err
			}
		}
	}
}

// registerUnfinished registers the links of a version. Those that take long come to a Discover
// when they are among the oldest.
func (a *Activities) registerUnfinished(ctx context.Context, p store.PendingLinks) error {
	if _, err := a.workflows.EndStuckDiscover(ctx, p.Page, p.Visit); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, registerPatience)
	defer cancel()
	_, err := a.RegisterLinks(ctx, contract.RegisterIn{Page: p.Page, Visit: p.Visit})
	return err
}
