package maintain

import (
	"context"
	"time"

	"recrawl/internal/sink"
	"recrawl/internal/store"
)

// trimBatch is the most changes that one call of TrimFeed removes: more than a crawl
// writes in an hour, so that a feed that has grown long is short again after some
// passes.
const trimBatch = 50_000

// FeedStore is the part of a store that trimming the feed uses.
type FeedStore interface {
	ListCrawls(ctx context.Context) ([]store.CrawlRecord, error)
	Now(ctx context.Context) (time.Time, error)
	TrimChanges(ctx context.Context, before time.Time, limit int) (more bool, err error)
}

// TrimFeed removes changes that are older than any crawl of the store keeps them.
func TrimFeed(ctx context.Context, s FeedStore) error {
	crawls, err := s.ListCrawls(ctx)
	if err != nil {
		return err
	}
	kept, forEver := keptChanges(crawls)
	if forEver {
		return nil
	}
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	_, err = s.TrimChanges(ctx, now.Add(-kept), trimBatch)
	return err
}

// keptChanges is how long the feed, which all crawls share, keeps changes: as long as the
// crawl that wants it longest. So whether a cursor is still valid does not depend on its
// reader's crawl. A digest must find what it has collected, also if its receiver is down when it is
// due.
func keptChanges(crawls []store.CrawlRecord) (longest time.Duration, forEver bool) {
	for _, c := range crawls {
		if c.Deleting {
			continue
		}
		kept := c.Spec.Retention.Changes.Std()
		if kept == 0 {
			return 0, true
		}
		longest = max(longest, kept)
		for _, s := range c.Spec.Sinks {
			if s.Every > 0 {
				longest = max(longest, s.Every.Std()+sink.GiveUp)
			}
		}
	}
	return longest, longest == 0
}
