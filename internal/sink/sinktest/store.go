package sinktest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// Epoch is the epoch of the store's feed.
const Epoch = "5f2a9c01"

// Store is a store of one crawl, with its feed and its sinks in memory. It has no other
// methods of a store.
type Store struct {
	store.Store

	mu          sync.Mutex
	now         func() time.Time
	crawl       store.CrawlRecord
	changes     []feed.Change
	trimmed     int64 // the highest id that is not kept
	sinks       map[string]store.SinkRecord
	undelivered []store.UndeliveredRecord
	fail        func(method string) error
	moves       int
}

// NewStore returns the store of a crawl with these sinks.
func NewStore(now func() time.Time, sinks map[string]crawl.SinkSpec) *Store {
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds, spec.Sinks = "news", []string{"https://example.com/"}, sinks
	return &Store{
		now: now, sinks: map[string]store.SinkRecord{},
		crawl: store.CrawlRecord{ID: 1, Spec: spec, State: crawl.CrawlRunning, Generation: 1},
	}
}

func held[T any](s *Store, f func() T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f()
}

// SetClock makes now the store's clock.
func (s *Store) SetClock(now func() time.Time) { held(s, func() any { s.now = now; return nil }) }

// SetFail makes methods return the errors of fail, by their names.
func (s *Store) SetFail(fail func(method string) error) {
	held(s, func() any { s.fail = fail; return nil })
}

// SetCrawl changes the crawl.
func (s *Store) SetCrawl(change func(*store.CrawlRecord)) {
	held(s, func() any { change(&s.crawl); s.crawl.Generation++; return nil })
}

// Add adds a change of a page, now, and returns its id.
func (s *Store) Add(kind feed.Kind, page int64, data feed.Data, seq int) int64 {
	return held(s, func() int64 {
		c := feed.Change{ID: s.newest() + 1, CrawlID: 1, Kind: kind, At: s.now().UTC(), PageID: page, Seq: seq, Visit: seq, Data: data}
		s.changes = append(s.changes, c)
		return c.ID
	})
}

// AddOther adds changes of another crawl.
func (s *Store) AddOther(n int) {
	held(s, func() any {
		for range n {
			s.changes = append(s.changes, feed.Change{ID: s.newest() + 1, CrawlID: 2, Kind: feed.PageNew, At: s.now().UTC(), PageID: 7})
		}
		return nil
	})
}

// Trim removes the changes up to an id.
func (s *Store) Trim(id int64) {
	held(s, func() any {
		s.trimmed = id
		s.changes = slices.DeleteFunc(s.changes, func(c feed.Change) bool { return c.ID <= id })
		return nil
	})
}

// Record returns the record of a sink.
func (s *Store) Record(name string) store.SinkRecord {
	return held(s, func() store.SinkRecord { return s.sinks[name] })
}

// Moves returns how often a sink's record was written.
func (s *Store) Moves() int { return held(s, func() int { return s.moves }) }

func (s *Store) newest() int64 {
	if len(s.changes) == 0 {
		return s.trimmed
	}
	return s.changes[len(s.changes)-1].ID
}

func (s *Store) failing(method string) error {
	if s.fail == nil {
		return nil
	}
	return s.fail(method)
}

// ID implements store.Store.
func (*Store) ID() string { return "" }

// Now implements store.Store.
func (s *Store) Now(context.Context) (time.Time, error) {
	return held(s, func() time.Time { return s.now().UTC() }), nil
}

// Crawl implements store.Store.
func (s *Store) Crawl(_ context.Context, name string) (store.CrawlRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name != s.crawl.Spec.Name {
		return store.CrawlRecord{}, store.ErrNotFound
	}
	return s.crawl, s.failing("Crawl")
}

// FeedEnds implements store.Feed.
func (s *Store) FeedEnds(context.Context) (store.FeedEnds, error) {
	return held(s, s.ends), nil
}

func (s *Store) ends() store.FeedEnds {
	return store.FeedEnds{Oldest: feed.Cursor{Epoch: Epoch, ID: s.trimmed}, Newest: feed.Cursor{Epoch: Epoch, ID: s.newest()}}
}

