package care

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/search"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

const (
	// careEvery is how often a crawl is looked after, however many workers there are;
	// each of them asks that often, and twice as often at most.
	careEvery = 20 * time.Second
	// careBatch bounds how many crawls a worker takes at a time.
	careBatch = 50
	// careLimit bounds the care for one crawl, and noteLimit a note about it.
	careLimit = 15 * time.Second
	noteLimit = 5 * time.Second
)

// crawlStore is the part of a store that Care uses itself.
type crawlStore interface {
	store.Care
	ListCrawls(ctx context.Context) ([]store.CrawlRecord, error)
	ListPages(ctx context.Context, f store.PageFilter) ([]store.PageRecord, error)
}

// CrawlFlows is the part of Temporal that knows the workflows of crawls.
type CrawlFlows interface {
	CrawlHealth(ctx context.Context, name string) (temporalkit.Health, error)
	RestartCrawl(ctx context.Context, spec json.RawMessage, progress contract.CrawlProgress, replace bool) error
}

// Care makes sure that every crawl of the store has its workflow, for as long as a
// worker runs. Temporal's own means (a Schedule) can be deleted or lost just as the
// workflow was.
type Care struct {
	store crawlStore
	flows CrawlFlows
	log   *slog.Logger

	// Further checks, unless nil. One worker of all runs ends and backlog in turn; each worker
	// runs stuck, for the workflows that it has heard of itself, and leftovers, since there may be
	// no crawl at all.
	ends      looker
	backlog   looker
	stuck     looker
	leftovers looker
	sinks     *sinkWatch
	indexes   looker
	strangers interface {
		look(ctx context.Context) (words string, err error)
	}
	strange string // who is connected, in words
}

// looker looks after something.
type looker interface {
	look(ctx context.Context) error
}

// Store is the part of a store that its care uses; each check declares its own.
type Store interface {
	crawlStore
	endsStore
	stuckStore
	sinkWatchStore
	store.Backlogs
	store.Workers
}

// Parts are the parts of a worker that its care uses.
type Parts struct {
	Store Store
	Flows temporalkit.Workflows // of the store
	// Struggling, unless nil, collects workflows whose tasks fail again and again.
	Struggling *temporalkit.Struggling
	// OpenIndex opens the search index.
	OpenIndex func(ctx context.Context, write bool) (search.Index, error)
	// Sweep deletes some of the bytes that no version has, and returns how many.
	Sweep func(context.Context) (int, error)
	Log   *slog.Logger
}

// New returns the care of a worker with these parts.
func New(p Parts) *Care {
	care := &Care{store: p.Store, flows: p.Flows, log: p.Log}
	stuck := &stuckPages{store: p.Store, flows: p.Flows, heard: func(int) []string { return nil }, log: p.Log}
	if p.Struggling != nil {
		stuck.heard = p.Struggling.Take
	}
	care.stuck = stuck
	care.ends = &pageEnds{store: p.Store, flows: p.Flows, queue: p.Flows.TaskQueue, stuck: stuck, log: p.Log}
	care.backlog = &backlogWatch{store: p.Store, ask: func(ctx context.Context) (temporalkit.Backlog, error) {
		return temporalkit.BacklogOf(ctx, p.Flows.Client, p.Flows.Namespace, p.Flows.TaskQueue)
	}}
	care.sinks = &sinkWatch{store: p.Store, flows: p.Flows}
	care.indexes = &Indexes{Store: p.Store, Flows: p.Flows, Open: p.OpenIndex, Log: p.Log}
	care.leftovers = &leftovers{store: p.Store, sweep: p.Sweep, now: time.Now}
	care.strangers = &strangers{store: p.Store, own: p.Store.ID(), polls: func(ctx context.Context) (polling, held []temporalkit.Poller, err error) {
		return temporalkit.WhoPolls(ctx, p.Flows.Client, p.Flows.TaskQueue)
	}, crawls: func(ctx context.Context) ([]temporalkit.OpenCrawl, error) {
		open, err := temporalkit.OpenCrawls(ctx, p.Flows.Client, p.Flows.Namespace)
		return slices.DeleteFunc(open, func(c temporalkit.OpenCrawl) bool { return c.TaskQueue != p.Flows.TaskQueue }), err
	}}
	return care
}

// Start looks after crawls until stop is called.
func (c *Care) Start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.run(ctx)
	}()
	return func() { cancel(); <-done }
}

func (c *Care) run(ctx context.Context) {
	for {
		c.look(ctx)
		// Spread, so that workers that started together do not ask together.
		pause := time.NewTimer(careEvery/2 + rand.N(careEvery/2))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
	}
}

