package reader

import (
	"context"
	"errors"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// PollEvery is the time between two looks of a follower for new changes.
const PollEvery = time.Second

// Following holds the callbacks of a follower.
type Following struct {
	// Take gets each batch, even an empty one, so that it knows how far was read. Its error
	// ends the following.
	Take func(Batch) error
	// Ticks says when to look again at the feed's end. If it is nil, following ends there.
	Ticks <-chan time.Time
	// Trouble, unless nil, is called once each time the store stops answering. A follower
	// whose first look fails has nothing to follow, and ends.
	Trouble func(error)
}

// Follow reads events from q.After on. The end of ctx is no error.
func (r *Reader) Follow(ctx context.Context, q Query, f Following) error {
	begun, troubled := false, false
	for {
		b, err := r.Next(ctx, q)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && begun && f.Ticks != nil && errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrDenied):
			if !troubled && f.Trouble != nil {
				f.Trouble(err)
			}
			troubled = true
		case err != nil:
			return err
		default:
			begun, troubled = true, false
			if err := f.Take(b); err != nil {
				return err
			}
			q.After = b.Through
		}
		if b.More {
			continue
		}
		if f.Ticks == nil {
			return nil
		}
		select {
		case <-f.Ticks:
		case <-ctx.Done():
			return nil
		}
	}
}

// Snapshot lists the pages that have been visited by id, and returns the cursor from which
// to follow: it is taken before the first page is read. A change that comes meanwhile may
// be in both. Of the query it uses only the crawl and the hosts, which select pages.
func (r *Reader) Snapshot(ctx context.Context, q Query, take func([]feed.SnapshotPage) error) (feed.Cursor, error) {
	ends, err := r.store.FeedEnds(ctx)
	if err != nil {
		return feed.Cursor{}, err
	}
	hosts := q.Hosts
	if len(hosts) == 0 {
		hosts = []string{""}
	}
	for _, host := range hosts {
		filter := store.PageFilter{CrawlID: q.CrawlID, Host: host, Limit: batch}
		for {
			pages, err := r.store.ListPages(ctx, filter)
			if err != nil {
				return feed.Cursor{}, err
			}
			if len(pages) == 0 {
				break
			}
			if err := take(snapshotOf(pages)); err != nil {
				return feed.Cursor{}, err
			}
			filter.After = pages[len(pages)-1].PageID
		}
	}
	return ends.Newest, nil
}

func snapshotOf(pages []store.PageRecord) []feed.SnapshotPage {
	listed := make([]feed.SnapshotPage, 0, len(pages))
	for _, p := range pages {
		if p.Visits == 0 || p.Kind == crawl.KindRequisite {
			continue // nothing has happened to it that an event would report
		}
		listed = append(listed, feed.SnapshotPage{
			V: feed.EventVersion, Kind: feed.KindSnapshot, Crawl: p.Crawl,
			Page:    feed.EventPage{ID: p.PageID, URL: p.URL, Host: p.Host, Title: p.Last.Title, State: p.State, Source: p.Kind},
			Version: versionOf(p.Last.Seq, p.Last),
		})
	}
	return listed
}
