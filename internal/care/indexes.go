package care

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/search"
	"recrawl/internal/store"
)

// Indexes keeps the search index in step with the crawls' sinks: it wakes the sink of a
// crawl that the index lacks, as when the file was deleted, and drops crawls that no longer
// exist, or no longer have such a sink.
type Indexes struct {
	Store indexStore
	Flows sinkFlows
	// Open opens the index.
	Open func(ctx context.Context, write bool) (search.Index, error)
	Log  *slog.Logger

	saidSo bool // whether the index is of an older release
}

type indexStore interface {
	ID() string
	ListCrawls(ctx context.Context) ([]store.CrawlRecord, error)
	ListSinks(ctx context.Context, crawlID int64) ([]store.SinkRecord, error)
}

// look implements looker.
func (c *Indexes) look(ctx context.Context) error { return c.Look(ctx) }

// Look compares the index with the crawls' sinks, once.
func (c *Indexes) Look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, careLimit)
	defer cancel()
	crawls, err := c.Store.ListCrawls(ctx)
	if err != nil {
		return err
	}
	held, empty, err := c.held(ctx)
	if err != nil {
		return err
	}
	var failures []error
	for _, rec := range crawls {
		name, _, searched := rec.Spec.SearchSink()
		at := slices.Index(held, rec.ID)
		if !searched || rec.Deleting {
			continue
		}
		if at >= 0 {
			held = slices.Delete(held, at, at+1)
		}
		if (at < 0 || slices.Contains(empty, rec.ID)) && rec.State != crawl.CrawlStopped {
			failures = append(failures, c.wake(ctx, rec, name))
		}
	}
	if len(held) > 0 {
		failures = append(failures, c.drop(ctx, held))
	}
	return errors.Join(failures...)
}

// held are the crawls with something in the index, and of these those that must be filled
// first: filling has not begun, or a rebuild was cut off.
func (c *Indexes) held(ctx context.Context) (crawls, empty []int64, err error) {
	x, err := c.Open(ctx, false)
	if errors.Is(err, search.ErrOlder) && !c.saidSo {
		c.Log.Info("the search index is one of an older release: it is made anew, and filled again from the archive")
		c.saidSo = true
	}
	if errors.Is(err, search.ErrNone) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	crawls, err = x.Crawls(ctx)
	for _, id := range crawls {
		if cursor, failed := x.Cursor(ctx, id); failed != nil {
			err = errors.Join(err, failed)
		} else if cursor == "" {
			empty = append(empty, id)
		}
	}
	return crawls, empty, errors.Join(err, x.Close())
}

// wake wakes a sink that waits for changes, to fill its index first.
func (c *Indexes) wake(ctx context.Context, rec store.CrawlRecord, name string) error {
	known, err := c.Store.ListSinks(ctx, rec.ID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(known, func(k store.SinkRecord) bool { return k.Name == name })
	if i < 0 || !waitsForChanges(known[i]) {
		return nil
	}
	in := contract.SinkIn{Store: c.Store.ID(), CrawlID: rec.ID, Crawl: rec.Spec.Name, Sink: name}
	return c.Flows.StartSink(ctx, in, contract.SinkWakeArg{})
}

// drop removes some crawls from the index.
func (c *Indexes) drop(ctx context.Context, crawls []int64) error {
	x, err := c.Open(ctx, true)
	if err != nil {
		return err
	}
	for _, id := range crawls {
		if err = x.Drop(ctx, id); err != nil {
			break
		}
		c.Log.Info("the search index of a crawl is dropped: no sink keeps it any more", "crawl number", id)
	}
	return errors.Join(err, x.Close())
}