// look takes the crawls that nobody has looked after for a while. The worker that
// gets the oldest crawl also checks the ends of all pages, and the task queue: of all
// workers, that is one.
func (c *Care) look(ctx context.Context) {
	if c.strangers != nil {
		if words, err := c.strangers.look(ctx); err != nil {
			c.log.Debug("it cannot be told who else is connected", "error", err)
		} else {
			c.strange = words
		}
	}
	if c.stuck != nil {
		c.also(ctx, c.stuck, "workflows that are stuck")
	}
	if c.leftovers != nil {
		c.also(ctx, c.leftovers, "bytes that no crawl needs")
	}
	oldest := int64(0)
	for ctx.Err() == nil {
		crawls, err := c.store.ClaimCare(ctx, careEvery, careBatch)
		if err != nil {
			c.log.Debug("crawls could not be looked after", "error", err)
			return
		}
		for _, rec := range crawls {
			oldest = cmp.Or(oldest, rec.ID) // they come in this order
			if err := c.care(ctx, rec); err != nil && ctx.Err() == nil {
				c.log.Warn("a crawl could not be looked after", "crawl", rec.Spec.Name, "error", err)
			}
			c.wakeSinks(ctx, rec)
		}
		if len(crawls) < careBatch {
			break
		}
	}
	if oldest == 0 {
		return
	}
	known, err := c.store.ListCrawls(ctx)
	if err != nil || oldest != oldestOf(known) {
		return
	}
	if c.backlog != nil {
		c.also(ctx, c.backlog, "the task queue's backlog")
	}
	if c.indexes != nil {
		c.also(ctx, c.indexes, "search indexes")
	}
	if c.ends != nil {
		c.also(ctx, c.ends, "workflows that were ended")
	}
}

// wakeSinks wakes the sinks of a crawl for which there are changes.
func (c *Care) wakeSinks(ctx context.Context, rec store.CrawlRecord) {
	if c.sinks == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, careLimit)
	defer cancel()
	if err := c.sinks.look(ctx, rec); err != nil && ctx.Err() == nil {
		c.log.Warn("sinks could not be told of changes", "crawl", rec.Spec.Name, "error", err)
	}
}

// also looks after something else.
func (c *Care) also(ctx context.Context, what looker, name string) {
	if err := what.look(ctx); err != nil && ctx.Err() == nil {
		c.log.Warn("not all could be looked after", "of", name, "error", err)
	}
}

// oldestOf is the first crawl that anybody looks after.
func oldestOf(crawls []store.CrawlRecord) int64 {
	oldest := int64(0)
	for _, c := range crawls {
		if !c.Deleting && (oldest == 0 || c.ID < oldest) {
			oldest = c.ID
		}
	}
	return oldest
}

// care checks the workflow of a crawl, starts it if necessary, and notes what was wrong. The
// note has time of its own: a Temporal that does not answer takes up all of the care's.
func (c *Care) care(ctx context.Context, rec store.CrawlRecord) error {
	trouble, err := c.mend(ctx, rec)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, noteLimit)
	defer cancel()
	return c.note(ctx, rec, trouble)
}

// mend checks the workflow of a crawl, starts it if necessary, and returns what was wrong.
func (c *Care) mend(ctx context.Context, rec store.CrawlRecord) (store.Trouble, error) {
	ctx, cancel := context.WithTimeout(ctx, careLimit)
	defer cancel()
	health, err := c.flows.CrawlHealth(ctx, rec.Spec.Name)
	if err != nil {
		return store.Trouble{Problem: "Temporal does not say how it is: " + err.Error()}, nil
	}
	unclosed := false
	if rec.State == crawl.CrawlStopped && health.Condition == temporalkit.Gone {
		if unclosed, err = c.unclosed(ctx, rec); err != nil {
			return store.Trouble{}, err
		}
	}
	what := wrongWith(rec.State, health, unclosed)
	if what == "" && health.Why != "" {
		return store.Trouble{Problem: "it waits for a worker with the key: " + health.Why}, nil
	}
	if what == "" {
		return store.Trouble{}, nil
	}
	if err := Restart(ctx, c.flows, rec, health.Condition == temporalkit.Stuck, nil); err != nil {
		return store.Trouble{Problem: fmt.Sprintf("it %s and cannot be started anew: %v", what, err)}, nil
	}
	c.log.Warn("the workflow of a crawl was started anew", "crawl", rec.Spec.Name, "reason", "it "+what)
	return store.Trouble{Problem: "it " + what + " and was started anew", Mended: true}, nil
}

// unclosed reports whether pages of a stopped crawl live.
func (c *Care) unclosed(ctx context.Context, rec store.CrawlRecord) (bool, error) {
	pages, err := c.store.ListPages(ctx, store.PageFilter{CrawlID: rec.ID, Limit: 1, States: crawl.LivingStates()})
	return len(pages) > 0, err
}

// note records what is wrong with the workflow, and who else is connected. Unchanged facts
// are not recorded again: nothing is written while all is well.
func (c *Care) note(ctx context.Context, rec store.CrawlRecord, t store.Trouble) error {
	t.Part = store.TroubleWorkflow
	others := store.Trouble{Part: store.TroubleWorkers, Problem: c.strange}
	if rec.State == crawl.CrawlStopped {
		others.Problem = ""
	}
	known, err := c.store.Care(ctx, rec.ID)
	if err != nil {
		return err
	}
	lasting := map[string]string{}
	for _, k := range known.Troubles {
		if !k.Mended {
			lasting[k.Part] = k.Problem
		}
	}
	var news []store.Trouble
	if t.Problem != "" || lasting[t.Part] != "" {
		news = append(news, t)
	}
	if others.Problem != lasting[others.Part] {
		news = append(news, others)
	}
	if len(news) == 0 {
		return nil
	}
	return c.store.NoteTroubles(ctx, rec.ID, news)
}
