package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/archive/gc"
	"recrawl/internal/cli"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

const (
	// takedownBatch is how many pages are forgotten at a time, and shownTogether how
	// many pages' workflows end between two reports of progress.
	takedownBatch = 500
	shownTogether = 100
	// contentBatch is how many contents a takedown claims at a time: those of one that
	// is killed wait for the end of its claim.
	contentBatch = 100
	// claimsPatience is how long a takedown waits for others' claims to be made use of.
	claimsPatience = 10 * time.Second
	claimsPause    = 200 * time.Millisecond
)

// takedown is one `starter forget`.
type takedown struct {
	at       cli.Target
	target   store.Target
	progress func(cli.ForgetProgress)
	rewrite  bool

	store  store.Store
	files  archive.Store
	eraser *temporalkit.Eraser
	pages  int // that there were to forget
	done   cli.Forgotten
}

// Forget implements cli.Backend. Workflows end first, so that they do not wonder;
// then the rows go, then the bytes, and last what all these have left on disk.
// Whatever it is cut off at, running it again goes on.
func (Backend) Forget(ctx context.Context, at cli.Target, what cli.Takedown, o cli.ForgetOptions) (done cli.Forgotten, err error) {
	s, err := openStore(ctx, at.Store, storeWrite, "")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	t := takedown{at: at, target: store.Target{URL: what.URL, Host: what.Host}, progress: o.Progress, rewrite: rewrites(at.Store), store: s}
	if o.Rewrite != nil {
		t.rewrite = *o.Rewrite
	}
	if t.pages, err = t.count(ctx); err != nil || o.Dry {
		return cli.Forgotten{Pages: t.pages}, err
	}
	if at.Archive == "" {
		return done, errors.New("name the archive with --archive: the pages' bytes are to be removed too")
	}
	if t.files, err = openArchive(ctx, at.Archive, storeWrite); err != nil {
		return done, err
	}
	c, err := dialTemporal(ctx, at.Temporal)
	if err != nil {
		return done, fmt.Errorf("the pages' workflows are to be removed too: %w", err)
	}
	defer c.Close()
	t.eraser = &temporalkit.Eraser{Client: c, Namespace: temporalkit.Namespace(temporalkit.Options{Namespace: at.Temporal.Namespace})}
	return t.run(ctx)
}

// count counts the pages that are to be forgotten.
func (t *takedown) count(ctx context.Context) (int, error) {
	params := store.ForgetParams{Target: t.target, Limit: takedownBatch, Dry: true}
	n := 0
	for {
		found, err := t.store.Forget(ctx, params)
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

func (t *takedown) run(ctx context.Context) (cli.Forgotten, error) {
	for {
		t.show("forgetting pages")
		next, err := t.store.Forget(ctx, store.ForgetParams{Target: t.target, Limit: takedownBatch, Dry: true})
		if err != nil {
			return t.done, err
		}
		if err := t.endWorkflows(ctx, next.Pages, true); err != nil {
			return t.done, err
		}
		gone, err := t.store.Forget(ctx, store.ForgetParams{Target: t.target, Limit: takedownBatch})
		if err != nil {
			return t.done, err
		}
		// Those that were started meanwhile, and of pages that came in between.
		if err := t.endWorkflows(ctx, gone.Pages, false); err != nil {
			return t.done, err
		}
		t.done.Pages += len(gone.Pages)
		if !gone.More {
			break
		}
	}
	if err := t.deleteContents(ctx); err != nil {
		return t.done, err
	}
	if err := t.erase(ctx); err != nil {
		return t.done, fmt.Errorf("%d pages are forgotten, but not all that is left of them on disk is: %w; the same command goes on with it", t.done.Pages, err)
	}
	return t.done, nil
}

// endWorkflows shows each part of a batch as it is done, if it is the batch's first
// time.
func (t *takedown) endWorkflows(ctx context.Context, pages []crawl.PageRef, first bool) error {
	done := 0
	for part := range slices.Chunk(pages, shownTogether) {
		n, err := t.eraser.Pages(ctx, part)
		t.done.Workflows += n
		if err != nil {
			return err
		}
		if done += len(part); first {
			t.progress(cli.ForgetProgress{Doing: "ending workflows", Pages: t.done.Pages + done, Of: t.pages})
		}
	}
	return nil
}

// show reports what is done now.
func (t *takedown) show(doing string) {
	t.progress(cli.ForgetProgress{Doing: doing, Pages: t.done.Pages, Of: t.pages})
}

// deleteContents deletes the bytes that no version has any more. Of those that
// somebody else has claimed, maintenance as a rule, it waits a little for the end.
func (t *takedown) deleteContents(ctx context.Context) error {
	t.show("deleting contents")
	for deadline := time.Now().Add(claimsPatience); ; {
		n, err := gc.Sweep(ctx, t.store, t.files, contentBatch)
		t.done.Contents += n
		if err != nil {
			return err
		}
		if n > 0 {
			continue
		}
		claimed, err := t.store.Waiting(ctx)
		if err != nil || claimed == 0 {
			return err
		}
		if time.Now().After(deadline) {
			t.leave("%d contents are claimed by another command or worker, which deletes them; if it was killed, maintenance does within %s", claimed, crawl.FormatDuration(2*store.ClaimFor))
			return nil
		}
		select {
		case <-time.After(claimsPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Remember implements cli.Backend.
func (Backend) Remember(ctx context.Context, at cli.Target, what cli.Takedown) error {
	s, err := openStore(ctx, at.Store, storeWrite, "")
	if err != nil {
		return err
	}
	err = s.Remember(ctx, store.Target{URL: what.URL, Host: what.Host})
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%s was not forgotten: %w", what, store.ErrNotFound)
	}
	return errors.Join(err, s.Close())
}
