package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// Sizes of maintenance's batches: small enough for one activity attempt, large
// enough that a pass over many pages is not all overhead.
const (
	restartBatch    = 500
	unfinishedBatch = 50
	sweepBatch      = 500
	// stepLimit bounds one step of a pass, so that one that hangs (an archive that does
	// not answer) leaves time for the others.
	stepLimit = 4 * time.Minute
	// longStep is how long a step takes that is worth a line in the pass's result.
	longStep = time.Second
	// sweepLimit is how long a pass deletes bytes, with its rests. What is left comes in the
	// next one.
	sweepLimit = 2 * time.Minute
	// trapsLimit is how long a pass looks for traps among new pages, with its rests. What is left
	// comes in the next.
	trapsLimit = time.Minute
	// lookLimit is how long a pass looks for duplicates, with its rests. What is left comes in
	// the next pass.
	lookLimit = 3 * time.Minute
	// scopeLimit is how long a pass wakes pages whose place in the scope has changed, with its
	// rests. What is left comes in the next pass.
	scopeLimit = 2 * time.Minute
	// unfinishedAge is how long a version's links may wait for their Discover,
	// which is normally on its way, before maintenance takes over.
	unfinishedAge = 2 * time.Minute
	// untriedAge is how long an admitted page may be in no line before its first
	// visit; after that, its admitter is taken to have been lost before starting it.
	untriedAge = 2 * time.Minute
)

// unfinishedAge is zero in a repairing pass: Temporal may have lost every
// Discover.
func (a *Activities) unfinishedAge(repair bool) time.Duration {
	if repair {
		return 0
	}
	return unfinishedAge
}

// restart starts a batch of living pages that have no workflow: normally those that are
// overdue and in no line, in a repairing pass all. A page whose workflow runs and is not
// stuck is reminded of its time.
func (a *Activities) restart(ctx context.Context, in contract.MaintainIn, out *contract.MaintainOut) error {
	now, err := a.stores.Crawls.Now(ctx)
	if err != nil {
		return err
	}
	params := store.DueParams{CrawlID: in.CrawlID, Before: now.Add(-a.settings.Overdue), After: in.After, Limit: restartBatch}
	if in.Repair {
		params.Before, params.InLine = now.Add(100*365*24*time.Hour), true
	}
	pages, err := a.stores.Pages.DuePages(ctx, params)
	if err != nil {
		return err
	}
	var untried []store.PageRecord
	if age := min(untriedAge, a.settings.Overdue); !in.Repair && in.After == 0 {
		untried, err = a.stores.Pages.DuePages(ctx, store.DueParams{CrawlID: in.CrawlID, Before: now.Add(-age), Limit: restartBatch, Untried: true})
		if err != nil {
			return err
		}
	}
	if a.settings.Running != nil && (in.After > 0 || len(pages) == restartBatch) {
		return a.restartMany(ctx, in, params, pages, untried, out)
	}
	if _, err := a.mend(ctx, in, distinct(pages, untried), out); err != nil {
		return err
	}
	if len(pages) == restartBatch {
		out.After = pages[len(pages)-1].PageID
	}
	return nil
}

// mend starts the workflows that pages lack, restarts those that are stuck, and counts
// them; gone had none. It reminds those that run of their times. A page that fails delays
// no other, up to a point.
func (a *Activities) mend(ctx context.Context, in contract.MaintainIn, pages []store.PageRecord, out *contract.MaintainOut) (gone int, err error) {
	const most = 5 // of failures, before Temporal is taken to be out of order
	var failures []error
	stuck, why := 0, ""
	for _, p := range pages {
		mended, err := a.workflows.MendPage(ctx, NewPageIn(p))
		if err == nil && mended.Condition == temporalkit.Runs && !in.Repair { // a repair's pages are not all overdue
			err = a.remind(ctx, p)
		}
		if err != nil {
			if failures = append(failures, err); len(failures) == most || ctx.Err() != nil {
				break
			}
			continue
		}
		switch mended.Condition {
		case temporalkit.Gone:
			gone++
		case temporalkit.Stuck:
			stuck, why = stuck+1, mended.Why
		case temporalkit.Runs:
		}
	}
	out.Restarted += gone + stuck
	out.Stuck += stuck
	var troubles []store.Trouble
	if stuck > 0 {
		troubles = append(troubles, store.StuckMended(stuck, why))
	}
	if gone > 0 && !in.Repair {
		troubles = append(troubles, store.Trouble{
			Part: store.TroublePages, Pages: gone, Mended: true,
			Problem: fmt.Sprintf("%d were overdue and had no workflow; all were started anew", gone),
		})
	}
	if len(troubles) > 0 {
		failures = append(failures, a.stores.Crawls.NoteTroubles(ctx, in.CrawlID, troubles))
	}
	return gone, errors.Join(failures...)
}

// distinct returns the pages of both lists, by id.
func distinct(a, b []store.PageRecord) []store.PageRecord {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y store.PageRecord) int { return cmp.Compare(x.PageID, y.PageID) })
	return slices.CompactFunc(all, func(x, y store.PageRecord) bool { return x.PageID == y.PageID })
}

func (a *Activities) counts(ctx context.Context, crawlID int64) (contract.CrawlCounts, error) {
	s, err := a.stores.Crawls.Status(ctx, crawlID)
	if err != nil {
		return contract.CrawlCounts{}, err
	}
	counts := contract.CrawlCounts{
		Pages: map[string]int{}, Visits: s.Visits, Waiting: s.Waiting, Overdue: s.Overdue, Backoff: s.Backoff, Hosts: s.Hosts,
	}
	for state, n := range s.Pages {
		if n > 0 {
			counts.Pages[state.String()] = n
		}
	}
	return counts, nil
}
