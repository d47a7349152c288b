package app

import (
	"context"
	"errors"
	"fmt"
	"io"

	"recrawl/internal/archive"
	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// sinkEvents reads changes for sinks.
type sinkEvents struct {
	store sinkEventStore
	files archive.Store
}

type sinkEventStore interface {
	ListCrawls(ctx context.Context) ([]store.CrawlRecord, error)
	Crawl(ctx context.Context, name string) (store.CrawlRecord, error)
	Page(ctx context.Context, pageID int64) (store.PageRecord, error)
	Version(ctx context.Context, pageID int64, seq int) (store.VersionRecord, error)
}

// Events implements activities.EventSource.
func (s sinkEvents) Events(ctx context.Context, epoch string, changes []feed.Change, _ bool) ([]feed.Event, error) {
	crawls, err := s.store.ListCrawls(ctx)
	if err != nil {
		return nil, err
	}
	names := map[int64]string{}
	for _, c := range crawls {
		names[c.ID] = c.Spec.Name
	}
	var events []feed.Event
	for _, c := range changes {
		e := feed.Event{
			V: feed.EventVersion, ID: fmt.Sprintf("%s.%d", epoch, c.ID), Cursor: feed.Cursor{Epoch: epoch, ID: c.ID}, Kind: c.Kind, At: c.At,
			Crawl: names[c.CrawlID], Visit: c.Visit, ReturnedTo: c.Data.ReturnedTo, URLHash: c.Data.URLHash, State: c.Data.Crawl,
			Generation: c.Data.Generation, Blocked: c.Data.Blocked, Trap: c.Data.TrapID, Sink: c.Data.Sink, Code: c.Data.Code, Missed: c.Data.Missed,
		}
		if c.Kind.OfPage() {
			if err := s.page(ctx, c, &e); err != nil {
				return nil, err
			}
		}
		events = append(events, e)
	}
	return events, nil
}

func (s sinkEvents) page(ctx context.Context, c feed.Change, e *feed.Event) error {
	e.Page = &feed.EventPage{ID: c.PageID, Was: c.Data.Was, State: c.Data.State}
	page, err := s.store.Page(ctx, c.PageID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	e.Page.URL, e.Page.Host = page.URL, page.Host
	if c.Seq > 0 {
		e.Version = &feed.EventVersionOf{Seq: c.Seq}
	}
	if c.Data.From > 0 {
		e.Before = &feed.EventVersionOf{Seq: c.Data.From}
	}
	return nil
}

// Texts implements activities.EventSource. They are those that are compared, by the rules
// that the crawl has now.
func (s sinkEvents) Texts(ctx context.Context, c feed.Change) (sink.Texts, error) {
	page, err := s.store.Page(ctx, c.PageID)
	if errors.Is(err, store.ErrNotFound) {
		return sink.Texts{}, nil
	}
	if err != nil {
		return sink.Texts{}, err
	}
	record, err := s.store.Crawl(ctx, page.Crawl)
	if err != nil {
		return sink.Texts{}, err
	}
	before, known := "", true
	if c.Data.From > 0 {
		if before, known, err = s.text(ctx, page, c.Data.From, record.Spec.Content); err != nil || !known {
			return sink.Texts{}, err
		}
	}
	after, known, err := s.text(ctx, page, c.Seq, record.Spec.Content)
	return sink.Texts{Before: before, After: after, Known: known}, err
}

// text is the text of a version of a page, false if it is not kept or none.
func (s sinkEvents) text(ctx context.Context, page store.PageRecord, seq int, content crawl.ContentSpec) (string, bool, error) {
	v, err := s.store.Version(ctx, page.PageID, seq)
	if errors.Is(err, store.ErrNotFound) || err == nil && v.Digest == "" {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	file, err := s.files.Open(ctx, v.Digest)
	if errors.Is(err, archive.ErrNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	body, err := io.ReadAll(file)
	if err != nil {
		return "", false, fmt.Errorf("content %s: %w", v.Digest, err)
	}
	rules, err := extract.NewRules(content)
	if err != nil {
		return "", false, fmt.Errorf("crawl %s: %w", page.Crawl, err)
	}
	url, err := urlkey.Canonical(page.URL)
	if err != nil {
		return "", false, fmt.Errorf("page %s: %w", page.URL, err)
	}
	text, err := extract.Compared(extract.Source{Body: body, ContentType: v.ContentType, URL: url}, rules)
	return text, err == nil, nil
}
