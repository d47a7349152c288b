package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"recrawl/internal/cli"
	"recrawl/internal/crawl"
	"recrawl/internal/seeds"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// yieldedPart is the part of its time that an import leaves an embedded store to
// others: processes that wait for SQLite's one writer check for it only now and then.
const yieldedPart = 4

// Import implements cli.Backend. The seeds go straight to the store, beside other
// processes that work with it.
func (Backend) Import(ctx context.Context, at cli.Target, name string, o cli.ImportOptions) (done store.Import, err error) {
	s, err := openStore(ctx, at.Store, storeWrite, "")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	rec, err := s.Crawl(ctx, name)
	if err != nil {
		return done, err
	}
	i := seeds.Importer{
		Store: s, CrawlID: rec.ID, Source: o.Source, Refused: o.Refused, Progress: o.Progress,
		Judge: seeds.Judge{Rules: urlkey.NewRules(rec.Spec.URLs), Contact: o.Contact != "" || hasContact(rec.Spec)},
	}
	if isEmbedded(at.Store) {
		i.Yield = yielding()
	}
	return i.Run(ctx, o.List)
}

// hasContact reports whether a crawl names who makes its requests. One that crawls
// beyond this machine could not have been opened without it: its workers provide
// it.
func hasContact(spec crawl.Spec) bool {
	return spec.Identity.Contact != "" || slices.ContainsFunc(spec.Seeds, func(seed string) bool {
		u, err := urlkey.Canonical(seed)
		return err == nil && !u.IsLoopback()
	})
}

// yielding returns a pause between two batches: a part of the time that the last one
// took.
func yielding() func(context.Context) error {
	last := time.Now()
	return func(ctx context.Context) error {
		select {
		case <-time.After(time.Since(last) / (yieldedPart - 1)):
		case <-ctx.Done():
			return ctx.Err()
		}
		last = time.Now()
		return nil
	}
}
