package care

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
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
	// endsKept is how long ends are counted, and how far back a new worker looks: as long
	// as mended troubles are reported.
	endsKept = store.TroubleKept
	// endsGrace is the age at which an end is checked: by then, pages that a command
	// has ended on purpose are out of the store and out of Temporal's list.
	endsGrace = 5 * time.Second
	// endsLag is how late the server's list may be.
	endsLag = time.Minute
	// endsLimit bounds a look; the next one goes on from there.
	endsLimit = 15 * time.Second
	// endsAgain is how many times a page may have ended in that hour to be restarted at
	// once. A page that ends again and again is left to maintenance: it has another fault.
	endsAgain = 5
)

// endsStore is the part of a store that pageEnds uses.
type endsStore interface {
	store.Care
	pageFinder
	ListCrawls(ctx context.Context) ([]store.CrawlRecord, error)
}

// pageFinder finds the page of a workflow.
type pageFinder interface {
	FindPages(ctx context.Context, url, crawlName string) ([]store.PageRecord, error)
	Page(ctx context.Context, pageID int64) (store.PageRecord, error)
}

// endsFlows is the part of Temporal that pageEnds uses.
type endsFlows interface {
	EndedPages(ctx context.Context, end temporalkit.End, token []byte) (temporalkit.EndedRuns, error)
	Replaced(ctx context.Context, id, run string) (bool, error)
	pageFlows
}

// pageFlows is the part of Temporal that mending a page uses.
type pageFlows interface {
	PageOf(ctx context.Context, id, run string) (contract.PageIn, error)
	MendPage(ctx context.Context, in contract.PageIn) (temporalkit.Mended, error)
}

// pageEnds finds the workflows of pages that somebody has ended, and restarts them. It
// reads only the ends since its last look, so that it costs the same with a million
// pages. Everything that it remembers can be found out again.
type pageEnds struct {
	store endsStore
	flows endsFlows
	queue string
	// stuck takes note of pages whose latest run was not ended, but stuck.
	stuck interface {
		restarted(page store.PageRecord, why string)
	}
	log *slog.Logger

	walks map[temporalkit.End]*endsWalk
	mu    sync.Mutex
	known map[string]pageEnd // by run: those of the last hour, with their results
	times map[string]endings // of these, by workflow
	last  map[int64]bool     // crawls about which something was recorded that lasts
}

// endsWalk is how far the list of runs that have ended in a way is known. It begins
// with the last end, so each walk has a fresh beginning.
type endsWalk struct {
	until  time.Time // earlier ends have been checked
	newest time.Time // end that the walk under way has seen
	token  []byte    // where it goes on
}

// pageEnd is a run that has ended. Irrelevant ends are remembered too.
type pageEnd struct {
	id    string // of the workflow
	crawl int64  // 0: its page does not live, or it was replaced
	end   temporalkit.End
	at    time.Time
	left  bool // it was not restarted
}

// endings are those of one workflow.
type endings struct {
	n    int
	last time.Time
}

// look reads the ends since the last time.
func (p *pageEnds) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, endsLimit)
	defer cancel()
	now := time.Now()
	crawls, err := p.crawls(ctx)
	if err != nil {
		return err
	}
	p.forget(now.Add(-endsKept - endsLag))
	var failures []error
	for _, end := range temporalkit.Ends() {
		failures = append(failures, p.walk(ctx, end, crawls, now))
	}
	failure := errors.Join(failures...)
	more := failure != nil
	if ctx.Err() != nil {
		failure = nil // the next look goes on
	}
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer cancel()
	return cmp.Or(failure, p.note(noting, crawls, more))
}

// crawls are those whose pages should have workflows, by name.
func (p *pageEnds) crawls(ctx context.Context) (map[string]store.CrawlRecord, error) {
	all, err := p.store.ListCrawls(ctx)
	if err != nil {
		return nil, err
	}
	living := map[string]store.CrawlRecord{}
	for _, c := range all {
		if c.State != crawl.CrawlStopped && !c.Deleting {
			living[c.Spec.Name] = c
		}
	}
	return living, nil
}

