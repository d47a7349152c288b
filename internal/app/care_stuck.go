package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"recrawl/activities"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

const (
	// stuckBatch bounds how many workflows are checked in one look.
	stuckBatch = 100
	// stuckAgain is the time within which a page is not restarted a second time: a page
	// that is stuck again has another fault, and is left to people, and to maintenance.
	stuckAgain = time.Hour
	// stuckSum is how long mended pages are reported as one trouble.
	stuckSum = 5 * time.Minute
)

// stuckStore is the part of a store that stuckPages uses.
type stuckStore interface {
	store.Care
	pageFinder
	Now(ctx context.Context) (time.Time, error)
	Crawl(ctx context.Context, name string) (store.CrawlRecord, error)
}

// stuckFlows is the part of Temporal that stuckPages uses.
type stuckFlows interface {
	pageFlows
	Health(ctx context.Context, id string) (temporalkit.Health, error)
}

// stuckPages restarts pages whose workflow's task fails again and again.
type stuckPages struct {
	store stuckStore
	flows stuckFlows
	// heard returns the ids of workflows that may be stuck, at most limit.
	heard func(limit int) []string
	log   *slog.Logger

	mended map[int64]time.Time // when pages were restarted
	left   map[int64]leftPage  // pages that are stuck again
}

// leftPage is a page that is stuck again.
type leftPage struct {
	id      string // of its workflow
	crawlID int64
	why     string
}

// stuckTally is the result of a look for a crawl.
type stuckTally struct {
	mended int
	why    string // the last one's
}

// look checks the workflows that were heard of since the last time, and those that were
// left.
func (p *stuckPages) look(ctx context.Context) error {
	if p.mended == nil {
		p.mended, p.left = map[int64]time.Time{}, map[int64]leftPage{}
	}
	for page, at := range p.mended {
		if time.Since(at) > stuckAgain {
			delete(p.mended, page)
		}
	}
	had := p.crawlsLeft()
	tallies := map[int64]*stuckTally{}
	failure := p.lookAtAll(ctx, tallies)
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer cancel()
	for id, tally := range tallies {
		failure = errors.Join(failure, p.noteMended(noting, id, *tally))
	}
	return errors.Join(failure, p.noteLeft(noting, had))
}

// lookAtAll checks the workflows that were heard of, and those that were left. It
// hears again of those that it does not reach.
func (p *stuckPages) lookAtAll(ctx context.Context, tallies map[int64]*stuckTally) error {
	ctx, cancel := context.WithTimeout(ctx, careLimit)
	defer cancel()
	for _, id := range p.heard(stuckBatch) {
		if err := p.lookAt(ctx, id, tallies); err != nil {
			return err
		}
	}
	for page, l := range p.left {
		health, err := p.flows.Health(ctx, l.id)
		if err != nil {
			return err
		}
		if health.Condition != temporalkit.Stuck {
			delete(p.left, page)
		}
	}
	return nil
}

// lookAt checks one workflow.
func (p *stuckPages) lookAt(ctx context.Context, id string, tallies map[int64]*stuckTally) error {
	page, err := pageOfRun(ctx, p.store, p.flows, id, "")
	if err != nil || !page.State.Lives() {
		return err
	}
	if c, err := p.store.Crawl(ctx, page.Crawl); err != nil || c.State == crawl.CrawlStopped {
		return err
	}
	if _, again := p.mended[page.PageID]; again {
		health, err := p.flows.Health(ctx, id)
		if err == nil && health.Condition == temporalkit.Stuck {
			p.left[page.PageID] = leftPage{id: id, crawlID: page.CrawlID, why: health.Why}
			// The log names it, the store does not: a page may have to be forgotten.
			p.log.Warn("a page is stuck again, and is left", "page", page.URL, "because", health.Why)
		}
		return err
	}
	mended, err := p.flows.MendPage(ctx, activities.NewPageIn(page))
	if err != nil || mended.Condition != temporalkit.Stuck {
		return err
	}
	p.mended[page.PageID] = time.Now()
	tally := tallies[page.CrawlID]
	if tally == nil {
		tally = &stuckTally{}
		tallies[page.CrawlID] = tally
	}
	tally.mended, tally.why = tally.mended+1, mended.Why
	p.log.Warn("the workflow of a page was stuck, and was started anew", "page", page.URL, "because", mended.Why)
	return nil
}

// crawlsLeft counts the pages that are stuck again, by crawl.
func (p *stuckPages) crawlsLeft() map[int64]int {
	counts := map[int64]int{}
	for _, l := range p.left {
		counts[l.crawlID]++
	}
	return counts
}

// noteMended records restarted pages, together with those of a moment ago: each is
// mended by one worker.
func (p *stuckPages) noteMended(ctx context.Context, crawlID int64, tally stuckTally) error {
	now, err := p.store.Now(ctx)
	if err != nil {
		return err
	}
	known, err := p.store.Care(ctx, crawlID)
	if err != nil {
		return err
	}
	for _, t := range known.Troubles {
		if t.Part == store.TroubleStuck && t.Mended && now.Sub(t.MendedAt) < stuckSum {
			tally.mended += t.Pages
		}
	}
	return p.store.NoteTroubles(ctx, crawlID, []store.Trouble{{
		Part: store.TroubleStuck, Pages: tally.mended, Mended: true,
		Problem: fmt.Sprintf("%s stuck (%s) and started anew", were(tally.mended), tally.why),
	}})
}

// noteLeft records the pages that are stuck again, and that there are none any more
// where there were.
func (p *stuckPages) noteLeft(ctx context.Context, had map[int64]int) error {
	has := p.crawlsLeft()
	for crawlID := range had {
		if has[crawlID] > 0 {
			continue
		}
		if err := p.store.NoteTroubles(ctx, crawlID, []store.Trouble{{Part: store.TroubleStuck}}); err != nil {
			return err
		}
	}
	told := map[int64]bool{}
	for _, l := range p.left {
		if told[l.crawlID] {
			continue
		}
		told[l.crawlID] = true
		trouble := store.Trouble{
			Part: store.TroubleStuck, Pages: has[l.crawlID],
			Problem: fmt.Sprintf("%s started anew and stuck again (%s); the log of a worker names each", were(has[l.crawlID]), l.why),
		}
		if err := p.store.NoteTroubles(ctx, l.crawlID, []store.Trouble{trouble}); err != nil {
			return err
		}
	}
	return nil
}

func were(n int) string {
	if n == 1 {
		return "1 was"
	}
	return fmt.Sprintf("%d were", n)
}
