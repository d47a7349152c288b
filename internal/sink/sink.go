// Package sink holds the common parts of all sinks: the promises of a sender of events, the
// meaning of its errors, and the decisions about retries, pauses, filters and digests. The
// senders are in its folders.
package sink

import (
	"context"
	"fmt"
	"time"

	"recrawl/internal/feed"
)

// Sender delivers to one receiver. Whatever it keeps between calls may be lost.
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

// Patient is a Sender that may need longer than others for one try: its receiver has the
// message before it says so, and would get it again if it were not heard out.
type Patient interface {
	TimeLimit() time.Duration
}

// Filler is a Sender whose receiver holds the whole collection, and not only changes. It is
// filled from the list of pages, whatever the feed still has: after its cursor is set to
// the newest change, and before its first event.
type Filler interface {
	Sender
	// Fill does a part of the filling that is left, and reports whether there is more. It
	// goes on where the last call ended, and does nothing once all pages are there.
	Fill(ctx context.Context) (more bool, err error)
}

// Checker is a Sender that can check whether its receiver can be written to, without
// sending it anything.
type Checker interface {
	Check(ctx context.Context) error
}

// Refused: the receiver will never take this event, but may take the next.
type Refused struct {
	Status int
	Reason string
	// Final: no further try may be made, since some of the receivers have the event already.
	Final bool
}

func (e *Refused) Error() string { return e.Reason }

// Later: the receiver wants to be asked again, after at least After (0 if it did not say).
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

// Digest holds the changes in a span of time, each page once: its event has the difference
// from the page's first to its last version in the span.
type Digest struct {
	// ID names the digest for ever: the same for each try.
	ID       string
	Crawl    string
	Sink     string
	From, To time.Time
	Events   []feed.Event
	// Left is the number of pages for which the digest has no room.
	Left int
}