// walk goes back through the list to where the last walk began. If it is cut off, it
// goes on from there the next time, so that a hundred thousand ends take several looks.
func (p *pageEnds) walk(ctx context.Context, end temporalkit.End, crawls map[string]store.CrawlRecord, now time.Time) error {
	w := p.walks[end]
	if w == nil {
		w = &endsWalk{until: now.Add(-endsKept)}
		if p.walks == nil {
			p.walks = map[temporalkit.End]*endsWalk{}
		}
		p.walks[end] = w
	}
	for {
		part, err := p.flows.EndedPages(ctx, end, w.token)
		if err != nil {
			if ctx.Err() == nil {
				w.token = nil // it may be the token
			}
			return err
		}
		var fresh []temporalkit.EndedRun
		for _, run := range part.Pages {
			if p.fresh(run, w.until, now) {
				fresh = append(fresh, run)
			}
			w.newest = later(w.newest, run.At)
		}
		if err := p.mend(ctx, end, fresh, crawls); err != nil {
			return err
		}
		if w.token = part.Next; len(part.Next) == 0 || part.Oldest.Before(w.until) {
			*w = endsWalk{until: later(w.until, w.newest.Add(-endsLag))}
			return nil
		}
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// fresh reports whether a run should be checked.
func (p *pageEnds) fresh(run temporalkit.EndedRun, until, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.known[run.Run]
	return !known && run.TaskQueue == p.queue && !run.At.Before(until) && run.At.Before(now.Add(-endsGrace))
}

// mend restarts the pages of these runs that should live and do not.
func (p *pageEnds) mend(ctx context.Context, end temporalkit.End, runs []temporalkit.EndedRun, crawls map[string]store.CrawlRecord) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(repairAtOnce)
	for _, run := range runs {
		group.Go(func() error {
			e := pageEnd{id: run.ID, end: end, at: run.At}
			if err := p.mendOne(groupCtx, run, crawls, &e); err != nil {
				return err
			}
			p.remember(run.Run, e)
			return nil
		})
	}
	return group.Wait()
}

// mendOne fills in the crawl of a page whose workflow was ended, if the page should live:
// a page that the store does not want alive may end, and so may a run that was ended for
// another.
func (p *pageEnds) mendOne(ctx context.Context, run temporalkit.EndedRun, crawls map[string]store.CrawlRecord, e *pageEnd) error {
	page, err := pageOfRun(ctx, p.store, p.flows, run.ID, run.Run)
	if errors.Is(err, temporalkit.ErrUnreadable) {
		// Maintenance finds the page, if it should live. The other ends must not wait for this one.
		p.log.Debug("it cannot be told which page a workflow that was ended is of", "workflow", run.ID, "error", err)
		return nil
	}
	if err != nil || !page.State.Lives() {
		return err
	}
	c, ok := crawls[page.Crawl]
	if !ok || c.ID != page.CrawlID {
		return nil
	}
	if e.left = p.endsAgain(run); e.left {
		e.crawl = c.ID
		return nil
	}
	mended, err := p.flows.MendPage(ctx, activities.NewPageIn(page))
	if err != nil {
		return err
	}
	if mended.Condition == temporalkit.Stuck {
		p.stuck.restarted(page, mended.Why)
	}
	if mended.Condition == temporalkit.Runs {
		if replaced, err := p.flows.Replaced(ctx, run.ID, run.Run); err != nil || replaced {
			return err
		}
	}
	e.crawl = c.ID
	return nil
}

func (p *pageEnds) remember(run string, e pageEnd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known, p.times = map[string]pageEnd{}, map[string]endings{}
	}
	p.known[run] = e
	was := p.times[e.id]
	p.times[e.id] = endings{was.n + 1, later(was.last, e.at)}
}

// endsAgain reports whether a run is the last one of a workflow that has ended too often to
// be restarted at once.
func (p *pageEnds) endsAgain(run temporalkit.EndedRun) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.times[run.ID]
	return was.n >= endsAgain && run.At.After(was.last)
}

