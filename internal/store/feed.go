package store

import (
	"context"
	"time"

	"recrawl/internal/feed"
)

// Feed keeps the changes of all crawls in the order of their commits. Each change is
// written to it in the transaction that finds it.
type Feed interface {
	// FeedEnds returns the feed's ends: the range of valid cursors. Like ChangeBefore it returns
	// ErrUnavailable as long as this process cannot know where the feed ends now.
	FeedEnds(ctx context.Context) (FeedEnds, error)
	// Changes reads changes after a cursor, in order. One call reads at most FeedStep ids,
	// so it may return few changes, or none, though there are more: go on from Through
	// until that is the newest. For an invalid cursor it returns feed.ErrTrimmed,
	// feed.ErrAhead or feed.ErrEpoch.
	Changes(ctx context.Context, p ChangesParams) (ChangesPage, error)
	// ChangeBefore returns the cursor of the last change before a time: those after it are
	// the changes since then. It returns feed.ErrTrimmed if some of these are no longer kept.
	ChangeBefore(ctx context.Context, at time.Time) (feed.Cursor, error)
	// TrimChanges removes changes that are older than their time, at most limit of them. It
	// leaves a feed.FeedGap to each sink that had not read all of them, and moves the sink
	// on. It reports whether more are left.
	TrimChanges(ctx context.Context, before time.Time, limit int) (more bool, err error)
	// NewEpoch gives the feed another epoch, which makes old cursors invalid. Restoring a
	// back-up calls it.
	NewEpoch(ctx context.Context) error
}

// FeedStep is the number of ids that one call of Changes reads.
const FeedStep = 5000

// FeedEnds are the ends of the feed.
type FeedEnds struct {
	// Oldest is the oldest cursor after which all changes are kept. Newest is that of the
	// newest change that is settled: none with a lower id can still be committed.
	Oldest, Newest feed.Cursor
}

// ChangesParams are the inputs of Changes. Zero fields select everything.
type ChangesParams struct {
	After feed.Cursor
	// CrawlID selects a crawl, with the changes of hosts that it has pages of.
	CrawlID int64
	Kinds   []feed.Kind // none are feed.Kinds, without feed.VersionOnly
	Limit   int         // of the result, at most FeedStep; 0 is FeedStep
}

// ChangesPage is the result of Changes.
type ChangesPage struct {
	Changes []feed.Change
	// Through is how far the call read: the After of the next call, even if nothing was
	// found.
	Through feed.Cursor
	FeedEnds
}

// SinkRecord is the progress of a crawl's sink.
type SinkRecord struct {
	CrawlID int64
	Name    string
	// After: all changes up to here are delivered, or are in Undelivered.
	After feed.Cursor
	// Paused: nothing is delivered until a person resumes it. Code says why.
	Paused bool
	Code   string
	// Problem is why the last try failed, in words, "" if it succeeded. Since is when
	// the first of the current row of failed tries was made, Tries is their number, and
	// NextAt is the time of the next one.
	Problem string
	Since   time.Time
	Tries   int
	NextAt  time.Time
	// Sent counts delivered changes; LastSent is the time of the last.
	Sent     int64
	LastSent time.Time
	// Digest is where the current digest began; see the sink's `every`. Zero if there is
	// none.
	DigestSince time.Time
}

// SinkPausedByPerson is the Code of a sink that a person has paused.
const SinkPausedByPerson = "person"

// UndeliveredRecord is a change that a sink's receiver refused for good.
type UndeliveredRecord struct {
	CrawlID  int64
	Sink     string
	ChangeID int64
	At       time.Time // of the last try
	Tries    int
	Problem  string
}

// Sinks keeps the progress of crawls' sinks. A sink exists here from the first
// OpenSink until CloseSink, whatever the spec says.
type Sinks interface {
	// OpenSink returns a sink's record. If there is none, it creates one with the cursor
	// after.
	OpenSink(ctx context.Context, crawlID int64, name string, after feed.Cursor) (SinkRecord, error)
	// CloseSink removes a sink and its undelivered changes.
	CloseSink(ctx context.Context, crawlID int64, name string) error
	// ListSinks returns a crawl's sinks by name.
	ListSinks(ctx context.Context, crawlID int64) ([]SinkRecord, error)
	// MoveSink writes a sink's record if its cursor is still that of from, and it is paused
	// only if from is; otherwise it returns ErrConflict: another worker has delivered, or a
	// person has paused or resumed it. If a sink is paused other than by a person, a
	// feed.SinkPaused is recorded.
	MoveSink(ctx context.Context, from, to SinkRecord) error
	// SetUndelivered keeps a change that the receiver refused, and moves the sink past it
	// like MoveSink, in one transaction.
	SetUndelivered(ctx context.Context, from, to SinkRecord, u UndeliveredRecord) error
	// Undelivered lists a sink's undelivered changes by id, after an id, exclusive.
	Undelivered(ctx context.Context, crawlID int64, sink string, after int64, limit int) ([]UndeliveredRecord, error)
	// Delivered removes such a record once the change was delivered after all.
	Delivered(ctx context.Context, crawlID int64, sink string, changeID int64) error
}
