package care

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"recrawl/activities"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

const (
	// stuckBatch bounds how many workflows are checked in one look.
	stuckBatch = 100
	// stuckFailures is at how many workflows that cannot be checked a look gives up: one may
	// have a history that cannot be read, but several mean that Temporal is away.
	stuckFailures = 5
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

	mu      sync.Mutex
	mended  map[int64]time.Time // when pages were restarted
	unnoted map[int64]stuckTally
	left    map[int64]leftPage // pages that are stuck again
}

// leftPage is a page that is stuck again, or whose worker lacks a key.
type leftPage struct {
	id      string // of its workflow
	crawlID int64
	why     string
	locked  bool // a key is missing
}

// stuckTally counts the pages of a crawl that were restarted, and of which the store does
// not know yet.
type stuckTally struct {
	mended int
	why    string // the last one's
}

// look checks the workflows that were heard of since the last time, and those that were
// left.
func (p *stuckPages) look(ctx context.Context) error {
	p.forget(time.Now().Add(-stuckAgain))
	had := p.crawlsLeft()
	failure := p.lookAtAll(ctx)
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer cancel()
	return errors.Join(failure, p.noteMended(noting), p.noteLeft(noting, had))
}

// forget drops earlier restarts.
func (p *stuckPages) forget(before time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for page, at := range p.mended {
		if at.Before(before) {
			delete(p.mended, page)
		}
	}
}

// restarted takes note of a page that was stuck and was restarted, whoever did it. The next
// look tells the store.
func (p *stuckPages) restarted(page store.PageRecord, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mended == nil {
		p.mended, p.unnoted = map[int64]time.Time{}, map[int64]stuckTally{}
	}
	p.mended[page.PageID] = time.Now()
	p.unnoted[page.CrawlID] = stuckTally{p.unnoted[page.CrawlID].mended + 1, why}
	p.log.Warn("the workflow of a page was stuck, and was started anew", "page", page.URL, "because", why)
}

// wasRestarted reports whether a page was stuck within the last hour.
func (p *stuckPages) wasRestarted(page int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, was := p.mended[page]
	return was
}

// takeUnnoted returns the restarts of which the store does not know yet, by crawl.
func (p *stuckPages) takeUnnoted() map[int64]stuckTally {
	p.mu.Lock()
	defer p.mu.Unlock()
	tallies := p.unnoted
	p.unnoted = map[int64]stuckTally{}
	return tallies
}

// putBack keeps for the next look what the store did not take.
func (p *stuckPages) putBack(crawlID int64, tally stuckTally) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unnoted[crawlID] = stuckTally{p.unnoted[crawlID].mended + tally.mended, tally.why}
}

// lookAtAll checks the workflows that were heard of, and those that were left. It
// hears again of those that it does not reach.
func (p *stuckPages) lookAtAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, careLimit)
	defer cancel()
	var failures []error
	for _, id := range p.heard(stuckBatch) {
		if err := p.lookAt(ctx, id); err != nil {
			failures = append(failures, err)
		}
		if len(failures) == stuckFailures {
			return errors.Join(failures...)
		}
	}
	for page, l := range p.left {
		health, err := p.flows.Health(ctx, l.id)
		if err != nil {
			return errors.Join(append(failures, err)...)
		}
		if health.Condition != temporalkit.Stuck && !health.WantsKey() {
			delete(p.left, page)
		}
	}
	return errors.Join(failures...)
}

// lookAt checks one workflow.
func (p *stuckPages) lookAt(ctx context.Context, id string) error {
	page, err := pageOfRun(ctx, p.store, p.flows, id, "")
	if err != nil || !page.State.Lives() {
		return err
	}
	if c, err := p.store.Crawl(ctx, page.Crawl); err != nil || c.State == crawl.CrawlStopped {
		return err
	}
	if p.wasRestarted(page.PageID) {
		health, err := p.flows.Health(ctx, id)
		if err == nil && health.Condition == temporalkit.Stuck {
			p.leave(page, leftPage{id: id, crawlID: page.CrawlID, why: health.Why})
			// The log names it, the store does not: a page may have to be forgotten.
			p.log.Warn("a page is stuck again, and is left", "page", page.URL, "because", health.Why)
		}
		return err
	}
	mended, err := p.flows.MendPage(ctx, activities.NewPageIn(page))
	if err == nil && mended.Condition == temporalkit.Runs && mended.Why != "" {
		p.leave(page, leftPage{id: id, crawlID: page.CrawlID, why: mended.Why, locked: true})
		p.log.Warn("a page waits for a worker with the key", "page", page.URL, "because", mended.Why)
	}
	if err != nil || mended.Condition != temporalkit.Stuck {
		return err
	}
	p.restarted(page, mended.Why)
	return nil
}

func (p *stuckPages) leave(page store.PageRecord, l leftPage) {
	if p.left == nil {
		p.left = map[int64]leftPage{}
	}
	p.left[page.PageID] = l
}

// crawlsLeft counts the pages that are stuck again, by crawl.
func (p *stuckPages) crawlsLeft() map[int64]int {
	counts := map[int64]int{}
	for _, l := range p.left {
		counts[l.crawlID]++
	}
	return counts
}

// noteMended records the restarts of which the store does not know yet.
func (p *stuckPages) noteMended(ctx context.Context) error {
	var failure error
	for crawlID, tally := range p.takeUnnoted() {
		if err := p.noteTally(ctx, crawlID, tally); err != nil {
			p.putBack(crawlID, tally)
			failure = errors.Join(failure, err)
		}
	}
	return failure
}

// noteTally records restarted pages, together with those of a moment ago: each is
// mended by one worker.
func (p *stuckPages) noteTally(ctx context.Context, crawlID int64, tally stuckTally) error {
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
	return p.store.NoteTroubles(ctx, crawlID, []store.Trouble{store.StuckMended(tally.mended, tally.why)})
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
	for crawlID := range has {
		if err := p.store.NoteTroubles(ctx, crawlID, []store.Trouble{p.leftTrouble(crawlID)}); err != nil {
			return err
		}
	}
	return nil
}

// leftTrouble is the trouble of a crawl's pages that are left. Those that are stuck are worse.
func (p *stuckPages) leftTrouble(crawlID int64) store.Trouble {
	stuck, locked, why, key := 0, 0, "", ""
	for _, l := range p.left {
		switch {
		case l.crawlID != crawlID:
		case l.locked:
			locked, key = locked+1, l.why
		default:
			stuck, why = stuck+1, l.why
		}
	}
	if stuck == 0 {
		return store.StuckWithoutKey(locked, key)
	}
	return store.StuckAgain(stuck, why)
}