// pageOfRun returns the page of a run of a workflow; the zero page if the store has none.
// run may be "" for the last.
func pageOfRun(ctx context.Context, s pageFinder, flows pageFlows, id, run string) (store.PageRecord, error) {
	name, url, truncated, ok := contract.ParsePageID(id)
	if !ok {
		return store.PageRecord{}, nil
	}
	if !truncated {
		pages, err := s.FindPages(ctx, url, name)
		if err != nil || len(pages) == 0 {
			return store.PageRecord{}, err
		}
		return pages[0], nil
	}
	in, err := flows.PageOf(ctx, id, run)
	if err != nil {
		return store.PageRecord{}, err
	}
	page, err := s.Page(ctx, in.Page.PageID)
	if errors.Is(err, store.ErrNotFound) || err == nil && contract.PageID(page.Crawl, page.URL) != id {
		return store.PageRecord{}, nil
	}
	return page, err
}

// forget drops earlier ends.
func (p *pageEnds) forget(before time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for run, e := range p.known {
		if !e.at.Before(before) {
			continue
		}
		delete(p.known, run)
		was := p.times[e.id]
		if was.n--; was.n > 0 {
			p.times[e.id] = was
		} else {
			delete(p.times, e.id)
		}
	}
}

// endsTally counts the ends of a crawl's pages in the last hour.
type endsTally struct {
	ends   map[temporalkit.End]int
	pages  int
	left   map[string]bool // workflows that were not restarted
	newest time.Time
}

// tally counts the ends, by crawl.
func (p *pageEnds) tally() map[int64]*endsTally {
	p.mu.Lock()
	defer p.mu.Unlock()
	tallies := map[int64]*endsTally{}
	for _, e := range p.known {
		if e.crawl == 0 {
			continue
		}
		t := tallies[e.crawl]
		if t == nil {
			t = &endsTally{ends: map[temporalkit.End]int{}, left: map[string]bool{}}
			tallies[e.crawl] = t
		}
		t.ends[e.end]++
		t.pages++
		if e.left {
			t.left[e.id] = true
		}
		t.newest = later(t.newest, e.at)
	}
	return tallies
}

// note records the ends of the last hour of each crawl that has news. All workers reach
// the same result, so none need know what another has recorded.
func (p *pageEnds) note(ctx context.Context, crawls map[string]store.CrawlRecord, more bool) error {
	tallies := p.tally()
	for _, c := range crawls {
		t := tallies[c.ID]
		if t == nil && !p.last[c.ID] {
			continue
		}
		if err := p.noteCrawl(ctx, c, t, more); err != nil {
			return err
		}
		if p.last == nil {
			p.last = map[int64]bool{}
		}
		p.last[c.ID] = t != nil && (more || len(t.left) > 0)
	}
	return nil
}

func (p *pageEnds) noteCrawl(ctx context.Context, c store.CrawlRecord, t *endsTally, more bool) error {
	if t == nil {
		return p.store.NoteTroubles(ctx, c.ID, []store.Trouble{{Part: store.TroubleEnded}})
	}
	care, err := p.store.Care(ctx, c.ID)
	if err != nil {
		return err
	}
	trouble := store.Trouble{Part: store.TroubleEnded, Problem: t.words(more), Pages: t.pages, Mended: len(t.left) == 0 && !more}
	for _, k := range care.Troubles {
		if k.Part == trouble.Part && k.Mended && !t.newest.After(k.MendedAt) && trouble.Pages <= k.Pages {
			return nil // it is no news
		}
	}
	p.log.Warn("workflows of pages were ended", "crawl", c.Spec.Name, "pages", trouble.Problem)
	return p.store.NoteTroubles(ctx, c.ID, []store.Trouble{trouble})
}

// words describes the ends; more means that not all of them are known yet.
func (t *endsTally) words(more bool) string {
	words := map[temporalkit.End]string{temporalkit.EndTerminated: "terminated", temporalkit.EndFailed: "failed", temporalkit.EndTimedOut: "timed out"}
	var parts []string
	for _, end := range temporalkit.Ends() {
		if n := t.ends[end]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words[end]))
		}
	}
	now := "all run again"
	if more {
		now = "these run again, and others are being looked for"
	}
	if n := len(t.left); n > 0 {
		now = fmt.Sprintf("%d of these ended %d times and more, and maintenance starts them anew", n, endsAgain)
	}
	return "workflows that ended in the last hour: " + strings.Join(parts, ", ") + "; " + now
}
