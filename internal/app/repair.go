package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"recrawl/activities"
	"recrawl/internal/cli"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
	"recrawl/workflows"
)

const (
	repairBatch = 500 // pages read at a time
	// repairAtOnce is how many workflows are checked at a time.
	repairAtOnce = 16
	// repairDiscovers bounds how many Discovers are checked; maintenance handles the rest.
	repairDiscovers = 1000
)

// repairFlows is the part of Temporal that a repair uses.
type repairFlows interface {
	careFlows
	MendPage(ctx context.Context, in contract.PageIn) (temporalkit.Mended, error)
	EndStuckDiscover(ctx context.Context, page crawl.PageRef, visit int) (bool, error)
}

// Repair implements cli.Backend.
func (Backend) Repair(ctx context.Context, at cli.Target, name string, progress func(cli.Repaired)) (done cli.Repaired, err error) {
	s, err := openStore(ctx, at.Store, storeRead, "")
	if err != nil {
		return done, fmt.Errorf("cannot open the store: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	rec, err := s.Crawl(ctx, name)
	if err != nil {
		return done, err
	}
	if rec.State == crawl.CrawlStopped {
		return done, fmt.Errorf("crawl %s is stopped: `starter crawl %s` starts it again", name, name)
	}
	c, err := dialTemporal(ctx, at.Temporal)
	if err != nil {
		return done, err
	}
	defer c.Close()
	home, err := s.Home(ctx)
	if err != nil {
		return done, err
	}
	r := &repair{store: s, flows: temporalkit.Workflows{Client: c, TaskQueue: cmp.Or(at.Temporal.TaskQueue, home.TaskQueue), Store: s.ID(), Code: workflows.Register}, rec: rec, progress: progress}
	return r.run(ctx)
}

// repair checks every workflow of a crawl.
type repair struct {
	store    store.Store
	flows    repairFlows
	rec      store.CrawlRecord
	progress func(cli.Repaired)

	mu   sync.Mutex
	done cli.Repaired
}

func (r *repair) run(ctx context.Context) (cli.Repaired, error) {
	health, err := r.flows.CrawlHealth(ctx, r.rec.Spec.Name)
	if err != nil {
		return r.done, err
	}
	if r.done.Crawl = wrongWith(r.rec.State, health, false); r.done.Crawl != "" {
		if err := restartCrawl(ctx, r.flows, r.rec, health.Condition == temporalkit.Stuck, nil); err != nil {
			return r.done, err
		}
	}
	if err := r.discovers(ctx); err != nil {
		return r.done, err
	}
	status, err := r.store.Status(ctx, r.rec.ID)
	if err != nil {
		return r.done, err
	}
	for _, state := range crawl.LivingStates() {
		r.done.Of += status.Pages[state]
	}
	filter := store.PageFilter{CrawlID: r.rec.ID, Limit: repairBatch, States: crawl.LivingStates()}
	for {
		pages, err := r.store.ListPages(ctx, filter)
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
		r.progress(r.done)
		filter.After = pages[len(pages)-1].PageID
	}
}

func (r *repair) page(ctx context.Context, p store.PageRecord) error {
	mended, err := r.flows.MendPage(ctx, activities.NewPageIn(p))
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
func (r *repair) discovers(ctx context.Context) error {
	unfinished, err := r.store.UnfinishedLinks(ctx, r.rec.ID, 0, repairDiscovers)
	if err != nil {
		return err
	}
	for _, u := range unfinished {
		ended, err := r.flows.EndStuckDiscover(ctx, u.Page, u.Visit)
		if err != nil {
			return err
		}
		if ended {
			r.done.Discovers++
		}
	}
	return nil
}
