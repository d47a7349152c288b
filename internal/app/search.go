package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"recrawl/internal/report"
	"recrawl/internal/search"
	"recrawl/internal/search/fts"
)

// searchIndex is the search index of a store. It is opened for each use, so that a file
// that was deleted, or put back from a backup, is no longer held on to.
type searchIndex struct {
	dsn   string // the store's
	store string // its identity
}

var _ report.SearchIndex = searchIndex{}

// open opens the index, for questions only or to be filled.
func (x searchIndex) open(ctx context.Context, use storeUse) (search.Index, error) {
	path, ok := strings.CutPrefix(x.dsn, "sqlite:")
	if !ok {
		return nil, fmt.Errorf("on Postgres: %w", search.ErrNone)
	}
	return fts.Open(ctx, filepath.Join(filepath.Dir(path), fts.Name), fts.Options{Store: x.store, ReadOnly: use == storeRead})
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

func (x searchIndex) with(ctx context.Context, use storeUse, do func(search.Index) error) error {
	i, err := x.open(ctx, use)
	if err != nil {
		return err
	}
	return errors.Join(do(i), i.Close())
}
