package app

import (
	"context"
	"errors"
	"fmt"

	"recrawl/internal/archive"
	"recrawl/internal/cli"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
	"recrawl/internal/upkeep"
)

// SetBlocked implements cli.Backend.
func (Backend) SetBlocked(ctx context.Context, at cli.Target, host string, blocked bool) (string, error) {
	s, err := openStore(ctx, at.Store, storeWrite, "")
	if err != nil {
		return "", err
	}
	effects, err := s.SetBlocked(ctx, host, blocked)
	if err = errors.Join(err, s.Close()); err != nil {
		return "", fmt.Errorf("host %s: %w", host, err)
	}
	if blocked {
		return fmt.Sprintf("blocked %s: no request to it begins, in any crawl, until it is unblocked", host), nil
	}
	return fmt.Sprintf("unblocked %s", host), turn(ctx, at, effects)
}

// turn signals pages whose turn has come. Where Temporal cannot be reached
// maintenance does it, so that is no failure.
func turn(ctx context.Context, at cli.Target, effects store.GateEffects) error {
	if len(effects.Turns) == 0 {
		return nil
	}
	c, err := temporalkit.Dial(ctx, temporalkit.Options{Address: at.Temporal.Address, Namespace: at.Temporal.Namespace})
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	defer c.Close()
	flows := temporalkit.Workflows{Client: c}
	for _, t := range effects.Turns {
		if err := flows.Turn(ctx, t.Page, t.In); err != nil && !errors.Is(err, temporalkit.ErrNoWorkflow) {
			return err
		}
	}
	return nil
}

// takedownBatch is how many pages are forgotten at a time.
const takedownBatch = 500

// takedown is one `starter forget`.
type takedown struct {
	store     store.Store
	files     archive.Store
	flows     temporalkit.Workflows
	namespace string
	done      cli.Forgotten
}

// Forget implements cli.Backend. Workflows end first, so that they do not wonder;
// then the rows go, and the bytes last. Whatever it is cut off at, running it
// again goes on.
func (Backend) Forget(ctx context.Context, at cli.Target, what cli.Takedown, dry bool) (done cli.Forgotten, err error) {
	s, err := openStore(ctx, at.Store, storeWrite, "")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	t := takedown{store: s}
	target := store.Target{URL: what.URL, Host: what.Host}
	if dry {
		return t.count(ctx, target)
	}
	if at.Archive == "" {
		return done, errors.New("name the archive with --archive: the pages' bytes are to be removed too")
	}
	if t.files, err = openArchive(ctx, at.Archive, storeWrite); err != nil {
		return done, err
	}
	options := temporalkit.Options{Address: at.Temporal.Address, Namespace: at.Temporal.Namespace}
	c, err := temporalkit.Dial(ctx, options)
	if err != nil {
		return done, fmt.Errorf("the pages' workflows are to be removed too: %w", err)
	}
	defer c.Close()
	t.flows, t.namespace = temporalkit.Workflows{Client: c}, temporalkit.Namespace(options)
	return t.run(ctx, target)
}

func (t *takedown) count(ctx context.Context, target store.Target) (cli.Forgotten, error) {
	params := store.ForgetParams{Target: target, Limit: takedownBatch, Dry: true}
	for {
		found, err := t.store.Forget(ctx, params)
		if err != nil {
			return t.done, err
		}
		t.done.Pages += len(found.Pages)
		if !found.More || len(found.Pages) == 0 {
			return t.done, nil
		}
		params.After = found.Pages[len(found.Pages)-1].PageID
	}
}

func (t *takedown) run(ctx context.Context, target store.Target) (cli.Forgotten, error) {
	for {
		next, err := t.store.Forget(ctx, store.ForgetParams{Target: target, Limit: takedownBatch, Dry: true})
		if err != nil {
			return t.done, err
		}
		if err := t.endWorkflows(ctx, next.Pages); err != nil {
			return t.done, err
		}
		gone, err := t.store.Forget(ctx, store.ForgetParams{Target: target, Limit: takedownBatch})
		if err != nil {
			return t.done, err
		}
		// Pages that came in between.
		if err := t.endWorkflows(ctx, gone.Pages); err != nil {
			return t.done, err
		}
		t.done.Pages += len(gone.Pages)
		if !gone.More {
			break
		}
	}
	return t.done, t.deleteContents(ctx)
}

func (t *takedown) endWorkflows(ctx context.Context, pages []crawl.PageRef) error {
	for _, page := range pages {
		n, err := t.flows.DeletePage(ctx, t.namespace, page)
		t.done.Workflows += n
		if err != nil {
			return err
		}
	}
	return nil
}

// deleteContents deletes the bytes that no version has any more.
func (t *takedown) deleteContents(ctx context.Context) error {
	for {
		n, err := upkeep.Sweep(ctx, t.store, t.files, takedownBatch)
		t.done.Contents += n
		if err != nil || n == 0 {
			return err
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
