package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

const (
	// careEvery is how often somebody looks after a crawl, however many workers there
	// are; each of them asks that often, and twice as often at most.
	careEvery = 20 * time.Second
	// careBatch bounds how many crawls a worker takes at a time.
	careBatch = 50
	// careLimit bounds the care for one crawl.
	careLimit = 15 * time.Second
)

// careStore is the part of a store that crawlCare uses.
type careStore interface {
	store.Care
	ListPages(ctx context.Context, f store.PageFilter) ([]store.PageRecord, error)
}

// careFlows is the part of Temporal that crawlCare uses.
type careFlows interface {
	CrawlHealth(ctx context.Context, name string) (temporalkit.Health, error)
	RestartCrawl(ctx context.Context, spec json.RawMessage, progress contract.CrawlProgress, replace bool) error
}

// crawlCare sees that every crawl of the store has its workflow, for as long as a worker
// runs. Temporal's own means (a Schedule) can be deleted or lost as the workflow was.
type crawlCare struct {
	store careStore
	flows careFlows
	log   *slog.Logger
}

// start looks after crawls until stop is called.
func (c *crawlCare) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.run(ctx)
	}()
	return func() { cancel(); <-done }
}

func (c *crawlCare) run(ctx context.Context) {
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

// look takes the crawls that nobody has looked after for a while.
func (c *crawlCare) look(ctx context.Context) {
	for ctx.Err() == nil {
		crawls, err := c.store.ClaimCare(ctx, careEvery, careBatch)
		if err != nil {
			c.log.Debug("crawls could not be looked after", "error", err)
			return
		}
		for _, rec := range crawls {
			if err := c.care(ctx, rec); err != nil && ctx.Err() == nil {
				c.log.Warn("a crawl could not be looked after", "crawl", rec.Spec.Name, "error", err)
			}
		}
		if len(crawls) < careBatch {
			return
		}
	}
}

// care looks at the workflow of a crawl, and starts it if it must be.
func (c *crawlCare) care(ctx context.Context, rec store.CrawlRecord) error {
	ctx, cancel := context.WithTimeout(ctx, careLimit)
	defer cancel()
	health, err := c.flows.CrawlHealth(ctx, rec.Spec.Name)
	if err != nil {
		return c.note(ctx, rec, store.Trouble{Problem: "Temporal does not say how it is: " + err.Error()})
	}
	unclosed := false
	if rec.State == crawl.CrawlStopped && health.Condition == temporalkit.Gone {
		if unclosed, err = c.unclosed(ctx, rec); err != nil {
			return err
		}
	}
	what := wrongWith(rec.State, health, unclosed)
	if what == "" && health.Why != "" {
		return c.note(ctx, rec, store.Trouble{Problem: "it waits for a worker with the key: " + health.Why})
	}
	if what == "" {
		return c.note(ctx, rec, store.Trouble{})
	}
	if err := restartCrawl(ctx, c.flows, rec, health.Condition == temporalkit.Stuck, nil); err != nil {
		return c.note(ctx, rec, store.Trouble{Problem: fmt.Sprintf("it %s and cannot be started anew: %v", what, err)})
	}
	c.log.Warn("the workflow of a crawl was started anew", "crawl", rec.Spec.Name, "reason", "it "+what)
	return c.note(ctx, rec, store.Trouble{Problem: "it " + what + " and was started anew", Mended: true})
}

// wrongWith says what is wrong with the workflow of a crawl in this state, or "".
// A stopped crawl needs one only to close its pages, once.
func wrongWith(state crawl.CrawlState, h temporalkit.Health, unclosed bool) string {
	switch {
	case h.Condition == temporalkit.Stuck:
		return "was stuck (" + h.Why + ")"
	case h.Condition == temporalkit.Runs:
		return ""
	case state != crawl.CrawlStopped && h.Ended == "":
		return "was gone"
	case state != crawl.CrawlStopped:
		return "was " + h.Ended
	case unclosed && h.Ended != "completed" && h.Ended != "canceled":
		return "was gone before it had closed the pages"
	}
	return ""
}

// unclosed reports whether pages of a stopped crawl live.
func (c *crawlCare) unclosed(ctx context.Context, rec store.CrawlRecord) (bool, error) {
	pages, err := c.store.ListPages(ctx, store.PageFilter{CrawlID: rec.ID, Limit: 1, States: crawl.LivingStates()})
	return len(pages) > 0, err
}

// note notes what is wrong with the workflow. What is well is only noted if it was not
// before: nothing is written while all is well.
func (c *crawlCare) note(ctx context.Context, rec store.CrawlRecord, t store.Trouble) error {
	t.Part = store.TroubleWorkflow
	if t.Problem == "" {
		known, err := c.store.Care(ctx, rec.ID)
		if err != nil {
			return err
		}
		lasts := false
		for _, k := range known.Troubles {
			lasts = lasts || k.Part == t.Part && !k.Mended
		}
		if !lasts {
			return nil
		}
	}
	return c.store.NoteTroubles(ctx, rec.ID, []store.Trouble{t})
}

// restartCrawl starts the workflow of a crawl from its row. Its first turn starts every
// page that has no workflow. more changes what it begins with.
func restartCrawl(ctx context.Context, flows careFlows, rec store.CrawlRecord, replace bool, more func(*contract.CrawlProgress)) error {
	spec, err := json.Marshal(rec.Spec)
	if err != nil {
		return fmt.Errorf("encode spec: %w", err)
	}
	progress := contract.CrawlProgress{
		CrawlID: rec.ID, Name: rec.Spec.Name, State: rec.State, Generation: rec.Generation,
		Every: max(rec.Spec.MaintainEvery.Std(), time.Second), Repair: true, Admit: true,
		// What came due while nobody was there to wake it is woken.
		Waking: rec.State == crawl.CrawlRunning,
	}
	if more != nil {
		more(&progress)
	}
	return flows.RestartCrawl(ctx, spec, progress, replace)
}
