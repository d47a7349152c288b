package reader

import (
	"context"
	"slices"

	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// lastLooks is how many stretches of store.FeedStep ids one call of Last looks at, at most:
// what selects few events of many must not read the whole feed at once.
const lastLooks = 4

// Backwards is a part of the feed, read from its end.
type Backwards struct {
	// Events are the newest first.
	Events []feed.Event
	// Before is where older events are read on: the Before of the next call.
	Before feed.Cursor
	// More: there are older changes, though perhaps none that are selected.
	More bool
}

// Last reads the newest events up to and including before, or of all if before is the zero
// cursor, at most n. After of the query does not count. It may return fewer than n though
// there are more.
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
	step := int64(10 * n)
	for look := 0; look < lastLooks && len(b.Events) < n && b.Before.ID > ends.Oldest.ID; look++ {
		if err := r.lastOf(ctx, q, max(ends.Oldest.ID, b.Before.ID-step), n, &b); err != nil {
			return Backwards{}, err
		}
		step = store.FeedStep
	}
	b.More = b.Before.ID > ends.Oldest.ID
	return b, nil
}

// lastOf adds the events after a cursor and up to b.Before, the newest first, and moves
// b.Before.
func (r *Reader) lastOf(ctx context.Context, q Query, after int64, n int, b *Backwards) error {
	page, err := r.store.Changes(ctx, store.ChangesParams{After: feed.Cursor{Epoch: b.Before.Epoch, ID: after}, CrawlID: q.CrawlID, Kinds: q.Kinds})
	if err != nil {
		return err
	}
	changes := slices.DeleteFunc(page.Changes, func(c feed.Change) bool { return c.ID > b.Before.ID })
	slices.Reverse(changes)
	through := after
	var events []feed.Event
	// Facts are read of what is shown only, unless they choose it.
	for len(changes) > 0 && len(b.Events)+len(events) < n {
		some := changes[:min(len(changes), n)]
		facts, err := r.store.ChangeFacts(ctx, some)
		if err != nil {
			return err
		}
		for i, c := range some {
			if q.selects(c, facts[i]) && len(b.Events)+len(events) < n {
				events = append(events, eventOf(b.Before.Epoch, c, facts[i]))
				through = c.ID - 1
			}
		}
		if len(b.Events)+len(events) < n {
			through = after
		}
		changes = changes[len(some):]
	}
	b.Events = append(b.Events, events...)
	b.Before.ID = through
	return nil
}

// DiffOf is what changed in the texts between the versions of an event; nil where there is
// nothing to compare, or one of the bodies is not kept. It reads two bodies.
func (r *Reader) DiffOf(ctx context.Context, e feed.Event) (*feed.EventDiff, error) {
	if r.files == nil || e.Page == nil || e.Version == nil || e.Before == nil {
		return nil, nil
	}
	f := store.ChangeFacts{Crawl: e.Crawl, URL: e.Page.URL, Version: recordOf(*e.Version), Before: recordOf(*e.Before)}
	return differ{reader: r, rules: map[string]rules{}}.of(ctx, f, spare(e))
}

func recordOf(v feed.EventVersionOf) store.VersionRecord {
	return store.VersionRecord{ID: int64(v.Seq), Seq: v.Seq, Digest: v.Digest, ContentType: v.ContentType}
}
