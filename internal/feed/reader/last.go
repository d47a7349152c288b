package reader

import (
	"context"
	"slices"

	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// lastLooks bounds the stretches of store.FeedStep ids that one call of Last looks at: a
// query that selects few events of many must not read the whole feed at once.
const lastLooks = 4

// lastFacts bounds the changes whose facts one call of Last reads, unless more are asked
// for: hosts are chosen by facts, and reading these takes longest.
const lastFacts = 1000

// Backwards is a part of the feed, read from its end.
type Backwards struct {
	// Events are the newest first.
	Events []feed.Event
	// Before is the place from which older events are read: the before of the next call.
	Before feed.Cursor
	// More: there are older changes, though perhaps none that are selected.
	More bool
}

// Last reads the newest events up to and including before, or of all if before is the zero
// cursor, at most n. q.After does not count. It may return fewer than n although there are
// more.
func (r *Reader) Last(ctx context.Context, q Query, before feed.Cursor, n int) (Backwards, error) {
	ends, err := r.store.FeedEnds(ctx)
	if err != nil {
		return Backwards{}, err
	}
	if before == (feed.Cursor{}) {
		before = ends.Newest
	}
	if before.Epoch != ends.Newest.Epoch {
		return Backwards{}, feed.ErrEpoch
	}
	b := Backwards{Before: before}
	// The first stretch is short: mostly it has enough.
	step, facts := int64(10*n), max(n, lastFacts)
	for look := 0; look < lastLooks && len(b.Events) < n && facts > 0 && b.Before.ID > ends.Oldest.ID; look++ {
		read, err := r.lastOf(ctx, q, max(ends.Oldest.ID, b.Before.ID-step), n, facts, &b)
		if err != nil {
			return Backwards{}, err
		}
		facts -= read
		step = store.FeedStep
	}
	b.More = b.Before.ID > ends.Oldest.ID
	return b, nil
}

// lastOf adds the events after a cursor and up to b.Before, the newest first, and moves
// b.Before. It reads the facts of a bounded number of changes, and returns that number.
func (r *Reader) lastOf(ctx context.Context, q Query, after int64, n, most int, b *Backwards) (read int, err error) {
	page, err := r.store.Changes(ctx, store.ChangesParams{After: feed.Cursor{Epoch: b.Before.Epoch, ID: after}, CrawlID: q.CrawlID, Kinds: q.Kinds})
	if err != nil {
		return 0, err
	}
	changes := slices.DeleteFunc(page.Changes, func(c feed.Change) bool { return c.ID > b.Before.ID })
	slices.Reverse(changes)
	// Facts are read only for events that are shown, unless the facts select them.
	for len(changes) > 0 {
		if len(b.Events) == n || read >= most {
			return read, nil
		}
		some := changes[:min(len(changes), n)]
		facts, err := r.store.ChangeFacts(ctx, some)
		if err != nil {
			return read, err
		}
		read += len(some)
		for i, c := range some {
			if len(b.Events) == n {
				return read, nil
			}
			if q.selects(c, facts[i]) {
				b.Events = append(b.Events, eventOf(b.Before.Epoch, c, facts[i]))
			}
			b.Before.ID = c.ID - 1
		}
		changes = changes[len(some):]
	}
	b.Before.ID = after
	return read, nil
}

// DiffOf returns the difference of the texts of an event's versions; nil if there is
// nothing to compare, or one of the bodies is not kept, or damaged. It reads two bodies.
func (r *Reader) DiffOf(ctx context.Context, e feed.Event) (*feed.EventDiff, error) {
	if r.files == nil || e.Page == nil || e.Version == nil || e.Before == nil {
		return nil, nil
	}
	f := store.ChangeFacts{Crawl: e.Crawl, URL: e.Page.URL, Version: recordOf(*e.Version), Before: recordOf(*e.Before)}
	return differ{reader: r, rules: map[string]rules{}}.of(ctx, f, spare(e))
}

func recordOf(v feed.EventVersionOf) store.VersionRecord {
	return store.VersionRecord{ID: int64(v.Seq), Seq: v.Seq, Digest: v.Digest, ContentType: v.ContentType, Title: v.Title, At: v.At}
}
