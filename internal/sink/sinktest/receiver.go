package sinktest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

// Receiver is a receiver, its sender, and the maker of senders: all sinks send to it.
type Receiver struct {
	// Answer answers a try to send some events; nil takes them. It is set before the first.
	Answer func(events []feed.Event) error
	// Made returns the error of making a sender; nil means none.
	Made func() error
	// TimeLimit is the limit that its senders state; 0 means that they state none.
	TimeLimit time.Duration

	mu      sync.Mutex
	tries   int
	taken   []feed.Event
	digests []sink.Digest
	open    int
	granted time.Duration
}

// Sender makes a sender.
func (r *Receiver) Sender(context.Context, string, string, crawl.SinkSpec) (sink.Sender, error) {
	if r.Made != nil {
		if err := r.Made(); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open++
	if r.TimeLimit > 0 {
		return patient{&sending{r}}, nil
	}
	return &sending{r}, nil
}

// patient is a sender that says how long it needs.
type patient struct{ *sending }

// TimeLimit implements sink.Patient.
func (p patient) TimeLimit() time.Duration { return p.Receiver.TimeLimit }

type sending struct{ *Receiver }

// Send implements sink.Sender.
func (s *sending) Send(ctx context.Context, e feed.Event) error {
	return s.take(ctx, []feed.Event{e}, nil)
}

// SendDigest implements sink.Sender.
func (s *sending) SendDigest(ctx context.Context, d sink.Digest) error {
	return s.take(ctx, d.Events, &d)
}

// Check implements sink.Checker.
func (s *sending) Check(context.Context) error {
	if s.Answer == nil {
		return nil
	}
	return s.Answer(nil)
}

// Close implements sink.Sender.
func (s *sending) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	return nil
}

func (s *sending) take(ctx context.Context, events []feed.Event, d *sink.Digest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries++
	if end, ok := ctx.Deadline(); ok {
		s.granted = time.Until(end)
	}
	if s.Answer != nil {
		if err := s.Answer(events); err != nil {
			return err
		}
	}
	s.taken = append(s.taken, events...)
	if d != nil {
		s.digests = append(s.digests, *d)
	}
	return ctx.Err()
}

// Tries returns the number of tries.
func (r *Receiver) Tries() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tries
}

// Granted returns how long the last try could have taken.
func (r *Receiver) Granted() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.granted
}

// Open returns the number of senders that are not closed.
func (r *Receiver) Open() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open
}

// Taken returns the ids of the changes that it took, in order: "1 2 2 3".
func (r *Receiver) Taken() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	for _, e := range r.taken {
		ids = append(ids, fmt.Sprint(e.Cursor.ID))
	}
	return strings.Join(ids, " ")
}

// Digests returns the digests that it took.
func (r *Receiver) Digests() []sink.Digest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.digests
}

// Events makes events of changes: page 7 has the address https://example.com/7.
type Events struct {
	// Versions are texts of pages by version; nil has none.
	Versions map[int]string
	// Forgotten are the ids of changes whose pages are forgotten.
	Forgotten map[int64]bool
}

// Events reads changes as events.
func (s Events) Events(_ context.Context, epoch string, changes []feed.Change, diffs bool) ([]feed.Event, error) {
	var events []feed.Event
	for _, c := range changes {
		if s.Forgotten[c.ID] {
			continue
		}
		e := feed.Event{V: feed.EventVersion, ID: fmt.Sprintf("%s.%d", epoch, c.ID), Cursor: feed.Cursor{Epoch: epoch, ID: c.ID}, Kind: c.Kind, At: c.At, Crawl: "news", Sink: c.Data.Sink}
		if c.Kind.OfPage() {
			e.Page = &feed.EventPage{ID: c.PageID, URL: fmt.Sprintf("https://example.com/%d", c.PageID), Host: "example.com"}
		}
		if diffs && c.Kind == feed.PageChanged {
			e.Diff = &feed.EventDiff{Added: make([]string, 15), Removed: make([]string, 15)}
		}
		events = append(events, e)
	}
	return events, nil
}

// Texts reads the texts of a change.
func (s Events) Texts(_ context.Context, c feed.Change) (sink.Texts, error) {
	before, kept := s.Versions[c.Data.From]
	after, has := s.Versions[c.Seq]
	return sink.Texts{Before: before, After: after, Known: has && (kept || c.Data.From == 0)}, nil
}
