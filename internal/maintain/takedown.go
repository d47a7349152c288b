package maintain

import (
	"context"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

const (
	// takedownBatch is how many pages are forgotten at a time, and shownTogether how
	// many pages' workflows end between two reports of progress.
	takedownBatch = 500
	shownTogether = 100
	// mentionsBatch is how many page ids are looked through for mentions at a time.
	mentionsBatch = 10_000
	// claimsPatience is how long a takedown waits for others to use their claims.
	claimsPatience = 10 * time.Second
	claimsPause    = 200 * time.Millisecond
)

// TakedownStore is the part of a store that a takedown uses.
type TakedownStore interface {
	Forget(ctx context.Context, p store.ForgetParams) (store.ForgetResult, error)
	ForgetMentions(ctx context.Context, t store.Target, after int64, limit int, before func(context.Context, []crawl.PageRef) error) (next int64, more bool, err error)
	Erase(ctx context.Context, p store.EraseParams) error
	ListCrawls(ctx context.Context) ([]store.CrawlRecord, error)
	Waiting(ctx context.Context) (int, error)
}

// PageWorkflows removes the workflows of pages.
type PageWorkflows interface {
	// Pages ends the workflows of pages, removes their histories and those of the
	// workflows that found the pages, and returns how many there were.
	Pages(ctx context.Context, pages []crawl.PageRef) (int, error)
	// Naming removes the ended histories of pages that name the forgotten URLs, and returns
	// the ids of running workflows that name them.
	Naming(ctx context.Context, pages []crawl.PageRef) (running []string, err error)
	// Finish does the same with the histories of crawls and their sinks.
	Finish(ctx context.Context, crawls []string) (running []string, err error)
	// Retention is how long the history of an ended workflow is kept.
	Retention(ctx context.Context) (time.Duration, error)
}

// Takedown removes the pages of a target, with all traces of them.
type Takedown struct {
	Target    store.Target
	Store     TakedownStore
	Workflows PageWorkflows
	// Sweep deletes some of the contents that no version has any more, and returns how
	// many; see gc.Sweep.
	Sweep func(context.Context) (int, error)
	// EraseServer removes the traces of deleted workflows from the files of their
	// server; nil if these are out of reach.
	EraseServer func(context.Context) error
	// OneFile: the store is a single file. Rewrite rewrites its tables.
	OneFile, Rewrite bool
	// Of is the number of pages to forget, for Progress, which is called as it goes on.
	Of       int
	Progress func(TakedownProgress)
}

// TakedownProgress is the progress of a takedown, or of the deletion of a crawl.
type TakedownProgress struct {
	Doing     string // in words
	Pages, Of int
}

// Removed counts the items that a takedown, or the deletion of a crawl, removed.
type Removed struct {
	Pages, Contents, Workflows int
	// Left says what remains, where and for how long, a sentence each.
	Left []string
}

func (r *Removed) leave(format string, args ...any) {
	r.Left = append(r.Left, fmt.Sprintf(format, args...))
}

// CountTarget counts the pages that would be forgotten.
func CountTarget(ctx context.Context, s TakedownStore, target store.Target) (int, error) {
	params := store.ForgetParams{Target: target, Limit: takedownBatch, Dry: true}
	n := 0
	for {
		found, err := s.Forget(ctx, params)
		if err != nil {
			return n, err
		}
		n += len(found.Pages)
		if !found.More || len(found.Pages) == 0 {
			return n, nil
		}
		params.After = found.Pages[len(found.Pages)-1].PageID
	}
}

// Run forgets the pages. Workflows end first, so that they do not see their pages
// vanish; then the rows are removed, then the mentions in other rows, each after the
// histories of its page, then the bytes, and last the traces of all these
// on disk. Wherever it is cut off, running it again goes on. Even then it returns the
// counts of what it has removed.
func (t Takedown) Run(ctx context.Context) (done Removed, err error) {
	for more := true; more; {
		if more, err = t.forget(ctx, &done); err != nil {
			return done, err
		}
	}
	running, err := t.forgetMentions(ctx, done.Pages)
	if err != nil {
		return done, err
	}
	if err := deleteContents(ctx, t.Store.Waiting, t.Sweep, &done, func(doing string) { t.show(doing, done.Pages) }); err != nil {
		return done, err
	}
	leaveUnderWay(&done)
	if err := t.eraseTraces(ctx, running, &done); err != nil {
		return done, fmt.Errorf("%d pages are forgotten, but not all that is left of them on disk is: %w; the same command goes on with it", done.Pages, err)
	}
	return done, nil
}

// show reports the present step.
func (t Takedown) show(doing string, pages int) {
	t.Progress(TakedownProgress{Doing: doing, Pages: pages, Of: t.Of})
}

// forget forgets a batch of pages, and reports whether there are more.
func (t Takedown) forget(ctx context.Context, done *Removed) (more bool, err error) {
	t.show("forgetting pages", done.Pages)
	next, err := t.Store.Forget(ctx, store.ForgetParams{Target: t.Target, Limit: takedownBatch, Dry: true})
	if err != nil {
		return false, err
	}
	if err := t.endWorkflows(ctx, next.Pages, true, done); err != nil {
		return false, err
	}
	gone, err := t.Store.Forget(ctx, store.ForgetParams{Target: t.Target, Limit: takedownBatch})
	if err != nil {
		return false, err
	}
	// Workflows that were started meanwhile, and those of pages that came in between.
	if err := t.endWorkflows(ctx, gone.Pages, false, done); err != nil {
		return false, err
	}
	done.Pages += len(gone.Pages)
	return gone.More, nil
}

// leaveUnderWay tells of bodies that come in later. A request discards what it has brought when
// it ends and its page is gone; only one whose worker is killed before that does not.
func leaveUnderWay(done *Removed) {
	if done.Workflows > 0 {
		done.leave("a request that is still under way discards its body when it ends, and maintenance deletes it; only if its worker is killed before that, run starter archive gc in a day, which deletes what is older than that and belongs to no version")
	}
}

// stillNaming are workflows that run and name the target, all of one kind: any number of them.
type stillNaming struct {
	workflows int
	such      string // one of them
}

// forgetMentions removes what the records of other pages say about the forgotten ones. The
// histories of these pages go first, since only the records tell which pages they are.
func (t Takedown) forgetMentions(ctx context.Context, pages int) (running stillNaming, err error) {
	before := func(ctx context.Context, some []crawl.PageRef) error {
		t.show("removing histories that name them", pages)
		ids, err := t.Workflows.Naming(ctx, some)
		if len(ids) > 0 {
			running = stillNaming{running.workflows + len(ids), ids[0]}
		}
		return err
	}
	after := int64(0)
	for more := true; more; {
		t.show("looking for mentions", pages)
		if after, more, err = t.Store.ForgetMentions(ctx, t.Target, after, mentionsBatch, before); err != nil {
			return running, err
		}
	}
	return running, nil
}

// endWorkflows reports each part of a batch as it is done, if it is the batch's
// first time.
func (t Takedown) endWorkflows(ctx context.Context, pages []crawl.PageRef, first bool, done *Removed) error {
	ended := 0
	for part := range slices.Chunk(pages, shownTogether) {
		n, err := t.Workflows.Pages(ctx, part)
		done.Workflows += n
		if err != nil {
			return err
		}
		if ended += len(part); first {
			t.show("ending workflows", done.Pages+ended)
		}
	}
	return nil
}

// deleteContents deletes the bytes that no version has any more. If somebody else,
// usually maintenance, has claimed some, it waits a little for that claim to end.
func deleteContents(ctx context.Context, waiting, sweep func(context.Context) (int, error), done *Removed, show func(doing string)) error {
	show("deleting contents") // the first of them may take long
	for deadline := time.Now().Add(claimsPatience); ; {
		n, err := sweep(ctx)
		done.Contents += n
		if err != nil {
			return err
		}
		if n > 0 {
			show(fmt.Sprintf("deleting contents (%d)", done.Contents))
			continue
		}
		claimed, err := waiting(ctx)
		if err != nil || claimed == 0 {
			return err
		}
		if time.Now().After(deadline) {
			done.leave("%d contents are claimed by another command or worker, which deletes them; if it was killed, maintenance does within %s", claimed, crawl.FormatDuration(2*store.ClaimFor))
			return nil
		}
		select {
		case <-time.After(claimsPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
