// Package sink holds what all sinks share: what a sender of events promises, what its errors
// mean, and the decisions about retries, pauses, filters and digests. Its folders hold the
// senders.
package sink

import (
	"context"
	"fmt"
	"time"

	"recrawl/internal/feed"
)

// Sender delivers to one receiver. It keeps nothing between calls that it could not lose.
type Sender interface {
	// Send delivers one event, which may have been delivered before: at least once, never
	// out of order. It returns nil when the receiver has acknowledged it, *Refused, *Later
	// or *Stop, or another error, which counts as a receiver that does not answer.
	Send(ctx context.Context, e feed.Event) error
	// SendDigest delivers many events as one message.
	SendDigest(ctx context.Context, d Digest) error
	// Close ends connections.
	Close() error
}

// Filler is a Sender whose receiver holds the whole collection, and not only what changes. It
// is filled from the list of pages, whatever the feed still has: once its cursor is that of
// the newest change, and before its first event.
type Filler interface {
	Sender
	// Fill does a part of what is left to be filled, and reports whether there is more. It
	// goes on where a call before has ended, and does nothing once all is there.
	Fill(ctx context.Context) (more bool, err error)
}

// Checker is a Sender that can tell whether its receiver could be written to, without sending
// it anything.
type Checker interface {
	Check(ctx context.Context) error
}

// Refused: the receiver takes this event by no means; the next may be taken.
type Refused struct {
	Status int
	Reason string
	// Final: no further try may be made, since some of the receivers have the event already.
	Final bool
}

func (e *Refused) Error() string { return e.Reason }

// Later: the receiver wants to be asked again, not before After (0: it did not say).
type Later struct {
	After  time.Duration
	Reason string
}

func (e *Later) Error() string { return e.Reason }

// Stop: nothing may be sent before a person resumes the sink. Code is stored.
type Stop struct {
	Code   string
	Reason string
}

func (e *Stop) Error() string { return fmt.Sprintf("%s (%s)", e.Reason, e.Code) }

// Digest is what changed in a span of time, each page once: its event tells the difference
// from the page's first to its last version in the span.
type Digest struct {
	// ID names the digest for ever: the same for each try.
	ID       string
	Crawl    string
	Sink     string
	From, To time.Time
	Events   []feed.Event
	// Left is how many pages more there were than the digest has room for.
	Left int
}
