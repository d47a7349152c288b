package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/cli"
	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/export/source"
	"recrawl/internal/report"
	"recrawl/internal/search"
	"recrawl/internal/search/fts"
	"recrawl/internal/search/tsvector"
	"recrawl/internal/sink"
	sinksearch "recrawl/internal/sink/search"
	"recrawl/internal/store"
)

// searchIndex is the search index of a store. It is opened for each use, so that it
// does not hold on to a file that was deleted, or restored from a backup.
type searchIndex struct {
	dsn   string // the store's
	store string // its identity
}

var _ report.SearchIndex = searchIndex{}

// open opens the index, for questions only or to be filled.
func (x searchIndex) open(ctx context.Context, use storeUse) (search.Index, error) {
	path, ok := strings.CutPrefix(x.dsn, "sqlite:")
	if !ok {
		return opened(tsvector.Open(ctx, x.dsn, tsvector.Options{Store: x.store, ReadOnly: use == storeRead}))
	}
	return opened(fts.Open(ctx, filepath.Join(filepath.Dir(path), fts.Name), fts.Options{Store: x.store, ReadOnly: use == storeRead}))
}

// openFor opens the index for packages that do not know storeUse.
func (x searchIndex) openFor(ctx context.Context, write bool) (search.Index, error) {
	if write {
		return x.open(ctx, storeWrite)
	}
	return x.open(ctx, storeRead)
}

// opened keeps a nil index from becoming a non-nil interface.
func opened[I search.Index](i I, err error) (search.Index, error) {
	if err != nil {
		return nil, err
	}
	return i, nil
}

// Query implements report.SearchIndex.
func (x searchIndex) Query(ctx context.Context, q search.Query) (r search.Result, err error) {
	err = x.with(ctx, storeRead, func(i search.Index) error {
		r, err = i.Query(ctx, q)
		return err
	})
	return r, err
}

// Cursor implements report.SearchIndex.
func (x searchIndex) Cursor(ctx context.Context, crawl int64) (cursor string, err error) {
	err = x.with(ctx, storeRead, func(i search.Index) error {
		cursor, err = i.Cursor(ctx, crawl)
		return err
	})
	return cursor, err
}

// forget removes the documents of a takedown. Purge also overwrites them.
func (x searchIndex) forget(ctx context.Context, t search.Target, purge bool) error {
	err := x.change(ctx, func(i search.Index) error {
		if _, err := i.Forget(ctx, t); err != nil || !purge {
			return err
		}
		return i.Purge(ctx)
	})
	if err != nil {
		return fmt.Errorf("the search index still has it; the same command goes on: %w", err)
	}
	return nil
}

// drop removes a crawl that no longer exists from the index.
func (x searchIndex) drop(ctx context.Context, crawl int64) error {
	return x.change(ctx, func(i search.Index) error { return i.Drop(ctx, crawl) })
}

// change changes an index, if there is one. An index of an older release is started
// again, which also removes the data to be dropped.
func (x searchIndex) change(ctx context.Context, do func(search.Index) error) error {
	err := x.with(ctx, storeRead, func(search.Index) error { return nil })
	switch {
	case errors.Is(err, search.ErrOlder):
	case errors.Is(err, search.ErrNone):
		return nil
	case err != nil:
		return err
	}
	return x.with(ctx, storeWrite, do)
}

func (x searchIndex) with(ctx context.Context, use storeUse, do func(search.Index) error) error {
	i, err := x.open(ctx, use)
	if err != nil {
		return err
	}
	return errors.Join(do(i), i.Close())
}

// searchSender makes the senders of sinks of kind search.
func searchSender(p parts, selects func(name string, spec crawl.SinkSpec) func(url string) bool) makeSender {
	return func(ctx context.Context, crawlName, name string, spec crawl.SinkSpec) (sink.Sender, error) {
		record, err := p.store.Crawl(ctx, crawlName)
		if err != nil {
			return nil, err
		}
		s, err := indexer(ctx, p.store, p.files, record, searchIndex{p.dsn, p.store.ID()}, selects(name, spec))
		return made(s, sinksearch.Judge(err))
	}
}

// indexer fills the index of a crawl.
func indexer(
	ctx context.Context, s store.Store, files archive.Store, record store.CrawlRecord, x searchIndex, selects func(url string) bool,
) (*sinksearch.Sender, error) {
	src, err := source.New(s, files, record)
	if err != nil {
		return nil, err
	}
	index, err := x.open(ctx, storeWrite)
	if err != nil {
		return nil, err
	}
	return sinksearch.New(index, sinksearch.Collection{
		Crawl: record.ID, Source: src, Rendering: config.Release + " " + src.Rules(), Now: time.Now, Selects: selects,
	}), nil
}

// RebuildIndex implements cli.Backend.
func (Backend) RebuildIndex(ctx context.Context, at cli.Target, name string, progress func(pages int)) (pages int, err error) {
	err = withContents(ctx, at, storeRead, func(s store.Store, files archive.Store) error {
		record, err := s.Crawl(ctx, name)
		if err != nil {
			return err
		}
		sinkName, spec, ok := record.Spec.SearchSink()
		if !ok {
			return report.NotSearchable(name)
		}
		filler, err := indexer(ctx, s, files, record, searchIndex{at.Store, s.ID()}, selectedBy(sinkName, spec))
		if err != nil {
			return err
		}
		err = filler.Rebuild(ctx, func(n int) { pages = n; progress(n) })
		return errors.Join(err, filler.Close())
	})
	return pages, err
}
