package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recrawl/internal/feed"
	"recrawl/internal/feed/reader"
	"recrawl/internal/store"
)

type changesAsked struct {
	Crawl  string   `json:"crawl" jsonschema:"The crawl."`
	Kinds  []string `json:"kinds,omitempty" jsonschema:"Only these kinds, such as page.new, page.changed or page.gone; by default page.*, all changes of pages."`
	Host   string   `json:"host,omitempty" jsonschema:"Only pages of this host."`
	Since  string   `json:"since,omitempty" jsonschema:"Only changes since the begin of a date (2026-03-01, in UTC) or since a time (2026-03-01T12:00:00Z)."`
	Limit  int      `json:"limit,omitempty" jsonschema:"How many changes at most: up to 200, 50 by default."`
	Offset string   `json:"offset,omitempty" jsonschema:"Only older changes: next_offset of the answer before."`
}

// changesQuery is a request as a query of the feed.
type changesQuery struct {
	reader.Query
	before feed.Cursor
	since  time.Time
	limit  int
}

func (s *Server) changesQuery(ctx context.Context, in changesAsked) (q changesQuery, err error) {
	if q.limit, err = rows(in.Limit, 50, 200); err != nil {
		return q, err
	}
	if len(in.Kinds) == 0 {
		in.Kinds = []string{"page.*"}
	}
	if q.Kinds, err = feed.SelectKinds(in.Kinds); err != nil {
		return q, mistakef("kinds: %w", err)
	}
	if in.Offset != "" && in.Offset != "none" {
		if q.before, err = feed.ParseCursor(in.Offset); err != nil {
			return q, mistakef("offset: give next_offset of the answer before")
		}
	}
	if in.Since != "" {
		if q.since, err = sinceAsked(in.Since); err != nil {
			return q, err
		}
	}
	if in.Host != "" {
		host, err := hostAsked(in.Host)
		if err != nil {
			return q, err
		}
		q.Hosts = []string{host}
	}
	if err := crawlAsked(in.Crawl); err != nil {
		return q, err
	}
	record, err := s.Crawl(ctx, in.Crawl)
	if errors.Is(err, store.ErrNotFound) {
		return q, noCrawl(in.Crawl)
	}
	if err != nil {
		return q, err
	}
	q.CrawlID = record.ID
	return q, nil
}

// sinceAsked reads a time from which on changes count; a date counts from its beginning.
func sinceAsked(text string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, nil
	}
	return timeAsked("since", text)
}

func (s *Server) listChanges(ctx context.Context, in changesAsked) (*answer, error) {
	q, err := s.changesQuery(ctx, in)
	if err != nil {
		return nil, err
	}
	last, err := s.Changes.Last(ctx, q.Query, q.before, q.limit)
	for _, leads := range []error{feed.ErrTrimmed, feed.ErrAhead, feed.ErrEpoch} {
		if errors.Is(err, leads) {
			return nil, mistakef("offset leads nowhere any more, since the store was restored or has forgotten what is that old: ask without it")
		}
	}
	if err != nil {
		return nil, err
	}
	now, err := s.Reports.Now(ctx)
	if err != nil {
		return nil, err
	}
	whole, err := s.Reports.CollectionOf(ctx, in.Crawl)
	if err != nil {
		return nil, err
	}
	a := newAnswer()
	a.fact("crawl", "%s", in.Crawl)
	if fresh := whole.Words(); fresh != "" { // a change that no visit has found yet is not in the list
		a.fact("freshness", "%s", fresh)
	}
	shown, before := a.events(last, q.since, now)
	a.room += kept
	a.fact("changes", "%d in this answer, the newest first", shown)
	a.next(before)
	return a, nil
}

// events adds the changes that are not older than since and have room. It returns their
// number, and the cursor before which there may be more, "" if there is none.
func (a *answer) events(last reader.Backwards, since, now time.Time) (shown int, before string) {
	for _, e := range last.Events {
		if e.At.Before(since) {
			return shown, ""
		}
		if !a.item(shown+1, eventFacts(e, now), eventWords(e)) {
			return shown, feed.Cursor{Epoch: e.Cursor.Epoch, ID: e.Cursor.ID}.String()
		}
		shown++
	}
	if !last.More {
		return shown, ""
	}
	return shown, last.Before.String()
}

// eventFacts returns our facts about a change.
func eventFacts(e feed.Event, now time.Time) string {
	text := fmt.Sprintf("%s, %s", e.What(), isoTime(e.At, now))
	if e.Page != nil {
		text = fmt.Sprintf("page %d, %s", e.Page.ID, text)
	}
	switch {
	case e.Version != nil && e.Before != nil:
		text += fmt.Sprintf(", version %d after %d", e.Version.Seq, e.Before.Seq)
	case e.Version != nil:
		text += fmt.Sprintf(", version %d", e.Version.Seq)
	}
	return text
}

// eventWords returns the site's words: its URL, its title, where it leads.
func eventWords(e feed.Event) string {
	text := oneLine(e.Where(), urlMost)
	for _, more := range []string{oneLine(e.Title(), titleMost), oneLine(e.Detail(), titleMost)} {
		if more != "" {
			text += " | " + more
		}
	}
	return text
}