// Changes implements store.Feed.
func (s *Store) Changes(_ context.Context, p store.ChangesParams) (store.ChangesPage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	page := store.ChangesPage{FeedEnds: s.ends(), Through: p.After}
	switch {
	case p.After.Epoch != Epoch:
		return page, feed.ErrEpoch
	case p.After.ID < s.trimmed:
		return page, feed.ErrTrimmed
	case p.After.ID > s.newest():
		return page, feed.ErrAhead
	}
	last := min(p.After.ID+store.FeedStep, s.newest())
	page.Through.ID = last
	for _, c := range s.changes {
		if c.ID <= p.After.ID || c.ID > last || c.CrawlID != p.CrawlID || len(p.Kinds) > 0 && !slices.Contains(p.Kinds, c.Kind) {
			continue
		}
		if page.Changes = append(page.Changes, c); len(page.Changes) == cmp.Or(p.Limit, store.FeedStep) {
			page.Through.ID = c.ID
			break
		}
	}
	return page, s.failing("Changes")
}

// OpenSink implements store.Sinks.
func (s *Store) OpenSink(_ context.Context, crawlID int64, name string, after feed.Cursor) (store.SinkRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.sinks[name]; !known {
		s.sinks[name] = store.SinkRecord{CrawlID: crawlID, Name: name, After: after}
	}
	return s.sinks[name], s.failing("OpenSink")
}

// CloseSink implements store.Sinks.
func (s *Store) CloseSink(_ context.Context, _ int64, name string) error {
	return held(s, func() error {
		delete(s.sinks, name)
		s.undelivered = slices.DeleteFunc(s.undelivered, func(u store.UndeliveredRecord) bool { return u.Sink == name })
		return nil
	})
}

// ListSinks implements store.Sinks.
func (s *Store) ListSinks(context.Context, int64) ([]store.SinkRecord, error) {
	return held(s, func() []store.SinkRecord {
		var all []store.SinkRecord
		for _, r := range s.sinks {
			all = append(all, r)
		}
		slices.SortFunc(all, func(a, b store.SinkRecord) int { return cmp.Compare(a.Name, b.Name) })
		return all
	}), nil
}

// MoveSink implements store.Sinks.
func (s *Store) MoveSink(_ context.Context, from, to store.SinkRecord) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.failing("MoveSink"); err != nil {
		return err
	}
	return s.move(from, to)
}

func (s *Store) move(from, to store.SinkRecord) error {
	was, known := s.sinks[to.Name]
	if !known {
		return store.ErrNotFound
	}
	if was.After != from.After || was.Paused != from.Paused {
		return store.ErrConflict
	}
	s.sinks[to.Name] = to
	s.moves++
	return nil
}

// SetUndelivered implements store.Sinks.
func (s *Store) SetUndelivered(_ context.Context, from, to store.SinkRecord, u store.UndeliveredRecord) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.failing("SetUndelivered"); err != nil {
		return err
	}
	if err := s.move(from, to); err != nil {
		return err
	}
	s.undelivered = append(s.undelivered, u)
	return nil
}

// Undelivered implements store.Sinks.
func (s *Store) Undelivered(_ context.Context, _ int64, name string, after int64, limit int) ([]store.UndeliveredRecord, error) {
	return held(s, func() []store.UndeliveredRecord {
		var found []store.UndeliveredRecord
		for _, u := range s.undelivered {
			if u.Sink == name && u.ChangeID > after {
				found = append(found, u)
			}
		}
		slices.SortFunc(found, func(a, b store.UndeliveredRecord) int { return cmp.Compare(a.ChangeID, b.ChangeID) })
		return found[:min(len(found), limit)]
	}), nil
}

// Delivered implements store.Sinks.
func (s *Store) Delivered(_ context.Context, _ int64, name string, changeID int64) error {
	return held(s, func() error {
		s.undelivered = slices.DeleteFunc(s.undelivered, func(u store.UndeliveredRecord) bool { return u.Sink == name && u.ChangeID == changeID })
		return nil
	})
}
