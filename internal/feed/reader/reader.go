package reader

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// Store holds the data of events; every store.Store is one.
type Store interface {
	store.FeedReader
	FeedEnds(ctx context.Context) (store.FeedEnds, error)
	Changes(ctx context.Context, p store.ChangesParams) (store.ChangesPage, error)
	Crawl(ctx context.Context, name string) (store.CrawlRecord, error)
	ListPages(ctx context.Context, f store.PageFilter) ([]store.PageRecord, error)
}

// Contents reads an archive; every archive.Store is one.
type Contents interface {
	Open(ctx context.Context, digest string) (io.ReadCloser, error)
}

// Reader reads events. It may be used by many goroutines.
type Reader struct {
	store Store
	files Contents
}

// New returns a reader. Without files, which may be nil, no event has a diff.
func New(s Store, files Contents) *Reader { return &Reader{store: s, files: files} }

// Query asks for events. Zero fields select everything.
type Query struct {
	After   feed.Cursor
	CrawlID int64
	Kinds   []feed.Kind
	// Hosts are the hosts of pages. A change without a known host is selected if Hosts is
	// empty or its page was forgotten.
	Hosts []string
	// Diff asks for the differences of the texts, which reads two bodies for each event
	// that has them.
	Diff bool
	// Requisites also asks for changes of requisites, which are not pages of the
	// collection.
	Requisites bool
}

// Batch is a part of the selected events.
type Batch struct {
	Events []feed.Event
	// Through is how far was read: the After of the next query, even if there are no
	// events.
	Through feed.Cursor
	// More: Through is not the feed's end as it was when the batch was read.
	More bool
}

// The number of changes read at a time: a screenful, or fewer if each takes reading two
// bodies.
const (
	batch      = 500
	diffsBatch = 50
)

// Next reads the next events after q.After.
func (r *Reader) Next(ctx context.Context, q Query) (Batch, error) {
	p := store.ChangesParams{After: q.After, CrawlID: q.CrawlID, Kinds: q.Kinds, Limit: batch}
	if q.Diff {
		p.Limit = diffsBatch
	}
	page, err := r.store.Changes(ctx, p)
	if err != nil {
		return Batch{}, err
	}
	facts, err := r.store.ChangeFacts(ctx, page.Changes)
	if err != nil {
		return Batch{}, err
	}
	b := Batch{Through: page.Through, More: page.Through.ID < page.Newest.ID}
	changes := slices.Clone(page.Changes)[:0]
	kept := slices.Clone(facts)[:0]
	for i, c := range page.Changes {
		if q.selects(c, facts[i]) {
			changes, kept = append(changes, c), append(kept, facts[i])
		}
	}
	b.Events, err = r.events(ctx, page.Through.Epoch, changes, kept, q.Diff)
	return b, err
}

// selects reports whether a change is of one of the hosts, and of a page if only pages are
// asked for.
func (q Query) selects(c feed.Change, f store.ChangeFacts) bool {
	if f.Kind == crawl.KindRequisite && !q.Requisites {
		return false
	}
	return len(q.Hosts) == 0 || c.Kind == feed.PageForgotten || slices.Contains(q.Hosts, f.Host) || slices.Contains(q.Hosts, hostOf(f.URL))
}

// hostOf is the host that a URL names. In a store that groups hosts, that of its page is the name of
// the group.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// Events returns the events of changes, which must be of one epoch, in their order. For a
// difference over several changes of a page, give one whose Seq is the last version and
// whose Data.From is the first.
func (r *Reader) Events(ctx context.Context, epoch string, changes []feed.Change, diffs bool) ([]feed.Event, error) {
	facts, err := r.store.ChangeFacts(ctx, changes)
	if err != nil {
		return nil, err
	}
	return r.events(ctx, epoch, changes, facts, diffs)
}

func (r *Reader) events(ctx context.Context, epoch string, changes []feed.Change, facts []store.ChangeFacts, diffs bool) ([]feed.Event, error) {
	events := make([]feed.Event, len(changes))
	differ := differ{reader: r, rules: map[string]rules{}}
	for i, c := range changes {
		events[i] = eventOf(epoch, c, facts[i])
		if !diffs || r.files == nil {
			continue
		}
		diff, err := differ.of(ctx, facts[i], spare(events[i]))
		if err != nil {
			return nil, fmt.Errorf("change %d: %w", c.ID, err)
		}
		events[i].Diff = diff
	}
	return events, nil
}

// maxDetail bounds text from servers, in bytes: where they redirect to, and how they
// failed.
const maxDetail = 2 << 10

// eventOf makes the event of a change, without a diff.
func eventOf(epoch string, c feed.Change, f store.ChangeFacts) feed.Event {
	d := c.Data
	e := feed.Event{
		V: feed.EventVersion, ID: epoch + "." + strconv.FormatInt(c.ID, 10), Cursor: feed.Cursor{Epoch: epoch, ID: c.ID},
		Kind: c.Kind, At: c.At, Crawl: f.Crawl, URLHash: d.URLHash,
		State: d.Crawl, Generation: d.Generation, Blocked: d.Blocked, Trap: d.TrapID, Pattern: f.Trap,
		Sink: d.Sink, Code: d.Code, Missed: d.Missed,
	}
	if !c.Kind.OfPage() {
		e.Host = f.Host
		return e
	}
	e.Page = &feed.EventPage{ID: c.PageID, Was: d.Was, State: d.State}
	e.Visit, e.ReturnedTo = c.Visit, d.ReturnedTo
	e.Version, e.Before = versionOf(c.Seq, f.Version), versionOf(d.From, f.Before)
	if c.Kind == feed.PageForgotten {
		return e
	}
	e.Page.URL, e.Page.Host, e.Page.Title, e.Page.Source = f.URL, f.Host, f.Title, f.Kind
	e.Status = f.Status
	if len(f.Location) <= maxDetail {
		e.Location = f.Location // half of a URL leads nowhere
	}
	e.Problem = clean(f.Problem, maxDetail)
	return e
}

// versionOf makes a version of an event, nil if it has none.
func versionOf(seq int, v store.VersionRecord) *feed.EventVersionOf {
	if seq == 0 {
		return nil
	}
	return &feed.EventVersionOf{
		Seq: seq, At: v.At, Digest: v.Digest, TextDigest: v.TextDigest, Bytes: v.Bytes,
		ContentType: v.ContentType, Title: v.Title, Language: v.Language,
	}
}
