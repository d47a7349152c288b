// Package search is the sink that keeps a search index of a crawl: whatever happened, and
// however often it was cut off, the index ends up as if it were filled anew.
//
// An event only says which page to look at. The sender reads the page's present state, and
// brings the index up to date with it. So it does not matter whether events come twice,
// late, or without earlier ones.
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
	// Record returns a page; false if it does not stand.
	Record(ctx context.Context, page int64) (store.PageRecord, bool, error)
	// Records does what Record does, for the pages after one, in ascending order. It looks
	// at up to limit pages, those with ids up to through.
	Records(ctx context.Context, after int64, limit int) (found []store.PageRecord, through int64, more bool, err error)
	// ReadPage reads a page's present version.
	ReadPage(ctx context.Context, p store.PageRecord) (extract.Markdown, error)
}

// Collection describes the index's contents.
type Collection struct {
	Crawl  int64 // its number in the store
	Source Source
	// Rendering identifies how texts are made from bodies: when it changes, all pages are
	// read anew. The program's version and the spec's content rules are part of it.
	Rendering string
	// Now is the store's clock or this machine's.
	Now func() time.Time
	// Selects chooses pages by their URL; nil takes all.
	Selects func(url string) bool
}

// CodeForeign stops the sink of an index that must not be written to: a person must look.
const CodeForeign = "search_foreign"

// Sender implements sink.Sender and sink.Filler. Between calls it holds only the opened
// index.
type Sender struct {
	index index.Index
	Collection
}

var (
	_ sink.Filler  = (*Sender)(nil)
	_ sink.Checker = (*Sender)(nil)
)

// New makes the sender of an index, whose Close closes the index.
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

// concernsAll: the event stands for changes of pages without events of their own.
func concernsAll(e feed.Event) bool { return e.Kind == feed.FeedGap || e.Kind == feed.CrawlSpec }

// Fill implements sink.Filler. Called without new events, it still looks at all pages once
// a day.
func (s *Sender) Fill(ctx context.Context) (more bool, err error) {
	more, err = s.fill(ctx)
	return more, Judge(err)
}

// Rebuild drops the crawl's part of the index and fills it anew. progress gets the number
// of pages that it has.
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

// Judge says what an error of an index means for its sink: another process that writes will
// end, and an index that is not ours stays as it is.
func Judge(err error) error {
	switch {
	case errors.Is(err, index.ErrBusy):
		return &sink.Later{Reason: err.Error()}
	case errors.Is(err, index.ErrForeign):
		return &sink.Stop{Code: CodeForeign, Reason: err.Error()}
	}
	return err
}
