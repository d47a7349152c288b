package care

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"recrawl/activities"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

const (
	repairBatch = 500 // pages read at a time
	// repairAtOnce is how many workflows are checked at a time.
	repairAtOnce = 16
	// repairDiscovers bounds how many Discovers are checked; maintenance handles the rest.
	repairDiscovers = 1000
)

// repairStore is the part of a store that a repair uses.
type repairStore interface {
	Status(ctx context.Context, crawlID int64) (store.StatusRecord, error)
	ListPages(ctx context.Context, f store.PageFilter) ([]store.PageRecord, error)
	UnfinishedLinks(ctx context.Context, crawlID int64, age time.Duration, limit int) ([]store.PendingLinks, error)
}

// repairFlows is the part of Temporal that a repair uses.
type repairFlows interface {
	CrawlFlows
	MendPage(ctx context.Context, in contract.PageIn) (temporalkit.Mended, error)
	EndStuckDiscover(ctx context.Context, page crawl.PageRef, visit int) (bool, error)
}

// Repair checks every workflow of a crawl, and starts what is gone or stuck.
type Repair struct {
	Store    repairStore
	Flows    repairFlows
	Crawl    store.CrawlRecord
	Progress func(Repaired)

	mu   sync.Mutex
	done Repaired
}

// Repaired reports what a repair checked and did.
type Repaired struct {
	Crawl     string // the trouble of the crawl's own workflow, "" if there was none
	Pages     int    // looked at
	Of        int    // how many there are
	Missing   int    // of them had no workflow
	Stuck     int    // of them had one that was stuck
	Why       string // the last of these
	Discovers int    // stuck ones, ended
}

// Run goes through the living pages of the crawl.
func (r *Repair) Run(ctx context.Context) (Repaired, error) {
	health, err := r.Flows.CrawlHealth(ctx, r.Crawl.Spec.Name)
	if err != nil {
		return r.done, err
	}
	if r.done.Crawl = wrongWith(r.Crawl.State, health, false); r.done.Crawl != "" {
		if err := Restart(ctx, r.Flows, r.Crawl, health.Condition == temporalkit.Stuck, nil); err != nil {
			return r.done, err
		}
	}
	if err := r.discovers(ctx); err != nil {
		return r.done, err
	}
	status, err := r.Store.Status(ctx, r.Crawl.ID)
	if err != nil {
		return r.done, err
	}
	for _, state := range crawl.LivingStates() {
		r.done.Of += status.Pages[state]
	}
	filter := store.PageFilter{CrawlID: r.Crawl.ID, Limit: repairBatch, States: crawl.LivingStates()}
	for {
		pages, err := r.Store.ListPages(ctx, filter)
		if err != nil || len(pages) == 0 {
			return r.done, err
		}
		group, groupCtx := errgroup.WithContext(ctx)
		group.SetLimit(repairAtOnce)
		for _, p := range pages {
			group.Go(func() error { return r.page(groupCtx, p) })
		}
		if err := group.Wait(); err != nil {
			return r.done, err
		}
		r.Progress(r.done)
		filter.After = pages[len(pages)-1].PageID
	}
}

func (r *Repair) page(ctx context.Context, p store.PageRecord) error {
	mended, err := r.Flows.MendPage(ctx, activities.NewPageIn(p))
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done.Pages++
	switch mended.Condition {
	case temporalkit.Gone:
		r.done.Missing++
	case temporalkit.Stuck:
		r.done.Stuck++
		r.done.Why = mended.Why
	case temporalkit.Runs:
	}
	return nil
}

// discovers ends Discovers that are stuck; the next pass of maintenance restarts them.
func (r *Repair) discovers(ctx context.Context) error {
	unfinished, err := r.Store.UnfinishedLinks(ctx, r.Crawl.ID, 0, repairDiscovers)
	if err != nil {
		return err
	}
	for _, u := range unfinished {
		ended, err := r.Flows.EndStuckDiscover(ctx, u.Page, u.Visit)
		if err != nil {
			return err
		}
		if ended {
			r.done.Discovers++
		}
	}
	return nil
}
