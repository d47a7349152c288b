// Package search is the sink that keeps a search index of a crawl: whatever happened, and
// however often it was cut off, the index comes to what it would be if it were filled anew.
//
// An event only says which page to look at. The sender reads what the page is now, and makes
// the index right for it, so that it does not matter whether events come twice, late, or
// without what came before them.
package search

import (
	"context"
	"errors"
	"slices"
	"time"

	"recrawl/internal/extract"
	"recrawl/internal/feed"
	index "recrawl/internal/search"
	"recrawl/internal/sink"
	"recrawl/internal/store"
)

// Source is the crawl whose pages are indexed; package export/source has it.
type Source interface {
	// Record returns a page; false if it is no part of the collection that stands.
	Record(ctx context.Context, page int64) (store.PageRecord, bool, error)
	// Records returns what Record does of the pages after one, in ascending order. It looks
	// at up to limit pages, those with ids up to through.
	Records(ctx context.Context, after int64, limit int) (found []store.PageRecord, through int64, more bool, err error)
	// Read reads the version that a page has now.
	ReadPage(ctx context.Context, p store.PageRecord) (extract.Markdown, error)
}

// Collection is what the index is of.
type Collection struct {
	Crawl  int64 // its number in the store
	Source Source
	// Rendering names how texts are made of bodies: with another, all pages are read anew.
	// The program's version and the spec's content rules are part of it.
	Rendering string
	// Now is the store's clock or this machine's.
	Now func() time.Time
	// Selects chooses pages by their URL; nil takes all.
	Selects func(url string) bool
}

// CodeForeign is the stop of an index that cannot be written to: a person must look.
const CodeForeign = "search_foreign"

// Sender implements sink.Sender and sink.Filler. It holds nothing between calls but the
// opened index.
type Sender struct {
	index index.Index
	Collection
}

var (
	_ sink.Filler  = (*Sender)(nil)
	_ sink.Checker = (*Sender)(nil)
)

// New makes the sender of an index, which it closes in the end.
func New(x index.Index, c Collection) *Sender {
	if c.Selects == nil {
		c.Selects = func(string) bool { return true }
	}
	return &Sender{index: x, Collection: c}
}

// Send implements sink.Sender.
func (s *Sender) Send(ctx context.Context, e feed.Event) error {
	return s.send(ctx, []feed.Event{e}, false)
}

// SendDigest implements sink.Sender. If there were more pages than the digest has room for,
// all pages are looked at.
func (s *Sender) SendDigest(ctx context.Context, d sink.Digest) error {
	return s.send(ctx, d.Events, d.Left > 0)
}

func (s *Sender) send(ctx context.Context, events []feed.Event, all bool) error {
	if all || slices.ContainsFunc(events, concernsAll) {
		return Judge(s.startOver(ctx))
	}
	for _, e := range events {
		if e.Page == nil {
			continue
		}
		if err := s.refresh(ctx, e.Page.ID); err != nil {
			return Judge(err)
		}
	}
	return nil
}

// concernsAll: the event stands for changes of pages that have none of their own.
func concernsAll(e feed.Event) bool { return e.Kind == feed.FeedGap || e.Kind == feed.CrawlSpec }

// Fill implements sink.Filler. Called when nothing happens, it still looks at all pages once
// a day.
func (s *Sender) Fill(ctx context.Context) (more bool, err error) {
	more, err = s.fill(ctx)
	return more, Judge(err)
}

// Rebuild drops what the index has of the crawl and fills it anew. Progress is told how many
// pages it has.
func (s *Sender) Rebuild(ctx context.Context, progress func(pages int)) error {
	if err := s.index.Drop(ctx, s.Crawl); err != nil {
		return err
	}
	for more := true; more; {
		var err error
		if more, err = s.fill(ctx); err != nil {
			return err
		}
		p, err := s.progress(ctx)
		if err != nil {
			return err
		}
		progress(p.Pages)
	}
	return nil
}

// Check implements sink.Checker: the index can be written to.
func (s *Sender) Check(ctx context.Context) error {
	return Judge(s.index.Together(ctx, s.Crawl, func(index.Index) error { return nil }))
}

// Close implements sink.Sender.
func (s *Sender) Close() error { return s.index.Close() }

// Judge says what an error of an index means to its sink: another process that writes comes
// to its end, and what is not ours stays as it is.
func Judge(err error) error {
	switch {
	case errors.Is(err, index.ErrBusy):
		return &sink.Later{Reason: err.Error()}
	case errors.Is(err, index.ErrForeign):
		return &sink.Stop{Code: CodeForeign, Reason: err.Error()}
	}
	return err
}
