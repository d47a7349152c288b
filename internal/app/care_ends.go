package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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
	// endsKept is for how long ends are counted, and how far back a worker looks that has
	// just come: as long as what was mended is told.
	endsKept = store.TroubleKept
	// endsGrace is the age at which an end is looked at: what a command has ended on
	// purpose is out of the store by then, and out of Temporal's list.
	endsGrace = 5 * time.Second
	// endsLag is by how much the server's list may be late.
	endsLag = time.Minute
	// endsLimit bounds a look; the next one goes on from there.
	endsLimit = 15 * time.Second
)

// endsStore is the part of a store that pageEnds uses.
type endsStore interface {
	store.Care
	pageFinder
	Now(ctx context.Context) (time.Time, error)
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

// pageFlows is what mending a page needs.
type pageFlows interface {
	PageOf(ctx context.Context, id, run string) (contract.PageIn, error)
	MendPage(ctx context.Context, in contract.PageIn) (temporalkit.Mended, error)
}

// pageEnds finds the workflows of pages that somebody has ended, and starts them anew. It
// looks only at what has ended since its last look, so that it costs the same with a
// million pages. All it remembers can be found out again.
type pageEnds struct {
	store endsStore
	flows endsFlows
	queue string
	log   *slog.Logger

	walks map[temporalkit.End]*endsWalk
	mu    sync.Mutex
	known map[string]pageEnd // by run: those of the last hour, and what they came to
}

// endsWalk is how far the list of what has ended in a way is known. It begins with the
// last end, so that a walk has a beginning of its own.
type endsWalk struct {
	until  time.Time // what has ended before was looked at
	newest time.Time // end that the walk under way has seen
	token  []byte    // where it goes on
}

// pageEnd is a run that has ended. Ends that are of no concern are known too.
type pageEnd struct {
	crawl int64 // 0: its page does not live, or it was replaced
	end   temporalkit.End
	at    time.Time
}

// look looks at what has ended since the last time.
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
	if ctx.Err() != nil {
		failure = nil // the next look goes on
	}
	return cmp.Or(failure, p.note(context.WithoutCancel(ctx), crawls))
}

// crawls are those whose pages are to have workflows, by name.
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

// walk goes back through the list to where the last walk began. One that is cut off goes
// on from there the next time, so that a hundred thousand ends are some looks.
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

// fresh reports whether a run is to be looked at.
func (p *pageEnds) fresh(run temporalkit.EndedRun, until, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.known[run.Run]
	return !known && run.TaskQueue == p.queue && !run.At.Before(until) && run.At.Before(now.Add(-endsGrace))
}

// mend starts the pages of these runs anew that are to live and do not.
func (p *pageEnds) mend(ctx context.Context, end temporalkit.End, runs []temporalkit.EndedRun, crawls map[string]store.CrawlRecord) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(repairAtOnce)
	for _, run := range runs {
		group.Go(func() error {
			id, err := p.mendOne(groupCtx, run, crawls)
			if err != nil {
				return err
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.known == nil {
				p.known = map[string]pageEnd{}
			}
			p.known[run.Run] = pageEnd{crawl: id, end: end, at: run.At}
			return nil
		})
	}
	return group.Wait()
}

// mendOne returns the crawl whose page had its workflow ended, or 0: what the store does
// not want to live may end, and so may what was ended for another run of the page.
func (p *pageEnds) mendOne(ctx context.Context, run temporalkit.EndedRun, crawls map[string]store.CrawlRecord) (crawlID int64, err error) {
	page, err := pageOfRun(ctx, p.store, p.flows, run.ID, run.Run)
	if err != nil || !page.State.Lives() {
		return 0, err
	}
	c, ok := crawls[page.Crawl]
	if !ok || c.ID != page.CrawlID {
		return 0, nil
	}
	mended, err := p.flows.MendPage(ctx, activities.NewPageIn(page))
	if err != nil {
		return 0, err
	}
	if mended.Condition == temporalkit.Runs {
		if replaced, err := p.flows.Replaced(ctx, run.ID, run.Run); err != nil || replaced {
			return 0, err
		}
	}
	return c.ID, nil
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

// forget drops what ended before.
func (p *pageEnds) forget(before time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for run, e := range p.known {
		if e.at.Before(before) {
			delete(p.known, run)
		}
	}
}

// note notes the ends of the last hour of each crawl that has news. All workers come to
// the same, so that none need know what another has noted.
func (p *pageEnds) note(ctx context.Context, crawls map[string]store.CrawlRecord) error {
	for _, c := range crawls {
		ends, newest := p.of(c.ID)
		if len(ends) == 0 {
			continue
		}
		now, err := p.store.Now(ctx)
		if err != nil {
			return err
		}
		care, err := p.store.Care(ctx, c.ID)
		if err != nil {
			return err
		}
		trouble := store.Trouble{Part: store.TroubleEnded, Problem: endsWords(ends), Mended: true}
		for _, n := range ends {
			trouble.Pages += n
		}
		at := slices.IndexFunc(care.Troubles, func(t store.TroubleRecord) bool { return t.Part == store.TroubleEnded })
		if at < 0 && now.Sub(newest) > endsKept || at >= 0 && !newest.After(care.Troubles[at].MendedAt) && trouble.Pages <= care.Troubles[at].Pages {
			continue
		}
		if err := p.store.NoteTroubles(ctx, c.ID, []store.Trouble{trouble}); err != nil {
			return err
		}
		p.log.Warn("workflows of pages were ended, and run again", "crawl", c.Spec.Name, "ends", trouble.Problem)
	}
	return nil
}

// of counts the ends of a crawl's pages, and returns when the last was.
func (p *pageEnds) of(crawlID int64) (ends map[temporalkit.End]int, newest time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ends = map[temporalkit.End]int{}
	for _, e := range p.known {
		if e.crawl == crawlID {
			ends[e.end]++
			newest = later(newest, e.at)
		}
	}
	return ends, newest
}

func endsWords(ends map[temporalkit.End]int) string {
	words := map[temporalkit.End]string{temporalkit.EndTerminated: "terminated", temporalkit.EndFailed: "failed", temporalkit.EndTimedOut: "timed out"}
	var parts []string
	for _, end := range temporalkit.Ends() {
		if n := ends[end]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words[end]))
		}
	}
	return "workflows that ended in the last hour: " + strings.Join(parts, ", ") + "; all run again"
}
